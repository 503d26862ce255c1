// SPDX-License-Identifier: BSD-3-Clause
// The attained accuracy of each recurrence on ill-conditioned systems: no residual is replaced and nothing stops it.
// The measure is the residual computed from x against the rounding of A x itself, ||b - A x|| / (||A|| ||x||).
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "test_parts.hpp"

using namespace pcg_test;

namespace {

const char *const recurrences[] = {"classical", "chronopoulos-gear", "predict-recompute"};

double largest_row_sum(const Matrix<double> &a) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.n; ++i) {
    double sum = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += std::fabs(a.values[k]);
    largest = std::max(largest, sum);
  }
  return largest;
}

// The least that the residual of x comes to in `iterations` iterations, in roundings of A x.
double attained(const char *name, const Matrix<double> &a, std::int64_t iterations,
                const std::vector<double> *diagonal = nullptr) {
  Solve<double> s;
  s.b = noise_vector<double>(a.n, 5);
  double least = HUGE_VAL;
  const Engine<double> engine(name, a, {.diagonal = diagonal});
  // A solve cannot be inspected, so it is made longer step by step.
  for (const double share : {0.25, 0.5, 0.75, 1.0}) {
    s.x.assign(s.b.size(), 0);
    s.tolerance = 0;
    s.max_iterations = static_cast<std::int64_t>(share * static_cast<double>(iterations));
    s.history.clear();
    EXPECT_EQ(engine.solve(s), SXT_OK);
    least = std::min(least, true_residual(a, s.b, s.x) / (largest_row_sum(a) * norm(s.x) * DBL_EPSILON));
  }
  return least;
}

struct Hard {
  const char *name;
  Matrix<double> a;
  std::int64_t iterations;
  double bounds[3];  // roundings that each recurrence stays below
};

// Weights over `decades` on a square grid: the diagonal is never scaled here, so they make the condition.
Matrix<double> weighted(std::int32_t side, double decades) {
  return grid<double>(side, [decades](std::int32_t i) { return std::pow(10.0, 0.5 * decades * noise(i)); });
}

std::vector<Hard> problems() {
  std::vector<Hard> list;
  list.push_back({"1-D Laplacian, n = 1000, condition 4e5", tridiagonal<double>(1000, 2, -1), 3000, {6, 9, 6}});
  list.push_back({"grid 20 x 20, weights over 4 decades", weighted(20, 4), 4000, {1.2, 1.5, 1.2}});
  list.push_back({"grid 12 x 12, weights over 8 decades", weighted(12, 8), 16000, {0.05, 0.5, 0.06}});
  return list;
}

void expect_accuracy(bool with_m) {
  for (const Hard &problem : problems()) {
    std::vector<double> m(static_cast<std::size_t>(problem.a.n));
    for (std::size_t i = 0; i < m.size(); ++i) m[i] = 1 + 0.5 * static_cast<double>(i % 7);
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(std::string(problem.name) + ", " + recurrences[i]);
      const double roundings = attained(recurrences[i], problem.a, problem.iterations, with_m ? &m : nullptr);
      testing::Test::RecordProperty(std::string(recurrences[i]) + " " + problem.name, std::to_string(roundings));
      EXPECT_LT(roundings, problem.bounds[i]);
      EXPECT_GT(roundings, 0);
    }
  }
}

TEST(HostLoop, AttainedAccuracyOnIllConditionedSystems) { expect_accuracy(false); }

// M does not help here, so that the systems stay as hard: z = M r, kept up by recurrence, may lose no more than r does.
TEST(HostLoop, AttainedAccuracyWithAPreconditioner) { expect_accuracy(true); }

}  // namespace
