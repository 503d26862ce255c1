// SPDX-License-Identifier: BSD-3-Clause
// Kernels whose instructions code for older devices lacks: they refuse a newer generation than the build holds code
// for, because code translated from the older PTX would silently give wrong answers.
#include <gmock/gmock.h>

#include <string>

#include "fixture.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/reduction.h"
#include "tests/plugins/support.hpp"

namespace {

using fake_test::FakeDevice;

std::string refusal(const char *plugin, const char *kernel, const sxt_query &query, std::int32_t level) {
  return plugin_test::refusal(plugin_test::find_kernel(plugin_test::load_own(plugin, "cuda"), kernel), &query,
                              plugin_test::make_gpu(level));
}

void expect_own_code(const char *plugin, const char *kernel, const sxt_query &query) {
  EXPECT_EQ(refusal(plugin, kernel, query, 90), "") << kernel;
  EXPECT_THAT(refusal(plugin, kernel, query, 120), testing::HasSubstr("no code made for compute capability 12.0"))
      << kernel;
}

class Generations : public FakeDevice {};

TEST_F(Generations, NewerOnesThanTheBuildIsForAreRefused) {
  sxt_reduction_query sum{};
  sum.q = {{sizeof sum, SXT_KIND_REDUCTION}, 1, 0, SXT_F64};
  sum.n = 1000, sum.operation = SXT_REDUCTION_SUM;
  expect_own_code("reduction-cuda-packets", "reduction.packets.cuda", sum.q);
  expect_own_code("reduction-cuda-cluster", "reduction.cluster.cuda", sum.q);

  sxt_multidot_query dots{};
  dots.q = {{sizeof dots, SXT_KIND_MULTIDOT}, 1, 0, SXT_F64};
  dots.n = 1000, dots.n_dots = 2, dots.distinct = 3;
  expect_own_code("multidot-cuda", "multidot.packets.cuda", dots.q);
  EXPECT_EQ(refusal("multidot-cuda", "multidot.single-pass.cuda", dots.q, 120), "") << "it needs nothing new";

  sxt_hermitian_query set{};
  set.q = {{sizeof set, SXT_KIND_HERMITIAN}, 1, 0, SXT_F64};
  set.batch = 10, set.n_max = set.n_min = 200, set.n_rhs = 1;
  set.phase = SXT_HERMITIAN_FACTOR, set.definiteness = SXT_HERMITIAN_DEFINITE, set.triangle = SXT_LOWER;
  expect_own_code("hermitian-panel-cuda", "hermitian.panel.cuda", set.q);

  sxt_pcg_query solve{};
  solve.m.q = {{sizeof solve, SXT_KIND_PCG}, 1, 0, SXT_F64};
  solve.m.rows = solve.m.cols = 1000, solve.m.nnz = 5000;
  solve.m.matrix_type = SXT_F64, solve.m.symmetry = SXT_SYMMETRIC;
  solve.recurrence = SXT_RECURRENCE_PREDICT_RECOMPUTE;
  expect_own_code("pcg-persistent", "pcg.persistent.predict-recompute.cuda", solve.m.q);
}

}  // namespace
