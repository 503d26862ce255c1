// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides together over the fake libraries: every vendor call may fail; and what a preconditioner must
// support.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/pcg_columns.h"
#include "sextant/plugin/kinds/preconditioner_columns.h"
#include "tests/fake_device/pcg_bench.hpp"

namespace {

using namespace fake_test;
using sextant::registry::Registry;

class FakeColumns : public FakeDevice {
 protected:
  void every_call_may_fail(const char *engine, const char *preconditioner, bool complex = false);
};

// Several right-hand sides in captured blocks: every call of building the engine and of a run may fail.
void FakeColumns::every_call_may_fail(const char *engine, const char *preconditioner, bool complex) {
  SCOPED_TRACE(preconditioner);
  if (!Registry::instance().find(engine)) GTEST_SKIP() << "this build has no " << engine;
  constexpr std::int32_t columns = 5;
  Bench bench(engine, complex);
  sextant::Matrix &matrix = *bench.matrix->matrix;
  const std::int32_t parts = complex ? 2 : 1;
  const sextant::DeviceBuffer vectors(bench.device(), 2 * columns * parts * Bench::rows * sizeof(double));
  sxt_pcg_columns_query query{};
  query.one.m = matrix.query_part(SXT_KIND_PCG, sizeof query, 1);
  query.one.m.q.flags |= SXT_QUERY_COLUMNS;
  query.n_rhs = columns;
  query.one.preconditioned = std::string(preconditioner) != "none";
  std::strncpy(query.one.preconditioner, preconditioner, sizeof query.one.preconditioner - 1);
  sextant::Selector selector(matrix.context(), &matrix, {.forced = {{SXT_KIND_PCG, engine}}});
  const sextant::ChoicePtr choice = selector.select({sextant::Query(&query.one.m.q), "pcg-columns"});
  const auto run = [&] {
    sxt_pcg_args one{};
    one.h = {sizeof one, SXT_KIND_PCG};
    one.n = Bench::rows;
    one.max_iterations = 10;
    one.x_is_zero = 1;
    one.confirm = [](void *, const void *, std::int64_t, double, double *, sxt_reason *reason) -> std::int32_t {
      return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
    };
    std::vector<sxt_pcg_args> args(columns, one);
    for (std::int32_t j = 0; j < columns; ++j) {
      args[j].b = vectors.as<double>() + 2 * j * parts * Bench::rows;
      args[j].x = vectors.as<double>() + (2 * j + 1) * parts * Bench::rows;
    }
    sxt_pcg_columns_args all{{sizeof all, SXT_KIND_PCG}, Bench::rows, columns, 0, args.data()};
    sextant::Runner runner(matrix.context(), choice, &matrix);
    runner.run_by(static_cast<const sxt_pcg_columns_ops *>(choice->kernel->table.ops)->run_columns, &all.h);
  };
  EXPECT_THROW(run(), sextant::Error) << "no kernel ran, so no iteration can have been made";
  const std::int64_t before = fake_count("allocations"), graphs = fake_count("graphs");
  std::int64_t n = 1;
  for (bool failed = true; failed; ++n) {
    ASSERT_LT(n, 2000);
    fake_fail(n, FAKE_INVALID_VALUE);
    EXPECT_THROW(run(), sextant::Error);
    failed = fake_failures() > 0;
    fake_fail(0, 0);
    ASSERT_EQ(fake_count("allocations"), before) << "after call " << n << " (" << fake_failed_call() << ") failed";
    ASSERT_EQ(fake_count("graphs"), graphs) << "after call " << n << " (" << fake_failed_call() << ") failed";
  }
  EXPECT_GT(n, 20);
}

TEST_F(FakeColumns, EveryCallMayFail) {
  for (const bool complex : {false, true}) every_call_may_fail("pcg.graph-csr.predict-recompute.cuda", "none", complex);
}

TEST_F(FakeColumns, EveryCallMayFailWithAPreconditioner) {
  for (const char *each : {"none", "fsai", "ssor-ai-2", "block-jacobi:4"})
    for (const bool complex : {false, true})
      every_call_may_fail("pcg.graph-csr-m.predict-recompute.cuda", each, complex);
}

// Its predicted time covers all columns. A preconditioner that takes single vectors only is left to other engines.
// Chebyshev is not tested: its probe finds nothing here.
TEST_F(FakeColumns, APreconditionerMustTakeColumnsSideBySide) {
  const char *const engine = "pcg.graph-csr-m.predict-recompute.cuda";
  if (!Registry::instance().find(engine)) GTEST_SKIP() << "this build has no " << engine;
  const Bench bench("pcg.graph-csr.predict-recompute.cuda");
  sextant::Matrix &matrix = *bench.matrix->matrix;
  sxt_preconditioner_columns_query several{};
  several.one.m = matrix.query_part(SXT_KIND_PRECONDITIONER, sizeof several, 100);
  several.one.m.q.flags |= SXT_QUERY_SIDE_BY_SIDE;
  several.n_rhs = 4;
  std::strcpy(several.one.method, "jacobi");
  try {
    sextant::Selector(matrix.context(), &matrix).select({sextant::Query(&several.one.m.q), "M"});
    ADD_FAILURE() << "jacobi takes one vector at a time";
  } catch (const sextant::Error &problem) {
    EXPECT_THAT(problem.what(), testing::HasSubstr("it takes one vector at a time"));
  }

  sxt_pcg_columns_query query{};
  query.one.m = matrix.query_part(SXT_KIND_PCG, sizeof query, 1);
  query.one.m.q.flags |= SXT_QUERY_COLUMNS;
  query.one.preconditioned = 1;
  sextant::Selector selector(matrix.context(), &matrix, {.forced = {{SXT_KIND_PCG, engine}}});
  const auto seconds = [&](const char *method, std::int32_t columns) {
    std::strncpy(query.one.preconditioner, method, sizeof query.one.preconditioner - 1);
    query.n_rhs = columns;
    return selector.select({sextant::Query(&query.one.m.q), "pcg-columns"})->slots[0].parts.at(0)->run_s;
  };
  for (const char *method : {"fsai", "fsai-2", "ssor-ai", "ssor-ai-2", "block-jacobi:4"}) {
    const double few = seconds(method, 2), many = seconds(method, 32);
    EXPECT_GT(few, 0) << method;
    EXPECT_GT(many, few) << method;
    EXPECT_EQ(seconds(method, 17), many) << method << ": as many as a row of the blocks has";
  }
}

}  // namespace
