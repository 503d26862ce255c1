// SPDX-License-Identifier: BSD-3-Clause
// Matrices without rows, without columns, without either: every kernel's model, set-up and call, none of which may
// divide by their sizes. A kernel may decline.
#include <cstdint>
#include <string>
#include <vector>

#include "core/registry/registry.hpp"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

class ZeroSizes : public FakeDevice {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(open(&context_), SXT_OK) << sxt_last_error(nullptr);
  }
  void TearDown() override {
    sxt_context_destroy(context_);
    if (!IsSkipped()) {
      EXPECT_EQ(left_behind(), "");
      EXPECT_EQ(faults(), "");
    }
    FakeDevice::TearDown();
  }
  sxt_matrix *matrix(std::int64_t rows, std::int64_t cols) {
    const std::vector<std::int32_t> ptr(static_cast<std::size_t>(rows) + 1, 0), col(1);
    const double value = 0;
    sxt_matrix *made = nullptr;
    EXPECT_EQ(sxt_matrix_from_csr(context_, rows, cols, ptr.data(), col.data(), &value, nullptr, &made), SXT_OK)
        << sxt_last_error(context_);
    return made;
  }
  static bool declined(sxt_status status) {
    return status == SXT_NOT_APPLICABLE || status == SXT_E_NO_KERNEL || status == SXT_E_NOT_SUPPORTED ||
           status == SXT_E_DIAGONAL;
  }
  sxt_context *context_ = nullptr;
};

TEST_F(ZeroSizes, ProductsByEveryKernel) {
  const double x[4] = {}, one = 1;
  double y[4] = {};
  std::vector<const char *> kernels{nullptr};
  for (const auto *kernel : sextant::registry::Registry::instance().kernels("sxt.spmv/1", "cuda"))
    kernels.push_back(kernel->name());
  EXPECT_GT(kernels.size(), 8u);
  int products = 0;
  for (const char *kernel : kernels) {
    ASSERT_EQ(sxt_context_force(context_, "sxt.spmv/1", kernel), SXT_OK);
    for (const auto &[rows, cols] : {std::pair<int, int>{0, 0}, {0, 4}, {4, 0}, {4, 4}})
      for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
        sxt_matrix *const a = matrix(rows, cols);
        const sxt_status status = sxt_spmv_array(op, &one, a, x, nullptr, y);
        EXPECT_TRUE(status == SXT_OK || declined(status))
            << (kernel ? kernel : "any") << ", " << rows << " x " << cols << ": " << sxt_last_error(context_);
        if (!kernel) {
          EXPECT_EQ(status, SXT_OK) << sxt_last_error(context_);
        }
        products += status == SXT_OK;
        sxt_matrix_destroy(a);
      }
  }
  EXPECT_GT(products, 16);
}

TEST_F(ZeroSizes, SolvesByEveryEngineAndPreconditioner) {
  std::vector<const char *> engines{nullptr};
  for (const auto *kernel : sextant::registry::Registry::instance().kernels("sxt.pcg/1", "cuda"))
    engines.push_back(kernel->name());
  double b = 1, x = 2;
  for (const char *engine : engines)
    for (const char *preconditioner :
         {static_cast<const char *>(nullptr), "none", "jacobi", "block-jacobi", "fsai", "ssor-ai", "chebyshev"}) {
      sxt_matrix *const a = matrix(0, 0);
      sxt_pcg_options options;
      sxt_pcg_options_init(&options, sizeof options);
      options.engine = engine;
      options.preconditioner = preconditioner;
      sxt_pcg *pcg = nullptr;
      const sxt_status status = sxt_pcg_create(a, &options, &pcg);
      EXPECT_TRUE(status == SXT_OK || declined(status))
          << (engine ? engine : "any") << " " << (preconditioner ? preconditioner : "any") << ": "
          << sxt_last_error(context_);
      const std::string named = preconditioner ? preconditioner : "none";
      if (!engine && (named == "none" || named == "jacobi")) {
        EXPECT_EQ(status, SXT_OK) << sxt_last_error(context_);
      }
      if (pcg) {
        EXPECT_EQ(sxt_pcg_solve_array(pcg, 0, &b, &x, nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
        EXPECT_EQ(sxt_pcg_solve_array(pcg, 0, nullptr, nullptr, nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
        EXPECT_EQ(sxt_pcg_solve_block(pcg, 0, 3, &b, 0, &x, 0, nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
      }
      sxt_pcg_destroy(pcg);
      sxt_matrix_destroy(a);
    }
  EXPECT_EQ(x, 2);
}

}  // namespace
