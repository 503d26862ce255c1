// SPDX-License-Identifier: BSD-3-Clause
// Large arrays are copied to a device through pinned memory that several threads fill. Where a vendor call fails
// meanwhile, the plain copy is used or its error returned. New values of a matrix are checked during the copy: all are
// taken, or none.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "abi/handles.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/storage.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

class Uploads : public FakeDevice {
 protected:
  // How much more memory a context holds after a vector of these values was written to the device.
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

constexpr std::size_t least = 524288,
                      piece = 65536;  // values of the shortest array that is copied in pieces, and of a piece

TEST_F(Uploads, ArriveWholeForEveryLength) {
  for (const std::size_t n : {least - 1, least, least + 1, least + piece, 3 * least + 17, 5 * least - 3}) {
    const std::vector<double> from = numbers(n);
    std::vector<double> to;
    ASSERT_EQ(round_trip(3, from, to), SXT_OK) << n;
    EXPECT_EQ(from, to) << n;
  }
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Uploads, TwoPiecesAThreadServeLargeArraysOfSeveralThreads) {
  const std::vector<double> large = numbers(2 * least), small = numbers(least / 2);
  std::vector<double> to;
  Kept kept{};
  ASSERT_EQ(round_trip(2, large, to, 0, &kept), SXT_OK);
  EXPECT_EQ(kept.streams, 4);
  EXPECT_EQ(kept.allocations, 1);
  for (const auto &[threads, values] : {std::pair{1, &large}, std::pair{2, &small}}) {
    ASSERT_EQ(round_trip(threads, *values, to, 0, &kept), SXT_OK);
    EXPECT_EQ(kept.streams, 0) << threads;
  }
}

TEST_F(Uploads, AFailingCallLeadsToThePlainCopyOrAnError) {
  const std::vector<double> from = numbers(least + 5);
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
  EXPECT_GT(served, 4);  // memory, streams and copies of pieces among them
}

// A tridiagonal matrix on the device, large enough for its values to be sent while they are written.
class NewValues : public Uploads {
 protected:
  static constexpr std::int32_t n = 200000;
  NewValues() {
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) col_.push_back(j);
      ptr_.push_back(static_cast<std::int32_t>(col_.size()));
    }
  }
  std::vector<double> values(double first) const {
    std::vector<double> all(col_.size());
    std::iota(all.begin(), all.end(), first);
    return all;
  }
  sxt_status open(int threads) {
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = "cuda";
    options.threads = threads;
    sxt_status status = sxt_context_create(&options, &context_);
    if (status == SXT_OK)
      status = sxt_matrix_from_csr(context_, n, n, ptr_.data(), col_.data(), values(1).data(), nullptr, &matrix_);
    if (status == SXT_OK) matrix_->matrix->storage(SXT_KIND_STORAGE_CSR);
    return status;
  }
  void close() {
    sxt_matrix_destroy(matrix_);
    sxt_context_destroy(context_);
    matrix_ = nullptr, context_ = nullptr;
  }
  void TearDown() override {
    close();
    Uploads::TearDown();
  }
  // Memory of the fake device is the host's.
  std::vector<double> on_device() {
    return numbers_at(reinterpret_cast<const sxt_csr *>(matrix_->matrix->storage(SXT_KIND_STORAGE_CSR))->values);
  }
  std::vector<double> on_host() const {
    const void *values = nullptr;
    EXPECT_EQ(sxt_matrix_get_csr(matrix_, nullptr, nullptr, &values), SXT_OK);
    return numbers_at(values);
  }
  std::vector<double> numbers_at(const void *from) const {
    const auto *first = static_cast<const double *>(from);
    return {first, first + col_.size()};
  }
  sxt_status update(const std::vector<double> &all) {
    return sxt_matrix_update_values(matrix_, all.data(), static_cast<std::int64_t>(all.size()));
  }

  std::vector<std::int32_t> ptr_{0}, col_;
  sxt_context *context_ = nullptr;
  sxt_matrix *matrix_ = nullptr;
};

TEST_F(NewValues, AreSentWhileTheyAreWritten) {
  ASSERT_EQ(open(3), SXT_OK);
  ASSERT_EQ(on_device(), values(1));
  const std::int64_t before = fake_count("allocations");
  for (const double first : {-7.0, 3.0}) {
    ASSERT_EQ(update(values(first)), SXT_OK);
    EXPECT_EQ(on_device(), values(first));
    EXPECT_EQ(on_host(), values(first));
  }
  EXPECT_EQ(fake_count("allocations"), before);
}

TEST_F(NewValues, WithOneThatIsNotFiniteLeaveTheOldOnes) {
  ASSERT_EQ(open(3), SXT_OK);
  for (const std::size_t place : {std::size_t{0}, std::size_t{300001}, col_.size() - 1})
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      std::vector<double> wrong = values(50);
      wrong[place] = bad;
      ASSERT_EQ(update(wrong), SXT_E_NOT_FINITE);
      EXPECT_NE(std::string(sxt_last_error(context_)).find("new value " + std::to_string(place)), std::string::npos);
      EXPECT_EQ(on_device(), values(1));
      EXPECT_EQ(on_host(), values(1));
    }
}

// After any failure the host and the device have the same values, and an update that was refused changed none.
TEST_F(NewValues, AreAllThereOrNoneWhereACallFails) {
  for (std::int64_t call = 1;; ++call) {
    ASSERT_EQ(open(2), SXT_OK);
    fake_fail(call, FAKE_NO_MEMORY);
    const sxt_status status = update(values(9));
    const bool failed = fake_failures() > 0;
    fake_fail(0, 0);
    EXPECT_EQ(on_host(), values(status == SXT_OK ? 9 : 1)) << "call " << call;
    EXPECT_EQ(on_device(), on_host()) << "call " << call;
    close();
    if (!failed) break;
    ASSERT_LT(call, 200);
  }
}

}  // namespace
