// SPDX-License-Identifier: BSD-3-Clause
// CUDA preconditioners over the fake libraries: every vendor call of a set-up, a run and a refresh may fail, and
// nothing leaks. Kernels run nothing here, so factors are empty and a probe sees a matrix of zeros.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/kernel.hpp"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;
using sextant::registry::Registry;

struct Method {
  const char *kernel, *name;
  sxt_status expected;  // of a device that does nothing
};
const Method methods[] = {
    {"preconditioner.block-jacobi.cuda", "block-jacobi:4", SXT_OK},
    {"preconditioner.ssor-ai.cuda", "ssor-ai", SXT_OK},
    {"preconditioner.ssor-ai-2.cuda", "ssor-ai-2:1.1", SXT_OK},
    {"preconditioner.fsai.cuda", "fsai", SXT_OK},
    {"preconditioner.fsai-2.cuda", "fsai-2", SXT_OK},
    {"preconditioner.chebyshev.cuda", "chebyshev", SXT_E_NOT_POSITIVE_DEFINITE},
};

// Sets M up, applies it, refreshes it with new values, applies it again, destroys everything.
class Program {
 public:
  explicit Program(const char *method) : method_(method) {
    for (std::int32_t i = 0; i < rows; ++i) {
      for (std::int32_t j = std::max(0, i - 1); j <= std::min(rows - 1, i + 1); ++j) {
        col_.push_back(j);
        values_.push_back(i == j ? 2 + i % 3 : -1);
      }
      ptr_.push_back(static_cast<std::int32_t>(col_.size()));
    }
  }
  // The first failure, or SXT_OK.
  sxt_status run() {
    sxt_context *context = nullptr;
    sxt_matrix *matrix = nullptr;
    sxt_status status = open(&context);
    if (status == SXT_OK)
      status = sxt_matrix_from_csr(context, rows, rows, ptr_.data(), col_.data(), values_.data(), nullptr, &matrix);
    if (status == SXT_OK) status = apply(matrix);
    sxt_matrix_destroy(matrix);
    sxt_context_destroy(context);
    return status;
  }

 private:
  static constexpr std::int32_t rows = 100;

  sxt_status apply(sxt_matrix *handle) {
    sextant::Matrix &matrix = *handle->matrix;
    sxt_preconditioner_query query{};
    query.m = matrix.query_part(SXT_KIND_PRECONDITIONER, sizeof query, 1);
    std::strcpy(query.method, method_);
    try {
      sextant::Selector selector(matrix.context(), &matrix);
      sextant::Runner runner(matrix.context(), selector.select({sextant::Query(&query.m.q), "M"}), &matrix);
      sextant::Device &device = matrix.context().device();
      const sextant::DeviceBuffer r(device, rows * sizeof(double)), z(device, rows * sizeof(double));
      sxt_preconditioner_args args{sextant::plugin::head<sxt_preconditioner_args>(SXT_KIND_PRECONDITIONER), rows,
                                   r.data(), z.data()};
      runner.run(&args.h);
      matrix.update_values(values_.data(), static_cast<std::int64_t>(values_.size()));
      runner.run(&args.h);
    } catch (const sextant::Error &problem) {
      EXPECT_STRNE(problem.what(), "") << "a failure without a sentence, of " << fake_failed_call();
      return problem.status();
    }
    return SXT_OK;
  }

  const char *method_;
  std::vector<std::int32_t> ptr_{0}, col_;
  std::vector<double> values_;
};

class FakePreconditioner : public FakeDevice, public testing::WithParamInterface<Method> {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    if (!Registry::instance().find(GetParam().kernel)) GTEST_SKIP() << "this build has no " << GetParam().kernel;
  }
};

TEST_P(FakePreconditioner, LeavesNothingBehind) {
  EXPECT_EQ(Program(GetParam().name).run(), GetParam().expected);
  EXPECT_EQ(left_behind(), "");
}

TEST_P(FakePreconditioner, EveryCallMayFail) {
  Program program(GetParam().name);
  const std::int64_t before = fake_count("calls");
  program.run();
  const std::int64_t calls = fake_count("calls") - before;
  ASSERT_GT(calls, 20);
  int failures = 0;
  for (std::int64_t n = 1; n <= calls; ++n) {
    fake_fail(n, 2);  // cudaErrorMemoryAllocation
    const sxt_status status = program.run();
    failures += status == SXT_E_MEMORY || status == SXT_E_DEVICE;
    fake_fail(0, 0);
    ASSERT_EQ(left_behind(), "") << "after call " << n << " (" << fake_failed_call() << ") failed";
  }
  EXPECT_GT(failures, calls / 4);  // calls that release something cannot fail the program
}

// A forced M that is not available is a reason to fail; the solve does not silently go on without it.
using EnginesOverFakes = FakeDevice;
TEST_F(EnginesOverFakes, DoNotGoOnWithoutM) {
  sxt_context *context = nullptr;
  sxt_matrix *handle = nullptr;
  const std::int32_t ptr[] = {0, 1, 2, 3}, col[] = {0, 1, 2};
  const double values[] = {1, 2, 3};
  ASSERT_EQ(open(&context), SXT_OK);
  ASSERT_EQ(sxt_matrix_from_csr(context, 3, 3, ptr, col, values, nullptr, &handle), SXT_OK);
  sextant::Matrix &matrix = *handle->matrix;
  sxt_pcg_query query{};
  query.m = matrix.query_part(SXT_KIND_PCG, sizeof query, 1);
  query.preconditioned = 1;
  std::strcpy(query.preconditioner, "block-jacobi:77");
  for (const char *engine : {"pcg.graph.classical.cuda", "pcg.graph-csr-m.predict-recompute.cuda"}) {
    if (!Registry::instance().find(engine)) continue;
    sextant::Selector selector(matrix.context(), &matrix, {.forced = {{SXT_KIND_PCG, engine}}});
    try {
      selector.select({sextant::Query(&query.m.q), "pcg"});
      ADD_FAILURE() << engine << " would run without M";
    } catch (const sextant::Error &problem) {
      EXPECT_THAT(problem.what(), testing::HasSubstr("its slot M stays empty")) << engine;
      EXPECT_THAT(problem.what(), testing::HasSubstr("the block size of block-jacobi is a whole number from 2 to 32"));
    }
  }
  sxt_matrix_destroy(handle);
  sxt_context_destroy(context);
}

INSTANTIATE_TEST_SUITE_P(Methods, FakePreconditioner, testing::ValuesIn(methods), [](const auto &info) {
  std::string name = info.param.kernel;
  for (char &each : name)
    if (each == '.' || each == '-') each = '_';
  return name;
});

}  // namespace
