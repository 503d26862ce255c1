// SPDX-License-Identifier: BSD-3-Clause
// Which order is chosen, with orderings and models that are made up.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/cholesky/choose.hpp"

namespace {

using namespace sextant;
using namespace sextant::cholesky;

// An arrow whose head comes first: eliminated as it is it fills up, the other way round not at all.
constexpr std::int64_t n = 60;
Graph arrow() {
  Graph g{n, Array<std::int64_t>(n + 1), Array<std::int32_t>(2 * (n - 1))};
  g.row_ptr[0] = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    g.row_ptr[i + 1] = n - 1 + i;
    for (std::int32_t k = 1; i == 0 && k < n; ++k) g.col[k - 1] = k;
    if (i > 0) g.col[n - 2 + i] = 0;
  }
  return g;
}

class Question {
 public:
  Question() {
    question.factor_seconds = [](const sxt_cholesky_query &q) { return q.flops; };
    question.order_seconds = [this](const std::string &method) { return costs.count(method) ? costs.at(method) : -1; };
    question.order = [this](const std::string &method) {
      asked.push_back(method);
      if (method == "grid" && !is_grid) fail(SXT_E_NOT_SUPPORTED, "no grid");
      Order out{Array<std::int32_t>(n), costs.at(method)};
      for (std::int32_t k = 0; k < n; ++k)
        out.perm[k] = backward.count(method) ? static_cast<std::int32_t>(n - 1 - k) : k;
      return out;
    };
  }
  ChosenOrder choose() { return choose_order(arrow(), question); }
  OrderQuestion question;
  std::map<std::string, double> costs{{"grid", 1}, {"amd", 1}, {"dissection", 1}, {"natural", 0}};
  std::set<std::string> backward;  // methods that find the good order
  std::vector<std::string> asked;
  bool is_grid = false;
};

TEST(CholeskyChooseTest, TheBetterOfTwoIsTaken) {
  Question q;
  q.backward = {"dissection"};
  const ChosenOrder chosen = q.choose();
  EXPECT_EQ(chosen.method, "dissection");
  EXPECT_EQ(chosen.elimination.nnz_l, 2 * n - 1);
  EXPECT_THAT(q.asked, testing::ElementsAre("grid", "amd", "dissection"));
  ASSERT_EQ(chosen.tried.size(), 3u);
  EXPECT_EQ(chosen.tried[0].why_not, "no grid");
  EXPECT_GT(chosen.tried[1].query.flops, chosen.tried[2].query.flops);
  Question other;
  other.backward = {"amd"};
  EXPECT_EQ(other.choose().method, "amd");
}

TEST(CholeskyChooseTest, AGridIsComparedWithMinimumDegreeWhereThatMayPay) {
  Question full;  // as good as minimum degree
  full.is_grid = true;
  full.question.factor_seconds = [](const sxt_cholesky_query &q) { return 10 * q.flops; };
  EXPECT_EQ(full.choose().method, "grid");
  EXPECT_THAT(full.asked, testing::ElementsAre("grid", "amd"));
  Question holes;
  holes.is_grid = true;
  holes.backward = {"dissection"};
  holes.question.factor_seconds = [&](const sxt_cholesky_query &q) { return q.flops; };
  holes.backward.insert("amd");
  holes.costs["dissection"] = 1e9;
  EXPECT_EQ(holes.choose().method, "amd");
  EXPECT_THAT(holes.asked, testing::ElementsAre("grid", "amd"));
  Question cheap;
  cheap.is_grid = true;
  cheap.costs["amd"] = 1e12;
  EXPECT_EQ(cheap.choose().method, "grid");
  EXPECT_THAT(cheap.asked, testing::ElementsAre("grid"));
}

TEST(CholeskyChooseTest, DissectionIsNotTriedWhereItCannotPay) {
  Question q;
  q.costs["dissection"] = 1e9;
  const ChosenOrder chosen = q.choose();
  EXPECT_EQ(chosen.method, "amd");
  EXPECT_THAT(q.asked, testing::ElementsAre("grid", "amd"));
  EXPECT_THAT(chosen.tried.back().why_not, testing::HasSubstr("it would take"));
  q.asked.clear();
  q.question.expected_factors = 1e9;
  q.choose();
  EXPECT_THAT(q.asked, testing::Contains("dissection"));
}

// An order without fill cannot be improved on, however many factorisations there are.
TEST(CholeskyChooseTest, NothingIsTriedAgainstAnOrderWithoutFill) {
  Question q;
  q.backward = {"amd"};
  q.question.expected_factors = 1e9;
  const ChosenOrder chosen = q.choose();
  EXPECT_EQ(chosen.method, "amd");
  EXPECT_EQ(chosen.elimination.nnz_l, 2 * n - 1);
  EXPECT_THAT(q.asked, testing::ElementsAre("grid", "amd"));
  EXPECT_THAT(chosen.tried.back().why_not, testing::HasSubstr("save at most 0 s"));
}

TEST(CholeskyChooseTest, TheBestOptionsAreTaken) {
  Question q;
  SupernodeOptions apart;
  apart.amalgamation = 0;
  q.question.options = {SupernodeOptions{}, apart};
  q.question.factor_seconds = [](const sxt_cholesky_query &each) { return each.amalgamation ? 2.0 : 1.0; };
  EXPECT_EQ(q.choose().partition.options.amalgamation, 0);
}

TEST(CholeskyChooseTest, WithoutAnyOrderingItSaysWhy) {
  Question q;
  q.costs.clear();
  try {
    q.choose();
    FAIL();
  } catch (const Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_NO_KERNEL);
    EXPECT_THAT(problem.what(), testing::HasSubstr("amd: no kernel offers it"));
  }
}

}  // namespace
