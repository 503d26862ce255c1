// SPDX-License-Identifier: BSD-3-Clause
// Large arrays on their way to a device: they arrive whole over pinned memory that several threads fill; where a vendor
// call fails meanwhile, the plain way or its error is left.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

class Uploads : public FakeDevice {
 protected:
  // What a context with a vector of these values on the device holds more than before it was written.
  struct Kept {
    std::int64_t allocations, streams;
  };

  // Writes the values to a vector of the device, where call `failing` fails, and reads them back.
  static sxt_status round_trip(int threads, const std::vector<double> &from, std::vector<double> &to,
                               std::int64_t failing = 0, Kept *kept = nullptr) {
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = "cuda";
    options.threads = threads;
    sxt_context *context = nullptr;
    sxt_status status = sxt_context_create(&options, &context);
    if (status != SXT_OK) return status;
    sxt_vector *vector = nullptr;
    status = sxt_vector_create(context, static_cast<std::int64_t>(from.size()), SXT_F64, &vector);
    if (status == SXT_OK) {
      const Kept before{fake_count("allocations"), fake_count("streams")};
      if (failing > 0) fake_fail(failing, FAKE_NO_MEMORY);
      status = sxt_vector_write(vector, from.data());
      if (kept) *kept = {fake_count("allocations") - before.allocations, fake_count("streams") - before.streams};
      failed_ = failing > 0 && fake_failures() > 0;
      fake_fail(0, 0);
      to.assign(from.size(), -1);
      if (status == SXT_OK) status = sxt_vector_read(vector, to.data());
    }
    sxt_vector_destroy(vector);
    sxt_context_destroy(context);
    return status;
  }

  static std::vector<double> numbers(std::size_t n) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    return values;
  }

  static bool failed_;
};
bool Uploads::failed_ = false;

constexpr std::size_t half = 524288;  // values that fill a half of the pinned memory

TEST_F(Uploads, ArriveWholeWhateverTheirLength) {
  for (const std::size_t n : {half - 1, half, half + 1, 2 * half, 3 * half + 17, 5 * half - 3}) {
    const std::vector<double> from = numbers(n);
    std::vector<double> to;
    ASSERT_EQ(round_trip(3, from, to), SXT_OK) << n;
    EXPECT_EQ(from, to) << n;
  }
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Uploads, TwoHalvesServeLargeArraysOfSeveralThreads) {
  const std::vector<double> large = numbers(2 * half), small = numbers(half / 2);
  std::vector<double> to;
  Kept kept{};
  ASSERT_EQ(round_trip(2, large, to, 0, &kept), SXT_OK);
  EXPECT_EQ(kept.streams, 2);
  EXPECT_EQ(kept.allocations, 2);
  for (const auto &[threads, values] : {std::pair{1, &large}, std::pair{2, &small}}) {
    ASSERT_EQ(round_trip(threads, *values, to, 0, &kept), SXT_OK);
    EXPECT_EQ(kept.streams, 0) << threads;
  }
}

TEST_F(Uploads, AFailingCallLeavesThePlainWayOrItsError) {
  const std::vector<double> from = numbers(2 * half + 5);
  std::vector<double> to;
  int served = 0;
  for (std::int64_t n = 1;; ++n) {
    const sxt_status status = round_trip(2, from, to, n);
    if (!failed_) break;
    if (status == SXT_OK) {
      ++served;
      EXPECT_EQ(from, to) << "call " << n;
    }
    EXPECT_EQ(left_behind(), "") << "call " << n;
    ASSERT_LT(n, 1000);
  }
  EXPECT_GT(served, 4);  // memory, streams and copies of the two halves among them
}

}  // namespace
