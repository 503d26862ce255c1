// SPDX-License-Identifier: BSD-3-Clause
// The storages and products by diagonals, ELL, HYB and blocks over the fake libraries: built, refreshed, scaled and run
// while every single vendor call fails once. Each failure is returned as a status with a message or does no harm, and
// nothing leaks. No kernel runs here, so the storages are as empty as cleared memory makes them.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/sextant.h"
#include "tests/fake_device/fake.h"

namespace {

using namespace sextant;

constexpr std::int64_t n = 700;

// Three diagonals, symmetric.
std::shared_ptr<Matrix> make_matrix(const std::shared_ptr<Context> &context) {
  std::vector<std::int32_t> ptr = {0}, col;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = std::max(0, i - 1); j <= std::min<std::int32_t>(n - 1, i + 1); ++j) col.push_back(j);
    ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  const std::vector<double> values(col.size(), 1);
  EntryArrays arrays;
  arrays.layout = EntryArrays::Layout::csr;
  arrays.rows = arrays.cols = n;
  arrays.nnz = static_cast<std::int64_t>(col.size());
  arrays.row = ptr.data(), arrays.col = col.data(), arrays.values = values.data();
  AssemblyOptions options;
  options.symmetry = SXT_SYMMETRIC;
  return std::make_shared<Matrix>(context, assemble(arrays, options, context->allocator()), SXT_SYMMETRIC);
}

class FakeStructured : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(SEXTANT_PLUGIN_DIR "/device/device-cuda.so"))
      GTEST_SKIP() << "this build has no CUDA plugins";
    const char *path = std::getenv("LD_LIBRARY_PATH");
    if (!path || !std::strstr(path, FAKE_FOLDER)) GTEST_SKIP() << "the fakes are not first in LD_LIBRARY_PATH";
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = "cuda";
    ASSERT_EQ(sxt_context_create(&options, &context_), SXT_OK) << sxt_last_error(nullptr);
    there_ = DeviceBuffer(context_->context->device(), n * sizeof(double));
    run_all();  // everything that stays loaded is there before anything fails
    before_ = fake_count("allocations");
  }
  void TearDown() override {
    fake_fail(0, 0);
    there_ = DeviceBuffer();
    sxt_context_destroy(context_);
  }

  // f(): true when it succeeded; a failure must have a message.
  template <class F>
  bool attempt(F &&f) {
    try {
      f();
      return true;
    } catch (const Error &problem) {
      EXPECT_NE(std::string(problem.what()), "") << "a failure without a sentence, of " << fake_failed_call();
      return false;
    }
  }

  // A storage from nothing to release, and every product that reads it. False when something failed.
  bool run_all() {
    bool good = attempt([&] {
      matrix_ = make_matrix(context_->context);
      StoredForm &form = matrix_->form(GetParam());
      form.scale(there_.data());
      form.diagonal(there_.data());
      const std::vector<double> values(static_cast<std::size_t>(matrix_->csr().nnz), 2);
      matrix_->update_values(values.data(), matrix_->csr().nnz);
    });
    for (const char *kind : {SXT_KIND_SPMV, SXT_KIND_SPMV_DOTS})
      good = (matrix_ && attempt([&] { run_products(kind); })) && good;
    matrix_.reset();
    return good;
  }

  void run_products(const char *kind) {
    const bool dots = !std::strcmp(kind, SXT_KIND_SPMV_DOTS);
    sxt_spmv_dots_query query{};
    query.m.m = matrix_->query_part(kind, dots ? sizeof query : sizeof(sxt_spmv_query), 10);
    query.m.n_rhs = 1;
    query.n_dots = 1;
    std::vector<Considered> refused;
    for (const ChoicePtr &choice :
         Selector(*context_->context, matrix_.get()).every({Query(&query.m.m.q), kind, GetParam()}, &refused)) {
      Prepared prepared(*context_->context, choice, matrix_.get(), nullptr);
      const void *u[] = {there_.data()}, *v[] = {nullptr};
      sxt_spmv_dots_args args{};
      args.m.h = {dots ? sizeof args : sizeof(sxt_spmv_args), kind};
      args.m.n_rhs = 1;
      args.m.x = args.m.y = args.dots = there_.data();
      args.n_dots = 1;
      args.u = u, args.v = v;
      prepared.open()->run(&args.m.h);
      ++products_;
    }
    for (const Considered &each : refused) refusals_ += each.kernel + ": " + each.reason + "\n";
  }

  sxt_context *context_ = nullptr;
  std::shared_ptr<Matrix> matrix_;
  DeviceBuffer there_;
  std::int64_t before_ = 0;
  int products_ = 0;
  std::string refusals_;
};

TEST_P(FakeStructured, EveryCallMayFail) {
  EXPECT_GT(products_, 0) << refusals_;
  for (const int error : {int{FAKE_INVALID_VALUE}, int{FAKE_NO_MEMORY}}) {
    std::int64_t call = 1, failures = 1;
    int noticed = 0;
    for (; failures > 0; ++call) {
      ASSERT_LT(call, 5000);
      fake_fail(call, error);
      noticed += !run_all();
      failures = fake_failures();
      fake_fail(0, 0);
      ASSERT_EQ(fake_count("allocations"), before_)
          << "after call " << call << " (" << fake_failed_call() << ") failed with " << error;
    }
    EXPECT_GT(call, 100);    // so many calls there are
    EXPECT_GT(noticed, 20);  // failures that matter are returned; other calls compute features or release something
    EXPECT_TRUE(run_all()) << "it does not recover";
    std::printf("[ failures ] %s, error %d: %lld calls failed one by one, %d noticed\n", GetParam(), error,
                static_cast<long long>(call - 2), noticed);
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, FakeStructured,
                         testing::Values(SXT_KIND_STORAGE_DIA, SXT_KIND_STORAGE_DIA_SYMMETRIC, SXT_KIND_STORAGE_ELL,
                                         SXT_KIND_STORAGE_HYB, SXT_KIND_STORAGE_BSR),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
