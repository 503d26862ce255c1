// SPDX-License-Identifier: BSD-3-Clause
// A GPU whose memory runs out while a matrix is converted: the product uses a storage that fits, or the message says
// how many bytes were missing. Once there is room again, the failure has no effect.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/calibrate/families.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using namespace sextant;
using testing::HasSubstr;

constexpr std::int64_t entries = 6'000'000;
constexpr std::uint64_t csr_bytes = entries * 12;

class ShortMemory : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    int family = 0;
    while (std::string(family_name(family)) != "uniform-12") ++family;
    matrix_ = std::make_shared<Matrix>(
        context_->context, make_family_matrix(family, entries, SXT_F64, context_->context->allocator()), SXT_GENERAL);
  }
  // Takes all memory but `left` bytes and what lies in gaps of less than a megabyte.
  void leave(std::uint64_t left) {
    const DeviceBuffer room(device(), left);
    for (std::uint64_t piece = std::uint64_t{64} << 30; piece >= std::uint64_t{1} << 20; piece /= 2)
      for (;;) {
        DeviceBuffer taken;
        try {
          taken = DeviceBuffer(device(), piece);
        } catch (const Error &problem) {
          ASSERT_EQ(problem.status(), SXT_E_MEMORY) << problem.what();
          break;
        }
        ballast_.push_back(std::move(taken));
      }
  }
  // y = A 1 through the C interface; the status.
  sxt_status multiply(std::vector<double> &out) {
    sxt_matrix handle(matrix_);
    const Vector x = make_vector(std::vector<double>(static_cast<std::size_t>(matrix_->cols()), 1)),
                 y = make_vector(std::vector<double>(static_cast<std::size_t>(matrix_->rows()), 0));
    const sxt_status status = sxt_spmv(SXT_NO_TRANSPOSE, nullptr, &handle, x.get(), nullptr, y.get());
    if (status == SXT_OK) out = values_of(y);
    return status;
  }
  void check(const std::vector<double> &y) {
    const CsrArrays &a = matrix_->csr();
    ASSERT_EQ(static_cast<std::int64_t>(y.size()), a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double sum = 0;
      for (std::int32_t k = a.row_ptr.as<std::int32_t>()[i]; k < a.row_ptr.as<std::int32_t>()[i + 1]; ++k)
        sum += a.values.as<double>()[k];
      ASSERT_NEAR(y[static_cast<std::size_t>(i)], sum, 1e-9 * std::max(1.0, std::abs(sum))) << i;
    }
  }
  std::shared_ptr<Matrix> matrix_;
  std::vector<DeviceBuffer> ballast_;
};

TEST_F(ShortMemory, AConversionThatDoesNotFitReportsTheMissingBytes) {
  matrix_->form(SXT_KIND_STORAGE_CSR);
  leave(csr_bytes / 2);
  if (HasFatalFailure()) return;
  // One may fit into what the device's pool had kept; all of them do not.
  std::vector<const char *> failed;
  for (const char *kind : {SXT_KIND_STORAGE_SELL, SXT_KIND_STORAGE_HYB, SXT_KIND_STORAGE_ELL}) {
    try {
      matrix_->form(kind);
    } catch (const Error &problem) {
      if (problem.status() != SXT_E_MEMORY) continue;  // it declines this matrix
      failed.push_back(kind);
      EXPECT_THAT(problem.what(), HasSubstr("bytes")) << kind;
      EXPECT_FALSE(matrix_->holds(kind)) << kind;
    }
  }
  EXPECT_GE(failed.size(), 2u);
  ballast_.clear();
  for (const char *kind : failed) {
    matrix_->form(kind);
    EXPECT_TRUE(matrix_->holds(kind));
  }
}

TEST_F(ShortMemory, AProductUsesAStorageThatFits) {
  matrix_->form(SXT_KIND_STORAGE_CSR);
  leave(csr_bytes / 2);
  if (HasFatalFailure()) return;
  std::vector<double> y;
  ASSERT_EQ(multiply(y), SXT_OK) << sxt_last_error(context_.get());
  check(y);
}

TEST_F(ShortMemory, WithoutRoomForTheMatrixTheStatusIsMemory) {
  leave(csr_bytes / 2);
  if (HasFatalFailure()) return;
  std::vector<double> y;
  EXPECT_EQ(multiply(y), SXT_E_MEMORY);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("bytes"));
  ballast_.clear();
  ASSERT_EQ(multiply(y), SXT_OK) << sxt_last_error(context_.get());
  check(y);
}

// Destroyed memory is free for other programs, except the little that a pool keeps.
TEST_F(Gpu, AnIdlePoolKeepsLittle) {
  const auto memory = runtime_function<int (*)(std::size_t *)>("Shared", "doubler_memory");
  const auto left = [&] {
    const sextant::Device::Current current(device());
    std::size_t bytes = 0;
    EXPECT_EQ(memory(&bytes), 0);
    return static_cast<double>(bytes);
  };
  const double before = left();
  constexpr std::int64_t n = std::int64_t{1} << 27;  // 1 GB each
  std::vector<sxt_vector *> vectors(8);
  for (sxt_vector *&vector : vectors) ASSERT_EQ(sxt_vector_create(context_.get(), n, SXT_F64, &vector), SXT_OK);
  EXPECT_LT(left(), before - 7e9);
  for (sxt_vector *vector : vectors) sxt_vector_destroy(vector);
  const Vector small = make_vector({1, 2});  // waits for a stream
  ASSERT_EQ(ops().keep_at_most(handle(), std::uint64_t{1} << 28), SXT_OK);
  const Vector another = make_vector({1, 2});
  EXPECT_GT(left(), before - 1e9);
}

}  // namespace
}  // namespace gpu_test
