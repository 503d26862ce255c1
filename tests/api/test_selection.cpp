// SPDX-License-Identifier: BSD-3-Clause
// Any kernel of any kind through the C interface, and plans on disk.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/spmv.h"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

sxt_reduction_query sum_of(std::int64_t n) {
  sxt_reduction_query query{};
  query.q.h = {sizeof query, SXT_KIND_REDUCTION};
  query.q.expected_runs = 10;
  query.q.value_type = SXT_F64;
  query.n = n;
  query.operation = SXT_REDUCTION_SUM;
  return query;
}

TEST(SelectionTest, AReductionFromQueryToResult) {
  const Context context = cpu();
  const sxt_reduction_query query = sum_of(3);
  const Selection selection =
      make<Selection>([&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.q, nullptr, out); });
  const double x[] = {1, 2, 4};
  double result = 0;
  sxt_reduction_args args{};
  args.h = {sizeof args, SXT_KIND_REDUCTION};
  args.n = 3;
  args.operation = SXT_REDUCTION_SUM;
  args.x = x;
  args.result = &result;
  EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_OK) << last_error(context);
  EXPECT_EQ(result, 7);
  double run = -1;
  EXPECT_EQ(sxt_selection_cost(selection.get(), nullptr, &run), SXT_OK);
  EXPECT_GT(run, 0);
  args.h.kind = SXT_KIND_SPMV;
  EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_E_ARGUMENT);
}

TEST(SelectionTest, ARunIsTimed) {
  const Context context = cpu();
  const sxt_reduction_query query = sum_of(3);
  const Selection selection =
      make<Selection>([&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.q, nullptr, out); });
  const double x[] = {1, 2, 4}, y[] = {8, 16, 32};
  double first = 0, second = 0;
  sxt_reduction_args args[2]{};
  for (sxt_reduction_args &each : args) {
    each.h = {sizeof each, SXT_KIND_REDUCTION};
    each.n = 3;
    each.operation = SXT_REDUCTION_SUM;
  }
  args[0].x = x, args[0].result = &first;
  args[1].x = y, args[1].result = &second;
  sxt_head *heads[] = {&args[0].h, &args[1].h};
  double seconds = -1, noise = -1;
  ASSERT_EQ(sxt_selection_time(selection.get(), heads, 2, 1e-3, &seconds, &noise), SXT_OK) << last_error(context);
  EXPECT_GT(seconds, 0);
  EXPECT_GE(noise, 0);
  EXPECT_EQ(first, 7);  // both took their turns
  EXPECT_EQ(second, 56);
  EXPECT_EQ(sxt_selection_time(selection.get(), heads, 1, 0, nullptr, nullptr), SXT_OK);
  EXPECT_EQ(sxt_selection_time(selection.get(), heads, 0, 0, &seconds, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_selection_time(selection.get(), nullptr, 1, 0, &seconds, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_selection_time(selection.get(), heads, 1, -1, &seconds, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_selection_time(nullptr, heads, 1, 0, &seconds, nullptr), SXT_E_ARGUMENT);
  args[1].h.kind = SXT_KIND_SPMV;
  EXPECT_EQ(sxt_selection_time(selection.get(), heads, 2, 0, &seconds, nullptr), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("args[1]"), std::string::npos);
}

TEST(SelectionTest, WhatIsTimedHasTheNewValues) {
  const Context context = cpu();
  const Csr a = diagonal({2, 4}), later = diagonal({8, 16});
  const Matrix matrix = a.matrix(context);
  sxt_preconditioner_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_PRECONDITIONER};
  query.m.q.flags = SXT_QUERY_MATRIX;
  std::strcpy(query.method, "jacobi");
  const Selection selection = make<Selection>(
      [&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.m.q, matrix.get(), out); });
  later.update(matrix);
  const double r[] = {1, 1};
  double z[] = {0, 0};
  sxt_preconditioner_args args{};
  args.h = {sizeof args, SXT_KIND_PRECONDITIONER};
  args.n = 2;
  args.r = r;
  args.z = z;
  sxt_head *head = &args.h;
  ASSERT_EQ(sxt_selection_time(selection.get(), &head, 1, 0, nullptr, nullptr), SXT_OK) << last_error(context);
  EXPECT_DOUBLE_EQ(z[0], 1.0 / 8);
  EXPECT_DOUBLE_EQ(z[1], 1.0 / 16);
}

// The side effects of a choice: no storage is built.
TEST(SelectionTest, APredictionLeavesNoStorage) {
  Lender lender;
  const Context context = lender.context();
  const Matrix matrix = laplacian(30).matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, "spmv.dia.cpu"), SXT_OK) << last_error(context);
  const std::int64_t before = lender.held;
  for (const bool builds : {false, true}) {
    sxt_spmv_query query = product_query(100);
    if (!builds) query.m.q.flags |= SXT_QUERY_PREDICT_ONLY;
    const Selection selection = make<Selection>(
        [&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.m.q, matrix.get(), out); });
    EXPECT_STREQ(sxt_selection_kernel(selection.get()), "spmv.dia.cpu");
    if (builds)
      EXPECT_GT(lender.held, before);
    else
      EXPECT_EQ(lender.held, before);
  }
}

TEST(SelectionTest, QueriesThatCannotBeAreRefused) {
  const Context context = cpu();
  sxt_selection *none = nullptr;
  sxt_reduction_query query = sum_of(3);
  query.q.h.kind = "sxt.reductoin/1";
  EXPECT_EQ(sxt_kernel_select(context.get(), &query.q, nullptr, &none), SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(context).find("sxt.reduction/1"), std::string::npos) << last_error(context);
  query = sum_of(3);
  query.q.h.struct_size = 4;
  EXPECT_EQ(sxt_kernel_select(context.get(), &query.q, nullptr, &none), SXT_E_ARGUMENT);
  query = sum_of(3);
  query.operation = 99;
  EXPECT_EQ(sxt_kernel_select(context.get(), &query.q, nullptr, &none), SXT_E_NO_KERNEL);
  EXPECT_NE(last_error(context).find("reduction.tree.cpu"), std::string::npos) << last_error(context);
  for (const sxt_value_type type : {34, -1}) {
    query = sum_of(3);
    query.q.value_type = type;
    EXPECT_EQ(sxt_kernel_select(context.get(), &query.q, nullptr, &none), SXT_E_TYPE);
  }
  const sxt_spmv_query product = product_query(1);
  EXPECT_EQ(sxt_kernel_select(context.get(), &product.m.q, nullptr, &none), SXT_E_ARGUMENT);
  EXPECT_EQ(none, nullptr);
}

TEST(SelectionTest, AForcedKernelIsTakenAndExplained) {
  const Context context = cpu();
  const Matrix matrix = laplacian(10).matrix(context);
  EXPECT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", "spmv.coo.serial.cpu"), SXT_OK);
  const sxt_spmv_query query = product_query(100);
  const auto select = [&] {
    return make<Selection>(
        [&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.m.q, matrix.get(), out); });
  };
  const Selection forced = select();
  EXPECT_STREQ(sxt_selection_kernel(forced.get()), "spmv.coo.serial.cpu");
  EXPECT_NE(explain(forced).find("forced by call"), std::string::npos) << explain(forced);
  EXPECT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", nullptr), SXT_OK);
  EXPECT_STRNE(sxt_selection_kernel(select().get()), "spmv.coo.serial.cpu");
}

class PlanTest : public testing::Test {
 protected:
  std::string path = testing::TempDir() + "sextant_plan_test_" + std::to_string(getpid()) + ".toml";

  std::string saved() const {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string &text) const { std::ofstream(path) << text; }
  static Selection select(const Context &context, const Matrix &matrix) {
    const sxt_spmv_query query = product_query(100);
    return make<Selection>(
        [&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.m.q, matrix.get(), out); });
  }
};

TEST_F(PlanTest, WhatWasForcedOnceIsFollowedLater) {
  const Csr a = laplacian(10);
  {
    const Context context = cpu();
    const Matrix matrix = a.matrix(context);
    sxt_context_force(context.get(), "sxt.spmv/1", "spmv.coo.serial.cpu");
    select(context, matrix);
    ASSERT_EQ(sxt_plan_save(context.get(), path.c_str()), SXT_OK) << last_error(context);
  }
  const Context context = cpu();
  const Matrix matrix = a.matrix(context);
  ASSERT_EQ(sxt_plan_load(context.get(), path.c_str(), 1), SXT_OK) << last_error(context);
  const Selection planned = select(context, matrix);
  EXPECT_STREQ(sxt_selection_kernel(planned.get()), "spmv.coo.serial.cpu");
  EXPECT_NE(explain(planned).find("the loaded plan says so"), std::string::npos);
  const Matrix other = laplacian(11).matrix(context);  // a pattern the plan knows nothing of
  sxt_selection *none = nullptr;
  const sxt_spmv_query query = product_query(100);
  EXPECT_EQ(sxt_kernel_select(context.get(), &query.m.q, other.get(), &none), SXT_E_PLAN);
  ASSERT_EQ(sxt_plan_load(context.get(), path.c_str(), 0), SXT_OK);
  EXPECT_NE(explain(select(context, other)).find("no entry for this query"), std::string::npos);
}

TEST_F(PlanTest, AnEntryOfAnotherVersionIsDecidedAnewWithItsReason) {
  const Context context = cpu();
  const Matrix matrix = laplacian(10).matrix(context);
  sxt_context_force(context.get(), "sxt.spmv/1", "spmv.coo.serial.cpu");
  select(context, matrix);
  ASSERT_EQ(sxt_plan_save(context.get(), path.c_str()), SXT_OK);
  sxt_context_force(context.get(), "sxt.spmv/1", nullptr);
  std::string text = saved();
  const auto at = text.find("version = 1");
  ASSERT_NE(at, std::string::npos) << text;
  write(text.replace(at, 11, "version = 7"));
  ASSERT_EQ(sxt_plan_load(context.get(), path.c_str(), 0), SXT_OK);
  const Selection selection = select(context, matrix);
  EXPECT_STRNE(sxt_selection_kernel(selection.get()), "spmv.coo.serial.cpu");
  EXPECT_NE(explain(selection).find("version 7"), std::string::npos) << explain(selection);
}

TEST_F(PlanTest, APlanWithoutEntriesCanBeRequired) {
  const Context empty = cpu();
  ASSERT_EQ(sxt_plan_save(empty.get(), path.c_str()), SXT_OK);
  ASSERT_EQ(sxt_plan_load(empty.get(), path.c_str(), 1), SXT_OK) << last_error(empty);
  const Matrix matrix = laplacian(10).matrix(empty);
  const sxt_spmv_query query = product_query(100);
  sxt_selection *none = nullptr;
  EXPECT_EQ(sxt_kernel_select(empty.get(), &query.m.q, matrix.get(), &none), SXT_E_PLAN);
}

TEST_F(PlanTest, NumbersThatCannotBeAreDamage) {
  const Context context = cpu();
  const Matrix matrix = laplacian(10).matrix(context);
  select(context, matrix);
  ASSERT_EQ(sxt_plan_save(context.get(), path.c_str()), SXT_OK);
  const std::string good = saved();
  const auto loads_with = [&](const std::string &name, const std::string &value) {
    const std::size_t at = good.find("\n" + name + " = ", good.find("[[entry]]")) + 1;
    EXPECT_NE(at, std::string::npos + 1) << good;
    write(good.substr(0, at) + name + " = " + value + good.substr(good.find('\n', at)));
    return sxt_plan_load(context.get(), path.c_str(), 1);
  };
  EXPECT_EQ(loads_with("version", "1"), SXT_OK) << last_error(context);
  EXPECT_EQ(loads_with("version", "-1"), SXT_E_PLAN);
  EXPECT_EQ(loads_with("version", "4294967297"), SXT_E_PLAN);
  EXPECT_EQ(loads_with("launch", "[ 1.5, 0, 0, 0 ]"), SXT_E_PLAN);
  EXPECT_NE(last_error(context).find("four integers"), std::string::npos) << last_error(context);
}

TEST_F(PlanTest, EveryMismatchHasItsReason) {
  const Context context = cpu();
  const Matrix matrix = laplacian(10).matrix(context);
  select(context, matrix);
  ASSERT_EQ(sxt_plan_save(context.get(), path.c_str()), SXT_OK);
  const std::string good = saved();
  const auto reason_after = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    // After the header, so that the entry's own machine is meant.
    const auto at = text.find(from, text.find("[[entry]]"));
    EXPECT_NE(at, std::string::npos) << from << " in " << text;
    if (at != std::string::npos) write(text.replace(at, from.size(), to));
    EXPECT_EQ(sxt_plan_load(context.get(), path.c_str(), 0), SXT_OK);
    return explain(select(context, matrix));
  };
  const auto expect = [](const std::string &text, const char *words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect(reason_after("role = 'sxt.spmv/1'", "role = 'another'"), "nothing in it has the role sxt.spmv/1");
  expect(reason_after("kind = 'sxt.spmv/1'", "kind = 'sxt.other/1'"), "is of kind sxt.other/1");
  expect(reason_after("value_type = 'f64'", "value_type = 'f32'"), "the loaded plan says so");  // the query decides
  expect(reason_after("query = '", "query = '1'\nold_query = '"), "was made for other sizes, flags or numbers of runs");
  expect(reason_after("pattern = '", "pattern = '1'\nold_pattern = '"), "was made for a matrix of another pattern");
  expect(reason_after("machine = '", "machine = 'other "), "was made on 'other ");
  expect(reason_after("kernel = 'spmv.", "kernel = 'gone."), "does not apply here any more");
  expect(reason_after("version = ", "version = 9"), "the plan was made with version 9");
}

TEST_F(PlanTest, PlansOfOtherMachinesAreNotFollowed) {
  const Context two = cpu(2), one = cpu(1);
  const Matrix matrix = laplacian(10).matrix(two);
  select(two, matrix);
  ASSERT_EQ(sxt_plan_save(two.get(), path.c_str()), SXT_OK);
  EXPECT_EQ(sxt_plan_load(one.get(), path.c_str(), 1), SXT_E_PLAN);
  EXPECT_EQ(sxt_plan_load(one.get(), path.c_str(), 0), SXT_OK);
  EXPECT_EQ(sxt_plan_load(one.get(), "/nonexistent/plan.toml", 0), SXT_E_FILE_READ);
}

TEST_F(PlanTest, PlansThatCannotBeWrittenAreNamed) {
  const Context context = cpu();
  EXPECT_EQ(sxt_plan_save(context.get(), "/nonexistent/plan.toml"), SXT_E_FILE_WRITE);
  EXPECT_NE(last_error(context).find("/nonexistent/plan.toml"), std::string::npos);
}

TEST(SelectionTest, AMatrixOfNoTypeIsNamed) {
  const Context context = cpu();
  const sxt_spmv_query query = product_query(1);
  sxt_selection *out = nullptr;
  sxt_spmv_query none = query;
  none.m.q.flags &= ~SXT_QUERY_MATRIX;
  none.m.q.value_type = SXT_F64;
  EXPECT_EQ(sxt_kernel_select(context.get(), &none.m.q, nullptr, &out), SXT_E_NO_KERNEL);
  EXPECT_NE(last_error(context).find("a matrix of type unknown"), std::string::npos) << last_error(context);
}

}  // namespace
}  // namespace api_test
