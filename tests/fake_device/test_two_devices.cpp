// SPDX-License-Identifier: BSD-3-Clause
// Two devices in one process: what belongs to one is refused by a context of the other, and copies go between them.
#include <cstdint>
#include <cstdio>
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

void copy_between(sxt_context *from, sxt_context *to) {
  sextant::Device &source = from->context->device(), &target = to->context->device();
  const std::vector<double> values{1, 2, 3};
  const std::uint64_t bytes = values.size() * sizeof(double);
  const api_test::Vector x = api_test::zeros_on(from, 3), y = api_test::zeros_on(to, 3);
  std::vector<double> back(values.size());
  EXPECT_EQ(sxt_vector_write(x.get(), values.data()), SXT_OK);
  EXPECT_EQ(target.ops().copy_peer(target.handle(), nullptr, sxt_vector_data(y.get()), source.handle(),
                                   sxt_vector_data(x.get()), bytes),
            SXT_OK);
  EXPECT_EQ(sxt_vector_read(y.get(), back.data()), SXT_OK);
  EXPECT_EQ(back, values);
}

// Ends the process with 0 where all went as it should.
[[noreturn]] void use_both() {
  {
    const api_test::Context first(open_on(0)), second(open_on(1));
    if (!first || !second) std::_Exit(2);
    api_test::refuses_the_other_device(first.get(), second.get(), 1);
    api_test::refuses_the_other_device(second.get(), first.get(), 0);
    for (int again = 0; again < 2; ++again) {
      copy_between(first.get(), second.get());
      copy_between(second.get(), first.get());
    }
  }
  EXPECT_EQ(left_behind(), "");
  std::fflush(stdout);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST(TwoDevices, KeepTheirMemoryApart) {
  if (!std::filesystem::exists(SEXTANT_PLUGIN_DIR "/device/device-cuda.so"))
    GTEST_SKIP() << "this build has no CUDA plugins";
  const char *path = std::getenv("LD_LIBRARY_PATH");
  if (!path || !std::strstr(path, FAKE_FOLDER)) GTEST_SKIP() << "the fakes are not first in LD_LIBRARY_PATH";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked for devices yet
  setenv("SEXTANT_FAKE_DEVICES", "2", 1);
  EXPECT_EXIT(use_both(), testing::ExitedWithCode(0), "");
  unsetenv("SEXTANT_FAKE_DEVICES");
}

}  // namespace
