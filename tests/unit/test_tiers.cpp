// SPDX-License-Identifier: BSD-3-Clause
// Tiers of features are computed as far as they matter to a choice, and again for kernels that lead later.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "core/calibrate/families.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/matrix/feature_index.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {
namespace {

// A matrix of the family, and the choice for so many products with it, with features for at most so many seconds.
struct Chosen {
  explicit Chosen(const char *family, std::int64_t nnz, double runs, const Profile &profile,
                  double spending = HUGE_VAL) {
    ContextSettings settings;
    settings.device = "cpu";
    settings.threads = 2;
    const auto context = std::make_shared<Context>(settings);
    context->use_profile(profile);
    int number = 0;
    while (std::string(family_name(number)) != family) ++number;
    matrix =
        std::make_unique<Matrix>(context, make_family_matrix(number, nnz, SXT_F64, context->allocator()), SXT_GENERAL);
    sxt_spmv_query query{};
    query.m = matrix->query_part(SXT_KIND_SPMV, sizeof query, runs);
    query.n_rhs = 1;
    choice = Selector(*context, matrix.get(), {.most_features_s = spending}).select({Query(&query.m.q), "spmv"});
    held_back = choice->held_back;
  }
  bool knows(const char *feature) const { return matrix->knows_feature(feature_id(feature)); }
  std::unique_ptr<Matrix> matrix;
  ChoicePtr choice;
  bool held_back = false;
};

TEST(Tiers, StayShutWhereNothingIsAtStake) {
  const Chosen chosen("uniform-3", 100000, 1, {});
  EXPECT_FALSE(chosen.knows("x_miss_cache"));
  EXPECT_FALSE(chosen.knows("diagonals"));
}

// Diagonals seem best by far until a sample shows that there are too many. The kernel that leads then was not close
// before, so features for it were not computed yet.
TEST(Tiers, RiseAgainForKernelsThatLeadLater) {
  Profile profile;
  for (const char *kernel : {"spmv.dia.cpu", "spmv_dots.dia.cpu"}) profile.kernels[kernel] = {0.02, 0.1};
  const Chosen chosen("uniform-3", 200000, 1e5, profile);
  EXPECT_NE(chosen.choice->kernel->name(), std::string("spmv.dia.cpu"));
  EXPECT_TRUE(chosen.knows("diagonals_least"));
  EXPECT_TRUE(chosen.knows("row_nnz_max"));
}

// A choice without time for features uses what is known, and reports that more features could help.
TEST(Tiers, NoMoreIsSpentThanAllowed) {
  Profile profile;
  for (const char *kernel : {"spmv.dia.cpu", "spmv_dots.dia.cpu"}) profile.kernels[kernel] = {0.02, 0.1};
  const Chosen nothing("uniform-3", 200000, 1e5, profile, 0), enough("uniform-3", 200000, 1e5, profile, 1);
  EXPECT_TRUE(nothing.held_back);
  EXPECT_FALSE(nothing.knows("diagonals_least"));
  EXPECT_FALSE(enough.held_back);
  EXPECT_TRUE(enough.knows("diagonals_least"));
  EXPECT_FALSE(Chosen("uniform-3", 100000, 1, {}, 0).held_back);  // nothing is at stake
}

// Kernels that a tier does not concern keep their predictions: the list is the same as if all were asked with all
// features.
TEST(Tiers, AskingSomeAgainIsLikeAskingAll) {
  Profile profile;
  for (const char *kernel : {"spmv.dia.cpu", "spmv_dots.dia.cpu"}) profile.kernels[kernel] = {0.02, 0.1};
  const Chosen chosen("uniform-3", 200000, 1e5, profile);
  ASSERT_TRUE(chosen.knows("diagonals_least"));
  const ChoicePtr again =
      Selector(chosen.matrix->context(), chosen.matrix.get()).select({chosen.choice->query, "spmv"});
  const auto lines = [](const ChoicePtr &choice) {
    std::multiset<std::tuple<std::string, std::string, std::int64_t, double, double>> all;
    for (const Considered &line : choice->considered)
      all.insert({line.kernel, line.format, line.launch[0], line.run_s, line.rel_error});
    return all;
  };
  EXPECT_EQ(lines(again), lines(chosen.choice));
}

}  // namespace
}  // namespace sextant
