// SPDX-License-Identifier: BSD-3-Clause
// Two devices in one process: what belongs to one is refused by a context of the other, and copies go between them,
// whether or not the devices reach each other's memory.
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "tests/api/two_devices.hpp"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

sxt_context *open_on(std::int32_t ordinal) {
  sxt_context_options options = api_test::context_options();
  options.device = "cuda";
  options.device_ordinal = ordinal;
  sxt_context *context = nullptr;
  return sxt_context_create(&options, &context) == SXT_OK ? context : nullptr;
}

constexpr std::int32_t not_supported = 801;

// One copy, which arrives or returns an error message. `failing`: the n-th vendor call from there that fails, 0: none.
sxt_status copy_between(sxt_context *from, sxt_context *to, std::int64_t failing = 0) {
  sextant::Device &source = from->context->device(), &target = to->context->device();
  const std::vector<double> values{1, 2, 3};
  const std::uint64_t bytes = values.size() * sizeof(double);
  const api_test::Vector x = api_test::zeros_on(from, 3), y = api_test::zeros_on(to, 3);
  std::vector<double> back(values.size());
  EXPECT_EQ(sxt_vector_write(x.get(), values.data()), SXT_OK);
  fake_fail(failing, not_supported);
  const sxt_status status = target.ops().copy_peer(target.handle(), nullptr, sxt_vector_data(y.get()), source.handle(),
                                                   sxt_vector_data(x.get()), bytes);
  EXPECT_EQ(sxt_vector_read(y.get(), back.data()), SXT_OK);
  if (status == SXT_OK) {
    EXPECT_EQ(back, values) << fake_failed_call();
  }
  return status;
}

void copy_both_ways(sxt_context *first, sxt_context *second) {
  EXPECT_EQ(copy_between(first, second), SXT_OK);
  EXPECT_EQ(copy_between(second, first), SXT_OK);
}

void refuse_and_copy() {
  const api_test::Context first(open_on(0)), second(open_on(1));
  ASSERT_TRUE(first && second);
  api_test::refuses_the_other_device(first.get(), second.get(), 1);
  api_test::refuses_the_other_device(second.get(), first.get(), 0);
  copy_both_ways(first.get(), second.get());
  copy_both_ways(first.get(), second.get());
  EXPECT_EQ(fake_count("opened pools"), 2) << "once each way";
  const api_test::Context again(open_on(1));
  ASSERT_TRUE(again);
  copy_both_ways(first.get(), again.get());
  EXPECT_EQ(fake_count("opened pools"), 4) << "once more after a device was opened";
}

void copy_by_way_of_the_host() {
  fake_join_devices(0);
  const api_test::Context first(open_on(0)), second(open_on(1));
  ASSERT_TRUE(first && second);
  copy_both_ways(first.get(), second.get());
  EXPECT_EQ(fake_count("opened pools"), 0);
}

// Each vendor call of a first copy fails in turn. A failure of a call that only makes the copy faster is harmless.
void copy_while_calls_fail() {
  std::set<std::string> did_without;
  for (std::int64_t n = 1; n < 100; ++n) {
    const api_test::Context first(open_on(0)), second(open_on(1));
    ASSERT_TRUE(first && second);
    const sxt_status status = copy_between(first.get(), second.get(), n);
    const std::string failed = fake_failed_call();
    if (status == SXT_OK) did_without.insert(failed);
    if (failed != "cudaMemcpyAsync") continue;
    EXPECT_LT(status, SXT_OK);
    break;
  }
  EXPECT_THAT(did_without, testing::IsSupersetOf({"cudaDeviceCanAccessPeer", "cudaMemPoolSetAccess"}));
}

// As drivers do it, an error that lasts is that of every device. The one that met it first is named.
void name_the_first_that_was_lost() {
  const api_test::Context first(open_on(0)), second(open_on(1));
  ASSERT_TRUE(first && second);
  const auto refusal_of = [](sxt_context *context) -> std::string {
    sxt_vector *made = nullptr;
    EXPECT_EQ(sxt_vector_create(context, 3, SXT_F64, &made), SXT_E_DEVICE);
    return sxt_last_error(context);
  };
  using testing::HasSubstr;
  using testing::Not;
  const char *named = "CUDA device 0 reported a failure first";
  fake_fail(1, 700);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(refusal_of(first.get()), Not(HasSubstr("reported a failure first")));
    EXPECT_THAT(refusal_of(second.get()), HasSubstr(named));
  }
  fake_fail(0, 0);
  EXPECT_THAT(refusal_of(second.get()), HasSubstr(named)) << "it stays lost";
}

// Ends the process with 0 on success.
[[noreturn]] void alone(void (*body)()) {
  body();
  fake_fail(0, 0);
  EXPECT_EQ(left_behind(), "");
  std::fflush(stdout);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

// In a process that has not asked for devices yet.
void with_two_devices(void (*body)()) {
  if (!std::filesystem::exists(SEXTANT_PLUGIN_DIR "/device/device-cuda.so"))
    GTEST_SKIP() << "this build has no CUDA plugins";
  const char *path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::strstr(path, FAKE_FOLDER)) GTEST_SKIP() << "the fakes are not first in LD_LIBRARY_PATH";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SEXTANT_FAKE_DEVICES", "2", 1);
  EXPECT_EXIT(alone(body), testing::ExitedWithCode(0), "");
  unsetenv("SEXTANT_FAKE_DEVICES");
}

TEST(TwoDevices, KeepTheirMemoryApart) { with_two_devices(refuse_and_copy); }
TEST(TwoDevices, CopyThroughTheHostWhereTheyDoNotReachEachOther) { with_two_devices(copy_by_way_of_the_host); }
TEST(TwoDevices, NameTheFirstThatWasLost) { with_two_devices(name_the_first_that_was_lost); }
TEST(TwoDevices, CopyWhereNoDirectPathExists) { with_two_devices(copy_while_calls_fail); }

}  // namespace
