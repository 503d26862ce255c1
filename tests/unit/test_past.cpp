// SPDX-License-Identifier: BSD-3-Clause
// Choices that were made before answer for matrices alike, and for no others; nearly equal candidates are told apart by
// how certain their models are.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/calibrate/families.hpp"
#include "core/choose/options.hpp"
#include "core/choose/past.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/matrix/feature_index.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {
namespace {

std::shared_ptr<Context> context_with(bool deterministic = false) {
  ContextSettings settings;
  settings.device = "cpu";
  settings.threads = 1;
  settings.deterministic = deterministic;
  return std::make_shared<Context>(settings);
}

std::unique_ptr<Matrix> matrix_of(const std::shared_ptr<Context> &context, const char *family, std::int64_t nnz) {
  int number = 0;
  while (std::string(family_name(number)) != family) ++number;
  return std::make_unique<Matrix>(context, make_family_matrix(number, nnz, SXT_F64, context->allocator()), SXT_GENERAL);
}

Query product(const Matrix &matrix, double runs = 1000) {
  sxt_spmv_query query{};
  query.m = matrix.query_part(SXT_KIND_SPMV, sizeof query, runs);
  query.n_rhs = 1;
  return Query(&query.m.q);
}

ChoicePtr choose(Matrix &matrix, SelectorOptions options = {}) {
  return Selector(matrix.context(), &matrix, std::move(options)).select({product(matrix), "spmv"});
}

constexpr const char *again = "chosen before for a matrix alike";

TEST(Past, AnswersForAMatrixAlikeWithoutFeatures) {
  const auto context = context_with();
  const auto first = matrix_of(context, "stencil-2d-5", 40000), second = matrix_of(context, "stencil-2d-5", 40000);
  const ChoicePtr decided = choose(*first), repeated = choose(*second);
  EXPECT_NE(decided->reason, again);
  EXPECT_EQ(repeated->reason, again);
  EXPECT_EQ(repeated->kernel, decided->kernel);
  EXPECT_EQ(repeated->storage, decided->storage);
  EXPECT_FALSE(repeated->by_plan);
  EXPECT_EQ(repeated->run_s, decided->run_s);
  for (const char *feature : {"x_miss_cache", "row_nnz_unforeseen"})
    EXPECT_FALSE(second->knows_feature(feature_id(feature))) << feature;
}

TEST(Past, TellsMatricesApart) {
  const auto context = context_with();
  std::set<std::uint64_t> seen;
  int count = 0;
  for (const char *family : {"stencil-2d-5", "stencil-3d-7", "band-21", "uniform-12", "power-law", "blocks-4", "arrow"})
    for (const std::int64_t nnz : {4000, 40000}) {
      const auto matrix = matrix_of(context, family, nnz);
      seen.insert(likeness_of(*context, product(*matrix), *matrix));
      ++count;
    }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(seen.count(0), 0u);
  // One long row, as little as it adds to the entries.
  const auto plain = matrix_of(context, "stencil-2d-5", 40000);
  const Query once = product(*plain, 1), often = product(*plain, 1000);
  EXPECT_NE(likeness_of(*context, once, *plain), likeness_of(*context, often, *plain));
  EXPECT_EQ(likeness_of(*context, often, *plain), likeness_of(*context, product(*plain, 1001), *plain));
}

TEST(Past, HasNoSayWhereAnythingElseHas) {
  const auto context = context_with();
  const auto matrix = matrix_of(context, "stencil-2d-5", 20000);
  choose(*matrix);
  const ChoicePtr decided = choose(*matrix);  // its storage is held now: another question
  EXPECT_EQ(choose(*matrix)->reason, again);
  EXPECT_NE(choose(*matrix, {.asked = 1})->reason, again);
  EXPECT_NE(choose(*matrix, {.left_out = {{decided->kernel, "it declined"}}})->kernel, decided->kernel);
  context->force(SXT_KIND_SPMV, "spmv.coo.serial.cpu");
  EXPECT_EQ(choose(*matrix)->kernel->name(), std::string("spmv.coo.serial.cpu"));
  context->force(SXT_KIND_SPMV, "");
  choose(*matrix);  // it holds another storage now
  EXPECT_EQ(choose(*matrix)->reason, again);
  context->use_profile({});  // other models, other answers
  EXPECT_NE(choose(*matrix)->reason, again);
  const auto deterministic = context_with(true);
  const auto same = matrix_of(deterministic, "stencil-2d-5", 20000);
  choose(*same), choose(*same);
  EXPECT_NE(choose(*same)->reason, again);
}

TEST(Past, AnAnswerThatDoesNotApplyIsForgotten) {
  const auto context = context_with();
  const auto matrix = matrix_of(context, "uniform-12", 20000);
  const std::uint64_t likeness = likeness_of(*context, product(*matrix), *matrix);
  PlanEntry wrong;
  wrong.kernel = "spmv.dia-symmetric.cpu";  // the matrix is not symmetric
  wrong.storage = "sxt.storage.no-such/1";
  const auto past = PastChoices::of(*context);
  past->keep(likeness, wrong);
  const ChoicePtr choice = choose(*matrix);
  EXPECT_NE(choice->reason, again);
  ASSERT_TRUE(past->find(likeness).has_value());
  EXPECT_EQ(past->find(likeness)->kernel, choice->kernel->name());
}

TEST(Robust, BetweenNearEqualsTheMoreCertainWins) {
  registry::Kernel a{}, b{}, c{};
  const auto option = [](const registry::Kernel &kernel, double setup, double total, double error) {
    Option made;
    made.kernel = &kernel;
    made.query.get()->expected_runs = 1;
    made.setup_s = setup;
    made.total_s = total;
    made.run_s = total - setup;
    made.rel_error = error;
    return made;
  };
  std::vector<Option> options = {option(a, 0, 1.00, 0.4), option(b, 0, 1.02, 0.1), option(c, 0, 1.10, 0.0)};
  put_robust_first(options);
  EXPECT_EQ(options[0].kernel, &b);
  EXPECT_EQ(options[1].kernel, &a);
  EXPECT_EQ(options[2].kernel, &c);  // not nearly equal
  options = {option(a, 0, 1.00, 0.1), option(b, 0, 1.02, 0.1)};
  put_robust_first(options);
  EXPECT_EQ(options[0].kernel, &a);
  put_robust_first(options = {});
}

}  // namespace
}  // namespace sextant
