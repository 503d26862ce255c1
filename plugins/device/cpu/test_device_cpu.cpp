// SPDX-License-Identifier: BSD-3-Clause
// device.cpu: its description, its memory, and the parsers of the kernel's files.
#include <cstdint>
#include <cstring>

#include "plugins/device/cpu/describe.hpp"
#include "sextant/plugin/kinds/device.h"
#include "tests/plugins/support.hpp"

// The parsers are not exported; the file that holds them is small.
#include "plugins/device/cpu/describe.cpp"  // NOLINT(bugprone-suspicious-include)

// Under AddressSanitizer a request that cannot be met returns NULL, as without it, and does not end the program.
extern "C" const char *__asan_default_options() { return "allocator_may_return_null=1"; }

namespace plugin_test {
namespace {

namespace cpu = sextant::device_cpu;

const sxt_device_ops &ops() {
  return *static_cast<const sxt_device_ops *>(find_kernel(load_own("device-cpu", "device"), "device.cpu").ops);
}

TEST(DeviceCpu, DescribesThisMachine) {
  std::int32_t count = 0;
  ASSERT_EQ(ops().count(&count, nullptr), SXT_OK);
  EXPECT_EQ(count, 1);
  sxt_machine m{};
  m.struct_size = sizeof m;
  ASSERT_EQ(ops().describe(0, 0, &m), SXT_OK);
  EXPECT_STREQ(m.device, "cpu");
  EXPECT_GT(std::strlen(m.name), 0u);
  EXPECT_TRUE(m.level >= 1 && m.level <= 3);
  EXPECT_TRUE(m.units >= 1 && m.units <= 4096);
  EXPECT_GE(m.memory_bytes, std::uint64_t{1} << 26);
  EXPECT_GE(m.cache_bytes, m.unit_cache_bytes);
  EXPECT_GE(m.unit_cache_bytes, std::uint64_t{1} << 14);
  for (double rate : {m.stream_rate, m.stream_rate_unit, m.cache_rate, m.gather_rate, m.flop_rate_f64, m.copy_rate})
    EXPECT_GT(rate, 0);
  EXPECT_GE(m.stream_rate, m.stream_rate_unit);
  EXPECT_EQ(m.flop_rate_f32, 2 * m.flop_rate_f64);
}

TEST(DeviceCpu, LowersThreadsWhenAsked) {
  sxt_machine m{};
  m.struct_size = sizeof m;
  ASSERT_EQ(ops().describe(0, 1, &m), SXT_OK);
  EXPECT_EQ(m.units, 1);
  EXPECT_EQ(m.barrier_s, 0);
}

TEST(DeviceCpu, WritesNoFurtherThanTheStructSize) {
  sxt_machine m;
  std::memset(&m, 0x5A, sizeof m);
  m.struct_size = SXT_END_OF(sxt_machine, units);
  ASSERT_EQ(ops().describe(0, 0, &m), SXT_OK);
  EXPECT_EQ(m.struct_size, SXT_END_OF(sxt_machine, units));
  EXPECT_EQ(m.memory_bytes, 0x5A5A5A5A5A5A5A5Au);
}

TEST(DeviceCpu, HasOneDeviceOnly) {
  void *device = nullptr;
  EXPECT_EQ(ops().open(nullptr, 1, &device), SXT_E_DEVICE);
  sxt_machine m{};
  m.struct_size = sizeof m;
  EXPECT_EQ(ops().describe(1, 0, &m), SXT_E_DEVICE);
}

TEST(DeviceCpu, LendsAlignedMemory) {
  void *device = nullptr, *memory = nullptr;
  ASSERT_EQ(ops().open(nullptr, 0, &device), SXT_OK);
  for (std::uint64_t alignment : {1, 64, 256, 4096}) {
    ASSERT_EQ(ops().alloc(device, nullptr, SXT_SPACE_HOST, 1000, alignment, &memory), SXT_OK);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % std::max<std::uint64_t>(64, alignment), 0u);
    ops().free(device, nullptr, SXT_SPACE_HOST, memory);
  }
  EXPECT_EQ(ops().alloc(device, nullptr, SXT_SPACE_HOST, 8, 48, &memory), SXT_E_ARGUMENT);
  EXPECT_EQ(ops().alloc(device, nullptr, SXT_SPACE_HOST, std::uint64_t{1} << 60, 64, &memory), SXT_E_MEMORY);
  EXPECT_EQ(memory, nullptr);
  const char from[] = "sextant";
  char to[sizeof from] = "";
  EXPECT_EQ(ops().copy(device, nullptr, to, from, sizeof from), SXT_OK);
  EXPECT_STREQ(to, from);
  EXPECT_EQ(ops().copy(device, nullptr, nullptr, nullptr, 0), SXT_OK);
  ops().close(device);
}

TEST(DeviceCpu, ReadsSizesListsAndQuotas) {
  EXPECT_EQ(cpu::parse_cache_size("48K"), 48u << 10);
  EXPECT_EQ(cpu::parse_cache_size("2M"), 2u << 20);
  EXPECT_EQ(cpu::parse_cache_size("4096"), 4096u);
  EXPECT_EQ(cpu::parse_cache_size(""), 0u);
  EXPECT_EQ(cpu::parse_cache_size("unknown"), 0u);
  EXPECT_EQ(cpu::count_cpu_list("0-3,8"), 5);
  EXPECT_EQ(cpu::count_cpu_list("7"), 1);
  EXPECT_EQ(cpu::count_cpu_list(""), 0);
  EXPECT_EQ(cpu::parse_cpu_quota("max 100000"), 0);
  EXPECT_EQ(cpu::parse_cpu_quota("-1 100000"), 0);
  EXPECT_EQ(cpu::parse_cpu_quota("350000 100000"), 3);
  EXPECT_EQ(cpu::parse_cpu_quota("20000 100000"), 1);
  EXPECT_EQ(cpu::parse_cpu_quota(" "), 0);
}

}  // namespace
}  // namespace plugin_test
