// SPDX-License-Identifier: BSD-3-Clause
// device.cpu: the processor as a device. Memory is host memory, work is done when a call returns, there are no streams.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "describe.hpp"
#include "sextant/plugin/kinds/device.h"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/kernel.hpp"

using namespace sextant::plugin;
namespace cpu = sextant::device_cpu;

namespace {

// Analytic defaults, on the low side of current servers; README says where each comes from.
constexpr double stream_rate_unit = 10e9, cache_rate_unit = 30e9, gather_rate_unit = 60e6,
                 cached_gather_rate_unit = 250e6;
constexpr double clock = 2.5e9, launch_s = 1e-7, barrier_s = 2e-6, barrier_s_unit = 0.2e-6;
constexpr int units_that_fill_memory = 8, units_that_fill_gathers = 32;

sxt_status count(std::int32_t *count, sxt_message *) { return *count = 1, SXT_OK; }

sxt_machine machine_of(int threads) {
  static const std::string name = cpu::processor_name();  // lives as long as the process, as the struct asks
  static const cpu::Caches cache = cpu::caches(cpu::online_processors());
  sxt_machine m{};
  m.device = "cpu";
  m.name = name.c_str();
  m.level = hardware_level();
  m.units = cpu::usable_threads(threads);
  m.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  m.cache_bytes = cache.last;
  m.unit_cache_bytes = cache.unit;
  m.stream_rate_unit = stream_rate_unit;
  m.stream_rate = stream_rate_unit * std::min(m.units, units_that_fill_memory);
  m.cache_rate_unit = cache_rate_unit;
  m.cache_rate = cache_rate_unit * m.units;
  m.gather_rate_unit = gather_rate_unit;
  m.gather_rate = gather_rate_unit * std::min(m.units, units_that_fill_gathers);
  m.cached_gather_rate = cached_gather_rate_unit * m.units;
  const double flops_a_cycle = m.level >= 3 ? 32 : m.level == 2 ? 16 : 4;
  m.flop_rate_f64 = clock * flops_a_cycle * m.units;
  m.flop_rate_f32 = 2 * m.flop_rate_f64;
  m.launch_s = launch_s;
  m.barrier_s = m.units > 1 ? barrier_s + barrier_s_unit * m.units : 0;
  m.copy_rate = stream_rate_unit;
  return m;
}

sxt_status describe_machine(std::int32_t ordinal, std::int32_t threads, sxt_machine *out) {
  if (ordinal != 0) return SXT_E_DEVICE;
  return guard(nullptr, [&] {
    sxt_machine machine = machine_of(threads);
    machine.struct_size = out->struct_size;
    std::memcpy(out, &machine, std::min<std::uint64_t>(out->struct_size, sizeof machine));
    return SXT_OK;
  });
}

char the_device;  // the only one, without state: its address is the handle

sxt_status open(const sxt_host *, std::int32_t ordinal, void **device) {
  if (ordinal != 0) return SXT_E_DEVICE;
  return *device = &the_device, SXT_OK;
}

void close(void *) {}

sxt_status alloc(void *, void *, sxt_space, std::uint64_t bytes, std::uint64_t alignment, void **memory) {
  *memory = nullptr;
  if (alignment && !std::has_single_bit(alignment)) return SXT_E_ARGUMENT;
  alignment = std::max<std::uint64_t>(alignment, 64);
  return posix_memalign(memory, alignment, std::max<std::uint64_t>(bytes, 1)) == 0 ? SXT_OK : SXT_E_MEMORY;
}

void free(void *, void *, sxt_space, void *memory) { std::free(memory); }

sxt_status copy(void *, void *, void *to, const void *from, std::uint64_t bytes) {
  if (bytes) std::memmove(to, from, bytes);
  return SXT_OK;
}

sxt_status run(const void *, void *, const sxt_head *, const sxt_exec *) { return SXT_E_NOT_SUPPORTED; }

const sxt_device_ops ops = [] {
  sxt_device_ops o{};
  o.struct_size = sizeof o;
  o.count = count;
  o.describe = describe_machine;
  o.open = open;
  o.close = close;
  o.alloc = alloc;
  o.free = free;
  o.copy = copy;
  return o;
}();

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_DEVICE, "device.cpu", "cpu", "the processor, its memory and its threads", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.ops = &ops;
  return k;
}();

const sxt_kind kind = new_kind(SXT_KIND_DEVICE, "devices: memory, streams, events and capture");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel, &kind>("device-cpu", out);
}
