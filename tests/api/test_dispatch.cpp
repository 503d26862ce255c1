// SPDX-License-Identifier: BSD-3-Clause
// Planned calls: lookups without locks follow every force and plan at the next call, from any thread.
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/vector.h"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

Vector wrap(const Context &context, std::vector<double> &values) {
  return make<Vector>([&](sxt_vector **out) {
    return sxt_vector_wrap(context.get(), static_cast<std::int64_t>(values.size()), SXT_F64, SXT_SPACE_HOST,
                           values.data(), out);
  });
}

std::string tree_text(const Context &context, const char *operation, std::int32_t form = SXT_TEXT) {
  std::string text(1 << 20, '\0');
  EXPECT_EQ(sxt_decision_tree(context.get(), operation, SXT_F64, form, text.data(), 1 << 20, nullptr), SXT_OK)
      << last_error(context);
  return text.c_str();
}

// A kernel for another type cannot serve f64: the force makes the next call fail, and after its end calls succeed.
TEST(DispatchTest, AForceActsAtTheNextDotAndAxpy) {
  const Context context = cpu();
  std::vector<double> x{1, 2}, y{3, 4};
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  double result = 0;
  const double one = 1;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(sxt_dot(vx.get(), vy.get(), &result), SXT_OK);
    ASSERT_EQ(sxt_axpy(&one, vx.get(), vy.get()), SXT_OK);
    EXPECT_EQ(tree_text(context, "dot").find("reduction.reference.cpu"), std::string::npos);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_REDUCTION, "reduction.reference.cpu"), SXT_OK);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_VECTOR, "vector.reference.cpu"), SXT_OK);
    ASSERT_EQ(sxt_dot(vx.get(), vy.get(), &result), SXT_OK);
    ASSERT_EQ(sxt_axpy(&one, vx.get(), vy.get()), SXT_OK);
    EXPECT_NE(tree_text(context, "dot").find("reduction.reference.cpu"), std::string::npos);
    EXPECT_NE(tree_text(context, "axpy").find("vector.reference.cpu"), std::string::npos);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_REDUCTION, nullptr), SXT_OK);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_VECTOR, nullptr), SXT_OK);
  }
  EXPECT_EQ(y[0], 3 + 6 * x[0]);
}

// The plan that a context saves names the kernels its calls ran.
std::string plan_of(const Context &context) {
  const std::string path = testing::TempDir() + "sextant_dispatch_plan_" + std::to_string(getpid()) + ".toml";
  EXPECT_EQ(sxt_plan_save(context.get(), path.c_str()), SXT_OK);
  std::string text;
  if (std::FILE *file = std::fopen(path.c_str(), "r")) {
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, got);
    std::fclose(file);
  }
  return text;
}

TEST(DispatchTest, AForceActsAtTheNextProduct) {
  const Context context = cpu();
  const Matrix matrix = laplacian(5).matrix(context);
  std::vector<double> x(25, 1), y(25, 0);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vx.get(), nullptr, vy.get()), SXT_OK);
  EXPECT_EQ(plan_of(context).find("spmv.coo.serial.cpu"), std::string::npos);
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, "spmv.coo.serial.cpu"), SXT_OK);
  ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vx.get(), nullptr, vy.get()), SXT_OK);
  EXPECT_NE(plan_of(context).find("spmv.coo.serial.cpu"), std::string::npos);
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(y[12], 0);
}

TEST(DispatchTest, ALoadedPlanActsAtTheNextCall) {
  const Context first = cpu(), second = cpu();
  std::vector<double> x{1, 2}, y{3, 4};
  const Vector x1 = wrap(first, x), y1 = wrap(first, y), x2 = wrap(second, x), y2 = wrap(second, y);
  double result = 0;
  ASSERT_EQ(sxt_dot(x2.get(), y2.get(), &result), SXT_OK);  // planned by the model
  ASSERT_EQ(sxt_context_force(first.get(), SXT_KIND_REDUCTION, "reduction.tree.cpu"), SXT_OK);
  ASSERT_EQ(sxt_dot(x1.get(), y1.get(), &result), SXT_OK);
  plan_of(first);
  const std::string path = testing::TempDir() + "sextant_dispatch_plan_" + std::to_string(getpid()) + ".toml";
  // Required: a call that did not look at the plan would not notice that it has no entry for its operation.
  ASSERT_EQ(sxt_plan_load(second.get(), path.c_str(), 1), SXT_OK) << last_error(second);
  EXPECT_EQ(sxt_nrm2(x2.get(), &result), SXT_E_PLAN);
}

TEST(DispatchTest, ThreadsCallWhileAnotherForces) {
  const Context context = cpu(1);
  std::vector<double> x(100, 1), y(100, 2);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, calls{0};
  const auto call = [&] {
    while (!stop) {
      double result = 0;
      if (sxt_dot(vx.get(), vy.get(), &result) != SXT_OK || result != 200) ++wrong;
      ++calls;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(call);
  for (int round = 0; round < 20; ++round)
    sxt_context_force(context.get(), SXT_KIND_REDUCTION, round % 2 ? nullptr : "reduction.reference.cpu");
  while (calls < 50) std::this_thread::yield();
  stop = true;
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(DispatchTest, ContextsMadeOneAfterAnotherDoNotShareAThreadsCache) {
  for (int round = 0; round < 5; ++round) {
    const Context context = cpu(1);
    std::vector<double> x{2}, y{5};
    const Vector vx = wrap(context, x), vy = wrap(context, y);
    double result = 0;
    EXPECT_EQ(sxt_dot(vx.get(), vy.get(), &result), SXT_OK);
    EXPECT_EQ(result, 10);
  }
}

TEST(DispatchTest, AnyLengthIsServedAcrossTheLeaves) {
  const Context context = cpu();
  for (const std::size_t n : {1u, 2u, 3u, 1023u, 1024u, 1025u, 65536u, 65537u, 300000u}) {
    std::vector<double> x(n, 1), y(n, 2);
    const Vector vx = wrap(context, x), vy = wrap(context, y);
    double result = 0;
    EXPECT_EQ(sxt_dot(vx.get(), vy.get(), &result), SXT_OK) << last_error(context);
    EXPECT_EQ(result, 2.0 * static_cast<double>(n));
  }
}

TEST(DecisionTreeApiTest, FormsNamesAndErrors) {
  const Context context = cpu();
  EXPECT_NE(tree_text(context, "dot").find("reduction."), std::string::npos);
  EXPECT_EQ(tree_text(context, "axpy", SXT_JSON).front(), '{');
  EXPECT_EQ(tree_text(context, "axpy", SXT_SVG).rfind("<svg", 0), 0u);
  EXPECT_NE(tree_text(context, "multidot-2", SXT_TOML).find("[[leaf]]"), std::string::npos);
  std::int64_t length = 0;
  EXPECT_EQ(sxt_decision_tree(context.get(), "axpyy", SXT_F64, SXT_TEXT, nullptr, 0, &length), SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(context).find("'axpy'"), std::string::npos) << last_error(context);
  EXPECT_EQ(sxt_decision_tree(context.get(), "dot", 99, SXT_TEXT, nullptr, 0, &length), SXT_E_TYPE);
  EXPECT_EQ(sxt_decision_tree(context.get(), "dot", SXT_F64, 4, nullptr, 0, &length), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_decision_tree(context.get(), nullptr, SXT_F64, SXT_TEXT, nullptr, 0, &length), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_decision_tree(nullptr, "dot", SXT_F64, SXT_TEXT, nullptr, 0, &length), SXT_E_ARGUMENT);
  std::int64_t names = 0;
  while (sxt_decision_tree_operation(names)) ++names;
  EXPECT_GT(names, 20);
  EXPECT_EQ(sxt_decision_tree_operation(-1), nullptr);
}

}  // namespace
}  // namespace api_test
