// SPDX-License-Identifier: BSD-3-Clause
// Numbers come from the device's attributes: clocks, bus width, multiprocessors. No table of products; README has the
// rules for the rates. Nothing is measured and no context is made.
#include "machine.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <string>

#include "driver.hpp"
#include "sextant/sdk/kernel.hpp"

namespace sextant::device_cuda {
namespace {

using namespace sextant::plugin;

constexpr double stream_share = 0.88;       // of the bus's peak that a stream reaches
constexpr double cache_bytes_a_clock = 24;  // from the last cache to one multiprocessor, sustained
constexpr double unit_bytes_a_clock = 32;   // the most that one multiprocessor draws from memory
constexpr double gather_bytes = 64;         // memory moves two sectors for an isolated access
constexpr double sector_bytes = 32;
constexpr double launch_s = 2.5e-6, barrier_s = 1.5e-6, copy_rate = 2e10;
constexpr double default_clock = 1.5e9, default_memory_rate = 5e11;  // where the driver does not report a clock
constexpr int max_devices = 64;

// "13.0" of 13000.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string why_no_device(cudaError_t problem) {
  int has = 0;
  if (cudaDriverGetVersion(&has) != cudaSuccess) has = 0;
  cudaGetLastError();
  if (has == 0) return "no NVIDIA driver is installed (libcuda.so.1 was not found)";
  if (problem == cudaErrorInsufficientDriver)
    return "the NVIDIA driver supports CUDA " + version_text(has) + ", this plugin needs " +
           version_text(CUDART_VERSION);
  if (problem == cudaSuccess || problem == cudaErrorNoDevice)
    return "the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES set?)";
  return std::string("the NVIDIA driver failed: ") + cudaGetErrorString(problem);
}

int attribute(std::int32_t ordinal, cudaDeviceAttr which) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
  cudaGetLastError();
  return 0;  // a driver that does not report a number: the rules below have defaults
}

// Names live as long as the process, as sxt_machine asks.
const char *name_of(std::int32_t ordinal, const Driver &calls, int device) {
  static std::mutex lock;
  static std::array<char[128], max_devices> names{};
  const std::lock_guard one(lock);
  char *name = names[static_cast<std::size_t>(ordinal)];
  if (!name[0] && calls.device_name(name, sizeof names[0], device) != 0) std::strcpy(name, "CUDA device");
  return name;
}

void set_limits(std::int32_t ordinal, sxt_machine &m) {
  m.threads_per_unit = attribute(ordinal, cudaDevAttrMaxThreadsPerMultiProcessor);
  m.blocks_per_unit = attribute(ordinal, cudaDevAttrMaxBlocksPerMultiprocessor);
  m.registers_per_unit = attribute(ordinal, cudaDevAttrMaxRegistersPerMultiprocessor);
  m.shared_per_unit = attribute(ordinal, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  m.threads_per_block = attribute(ordinal, cudaDevAttrMaxThreadsPerBlock);
  m.shared_per_block = attribute(ordinal, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  m.warp = std::max(1, attribute(ordinal, cudaDevAttrWarpSize));
  // Every device with clusters guarantees eight; a kernel has to ask for larger ones.
  m.blocks_per_cluster = attribute(ordinal, cudaDevAttrClusterLaunch) ? 8 : 1;
}

void set_rates(std::int32_t ordinal, sxt_machine &m) {
  const double units = std::max(1, m.units);
  const double khz = attribute(ordinal, cudaDevAttrClockRate),
               memory_khz = attribute(ordinal, cudaDevAttrMemoryClockRate);
  const double bits = attribute(ordinal, cudaDevAttrGlobalMemoryBusWidth);
  const double clock = khz > 0 ? khz * 1e3 : default_clock;
  // Double data rate: two transfers a clock.
  const double peak = memory_khz > 0 && bits > 0 ? 2 * memory_khz * 1e3 * bits / 8 : default_memory_rate;
  m.stream_rate = stream_share * peak;
  m.stream_rate_unit = std::min(m.stream_rate, clock * unit_bytes_a_clock);
  m.cache_rate_unit = clock * cache_bytes_a_clock;
  m.cache_rate = std::max(m.stream_rate, m.cache_rate_unit * units);
  m.gather_rate = m.stream_rate / gather_bytes;
  m.gather_rate_unit = m.stream_rate_unit / gather_bytes;
  m.cached_gather_rate = m.sector_rate = m.cache_rate / sector_bytes;
  // 64 single-precision lanes in 7.x and 8.0, 128 in all others.
  const double lanes = m.level >= 70 && m.level <= 80 ? 64 : 128;
  const int ratio = attribute(ordinal, cudaDevAttrSingleToDoublePrecisionPerfRatio);
  m.flop_rate_f32 = 2 * lanes * clock * units;
  m.flop_rate_f64 = m.flop_rate_f32 / (ratio > 0 ? ratio : 32);
  m.launch_s = launch_s;
  m.barrier_s = barrier_s;
  m.copy_rate = copy_rate;
}

}  // namespace

std::int32_t count_devices(sxt_message *why_none, bool *failed) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  std::string problem;
  if (status != cudaSuccess || devices == 0) {
    cudaGetLastError();
    problem = why_no_device(status);
    const bool none = status == cudaSuccess || status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
                      status == cudaErrorStubLibrary;
    if (failed) *failed = !none;  // it may be there the next time
  } else if (driver(problem)) {
    return std::min(devices, max_devices);
  }
  refuse(why_none, "%s", problem.c_str());
  return 0;
}

sxt_status describe_device(const sxt_host *host, std::int32_t ordinal, sxt_machine *out) {
  sxt_exec teller{};
  teller.host = host;
  std::string problem;
  const Driver *calls = driver(problem);
  int device = 0;
  std::size_t bytes = 0;
  if (!calls) return error(&teller, SXT_E_DEVICE, "%s", problem.c_str());
  if (ordinal < 0 || ordinal >= max_devices || calls->device_get(&device, ordinal) != 0 ||
      calls->device_memory(&bytes, device) != 0)
    return error(&teller, SXT_E_DEVICE, "the driver knows no device %d", ordinal);
  sxt_machine m{};
  m.struct_size = out->struct_size;
  m.device = "cuda";
  m.name = name_of(ordinal, *calls, device);
  m.level = 10 * attribute(ordinal, cudaDevAttrComputeCapabilityMajor) +
            attribute(ordinal, cudaDevAttrComputeCapabilityMinor);
  m.units = attribute(ordinal, cudaDevAttrMultiProcessorCount);
  m.memory_bytes = bytes;
  m.cache_bytes = static_cast<std::uint64_t>(attribute(ordinal, cudaDevAttrL2CacheSize));
  m.unit_cache_bytes = static_cast<std::uint64_t>(attribute(ordinal, cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  set_limits(ordinal, m);
  set_rates(ordinal, m);
  std::memcpy(out, &m, std::min<std::uint64_t>(out->struct_size, sizeof m));
  return SXT_OK;
}

}  // namespace sextant::device_cuda
