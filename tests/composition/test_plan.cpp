// SPDX-License-Identifier: BSD-3-Clause
// Plans of composed kernels: saved and followed, part by part and alternative by alternative, against a model that
// would now choose otherwise; dropped with a reason where they no longer fit.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.hpp"

namespace composition {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Plan : public HardCase {
 protected:
  void SetUp() override {
    HardCase::SetUp();
    path_ = std::filesystem::temp_directory_path() /
            ("sextant-composition-plan-" + std::to_string(::getpid()) + "-" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml");
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    HardCase::TearDown();
  }
  // The model's choice without knobs: the graph engine with the fused product.
  void save() const {
    const Context context = open_context("deferred");
    const Matrix matrix = make_matrix(context, a_);
    const Selection engine = select(context, pcg_query().m.q, matrix);
    ASSERT_STREQ(sxt_selection_kernel(engine.get()), "pcg.graph.deferred");
    ASSERT_THAT(parts_of(engine), ElementsAre("spmv_dots.dia.deferred"));
    ASSERT_EQ(sxt_plan_save(context.get(), path_.c_str()), SXT_OK) << sxt_last_error(context.get());
  }
  void edit(const std::string &from, const std::string &to) const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf();
    std::string plan = text.str();
    ASSERT_NE(plan.find(from), plan.npos) << plan;
    for (std::size_t at = 0; (at = plan.find(from, at)) != plan.npos; at += to.size())
      plan.replace(at, from.size(), to);
    std::ofstream(path_) << plan;
  }

  const Csr a_ = five_point(20, 20);
  std::filesystem::path path_;
};

TEST_F(Plan, IsFollowedAgainstTheModelDownToTheAlternative) {
  save();
  mock::set_knob("fused.factor", 100);  // by cost the persistent engine, or the pair, would win now
  for (const int required : {0, 1}) {
    const Context context = open_context("deferred");
    const Matrix matrix = make_matrix(context, a_);
    ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), required), SXT_OK) << sxt_last_error(context.get());
    const Selection engine = select(context, pcg_query().m.q, matrix);
    ASSERT_NE(engine, nullptr);
    EXPECT_STREQ(sxt_selection_kernel(engine.get()), "pcg.graph.deferred");
    EXPECT_THAT(parts_of(engine), ElementsAre("spmv_dots.dia.deferred"));
    EXPECT_THAT(reason_for(engine, "pcg.graph.deferred"), HasSubstr("the loaded plan says so"));
    EXPECT_THAT(reason_for(engine, "spmv_dots.dia.deferred"), HasSubstr("the loaded plan says so"));
  }
}

TEST_F(Plan, AForceOverridesIt) {
  save();
  const Context context = open_context("deferred");
  const Matrix matrix = make_matrix(context, a_);
  ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), 1), SXT_OK);
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_PCG, "pcg.persistent.deferred"), SXT_OK);
  EXPECT_STREQ(sxt_selection_kernel(select(context, pcg_query().m.q, matrix).get()), "pcg.persistent.deferred");
}

TEST_F(Plan, AnotherVersionOfAKernelIsDecidedAgainWithTheReason) {
  save();
  edit("version = 1", "version = 7");
  const Context context = open_context("deferred");
  const Matrix matrix = make_matrix(context, a_);
  ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), 0), SXT_OK);
  mock::set_knob("fused.factor", 10);
  const Selection engine = select(context, pcg_query().m.q, matrix);
  EXPECT_THAT(parts_of(engine), ElementsAre("spmv.dia.deferred", "multidot.deferred"));  // the model's choice now
  EXPECT_THAT(reason_for(engine, "pcg.graph.deferred"),
              HasSubstr("version 7 of pcg.graph.deferred, this is version 1"));
  EXPECT_THAT(reason_for(engine, "pcg.graph.deferred"), HasSubstr("decided anew"));

  ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), 1), SXT_OK);
  EXPECT_EQ(try_select(context, pcg_query().m.q, matrix), SXT_E_PLAN);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("version 7"));
}

TEST_F(Plan, APartThatNoLongerAppliesIsDecidedAgainAlone) {
  save();
  mock::set_knob("fused.refuse", 1);
  const Context context = open_context("deferred");
  const Matrix matrix = make_matrix(context, a_);
  ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), 0), SXT_OK);
  const Selection engine = select(context, pcg_query().m.q, matrix);
  EXPECT_STREQ(sxt_selection_kernel(engine.get()), "pcg.graph.deferred");
  EXPECT_THAT(reason_for(engine, "pcg.graph.deferred"), HasSubstr("the loaded plan says so"));
  EXPECT_THAT(parts_of(engine), ElementsAre("spmv.dia.deferred", "multidot.deferred"));

  ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), 1), SXT_OK);
  EXPECT_EQ(try_select(context, pcg_query().m.q, matrix), SXT_E_PLAN);
}

TEST_F(Plan, AnotherPatternHasNoEntry) {
  save();
  const Context context = open_context("deferred");
  const Matrix other = make_matrix(context, five_point(25, 16));  // as many rows, other places
  ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), 0), SXT_OK);
  const Selection engine = select(context, pcg_query().m.q, other);
  EXPECT_THAT(reason_for(engine, "pcg.graph.deferred"), HasSubstr("no entry for this query"));
  ASSERT_EQ(sxt_plan_load(context.get(), path_.c_str(), 1), SXT_OK);
  EXPECT_EQ(try_select(context, pcg_query().m.q, other), SXT_E_PLAN);
}

}  // namespace
}  // namespace composition
