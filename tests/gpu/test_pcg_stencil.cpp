// SPDX-License-Identifier: BSD-3-Clause
// The stencil engine of conjugate gradients: every form of stencil with coefficients that all differ, boxes whose
// planes are no multiple of the tiles, the textbook's iterates, failures with their iteration, limits, new values,
// equal bits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "pcg.hpp"

namespace {

using namespace gpu_test;
using testing::HasSubstr;

const char *const engine = "pcg.stencil.predict-recompute.cuda";

struct Box {
  int points, nx, ny, nz;
  std::string name() const {
    return "points" + std::to_string(points) + "_" + std::to_string(nx) + "x" + std::to_string(ny) + "x" +
           std::to_string(nz);
  }
};

// A symmetric matrix with a different coefficient for each pair of neighbours; diagonally dominant.
Csr grid(const Box &box, double dominance = 0.05) {
  Csr a;
  a.rows = a.cols = static_cast<std::int64_t>(box.nx) * box.ny * box.nz;
  const auto weight = [&](std::int64_t i, std::int64_t j) {
    return -1 - 0.4 * std::sin(0.37 * static_cast<double>(std::min(i, j)) + 0.11 * static_cast<double>(std::max(i, j)));
  };
  const bool corners = box.points == 9 || box.points == 27;
  for (int z = 0; z < box.nz; ++z)
    for (int y = 0; y < box.ny; ++y)
      for (int x = 0; x < box.nx; ++x) {
        const std::int64_t i = (static_cast<std::int64_t>(z) * box.ny + y) * box.nx + x;
        double sum = dominance;
        std::size_t diagonal = 0;
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
              const int distance = std::abs(dx) + std::abs(dy) + std::abs(dz);
              if (distance > 1 && !corners) continue;
              if (x + dx < 0 || x + dx >= box.nx || y + dy < 0 || y + dy >= box.ny || z + dz < 0 || z + dz >= box.nz)
                continue;
              const std::int64_t j = i + (static_cast<std::int64_t>(dz) * box.ny + dy) * box.nx + dx;
              if (j == i) diagonal = a.values.size();
              const double value = j == i ? 0 : weight(i, j);
              sum -= value;
              a.entry(static_cast<std::int32_t>(j), value);
            }
        a.values[diagonal] = sum;
        a.end_row();
      }
  return a;
}

class PcgSymmetric : public PcgGpu {
 protected:
  template <class T = double>
  Matrix symmetric(const Csr &a, sxt_value_type type = SXT_F64) {
    sxt_matrix_options options = api_test::matrix_options();
    options.symmetry = SXT_SYMMETRIC;
    options.value_type = type;
    const std::vector<T> values(a.values.begin(), a.values.end());
    return api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context_.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), values.data(), &options,
                                 out);
    });
  }
};

class PcgStencil : public PcgSymmetric, public testing::WithParamInterface<Box> {};

TEST_P(PcgStencil, MeetsTheTolerance) {
  const Csr a = grid(GetParam());
  const Matrix matrix = symmetric(a);
  const Pcg pcg = create(matrix, engine);
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  const sxt_pcg_report report = solve(pcg, b, x);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-9);
  EXPECT_THAT(api_test::explain(pcg), HasSubstr(engine));
  std::vector<double> again(b.size());
  solve(pcg, b, again);
  EXPECT_EQ(x, again);
}

// The textbook's loop, an iterate at a time, from x = 0.
struct Textbook {
  const Csr &a;
  std::vector<double> r, p, x;
  double gamma;
  Textbook(const Csr &matrix, const std::vector<double> &b) : a(matrix), r(b), p(b), x(b.size()), gamma(dot(r, r)) {}
  static double dot(const std::vector<double> &u, const std::vector<double> &v) {
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
    return sum;
  }
  void step() {
    const std::vector<double> q = a.times(p);
    const double alpha = gamma / dot(p, q);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i], x[i] += alpha * p[i];
    const double next = dot(r, r);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + next / gamma * p[i];
    gamma = next;
  }
};

TEST_P(PcgStencil, FollowsTheTextbookRecurrence) {
  const Csr a = grid(GetParam());
  const std::vector<double> b = waves(a.rows);
  std::vector<double> history(40), x(b.size());
  volatile std::int64_t length = 0;
  sxt_solve_options options = api_test::solve_options();
  options.history = history.data();
  options.history_capacity = static_cast<std::int64_t>(history.size());
  options.history_length = &length;
  const Matrix matrix = symmetric(a);
  solve(create(matrix, engine, "none", 1e-12), b, x, SXT_OK, &options);
  ASSERT_GE(length, 10);

  Textbook textbook(a, b);
  for (std::int64_t k = 0; k < length; ++k, textbook.step())
    EXPECT_NEAR(history[static_cast<std::size_t>(k)] / std::sqrt(textbook.gamma), 1, 1e-5) << "iterate " << k;
}

// x is updated every second iteration: it must be complete wherever a solve ends.
TEST_P(PcgStencil, EveryIterateHasItsX) {
  const Csr a = grid(GetParam());
  const std::vector<double> b = waves(a.rows);
  const Matrix matrix = symmetric(a);
  const Pcg pcg = create(matrix, engine, "none", 1e-12);
  std::vector<double> x(b.size());
  sxt_solve_options options = api_test::solve_options();
  Textbook textbook(a, b);
  for (std::int64_t k = 1; k <= 7; ++k) {
    textbook.step();
    options.max_iterations = k;
    solve(pcg, b, x, SXT_NOT_CONVERGED, &options);
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, std::fabs(x[i] - textbook.x[i]));
      largest = std::max(largest, std::fabs(textbook.x[i]));
    }
    EXPECT_LE(worst, 1e-10 * largest) << "iterate " << k;
  }
}

TEST_P(PcgStencil, SinglePrecision) {
  const Csr a = grid(GetParam(), 0.5);
  const Matrix matrix = symmetric<float>(a, SXT_F32);
  std::vector<float> b(static_cast<std::size_t>(a.rows), 1), x(b.size());
  solve_as(create(matrix, engine, nullptr, 1e-4), SXT_F32, b, x);
  EXPECT_LE(relative_residual(a, std::vector<double>(b.begin(), b.end()), std::vector<double>(x.begin(), x.end())),
            1.1e-4);
}

TEST_P(PcgStencil, StopsAtTheLimitAndGoesOn) {
  const Csr a = grid(GetParam());
  const Matrix matrix = symmetric(a);
  const Pcg pcg = create(matrix, engine);
  const std::vector<double> b = waves(a.rows), exact(b.size(), 1);
  std::vector<double> x(b.size());
  sxt_solve_options options = api_test::solve_options();
  for (const std::int64_t limit : {1, 3, 12}) {
    options.max_iterations = limit;
    const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED, &options);
    EXPECT_EQ(report.reason, SXT_REASON_ITERATION_LIMIT);
    EXPECT_EQ(report.iterations, limit);
  }
  options = api_test::solve_options();
  options.use_initial_guess = 1;
  std::vector<double> guess = exact;
  EXPECT_EQ(solve(pcg, a.times(exact), guess, SXT_OK, &options).iterations, 0);
  EXPECT_EQ(guess, exact);
  for (double &each : guess) each *= 1.001;
  solve(pcg, a.times(exact), guess, SXT_OK, &options);
  EXPECT_LE(relative_residual(a, a.times(exact), guess), 1.0001e-9);
}

TEST_P(PcgStencil, NewValuesReachTheNextSolve) {
  const Csr first = grid(GetParam()), second = grid(GetParam(), 0.3);
  const Matrix matrix = symmetric(first);
  const Pcg pcg = create(matrix, engine);
  const std::vector<double> b = waves(first.rows);
  std::vector<double> x(b.size());
  solve(pcg, b, x);
  second.update(matrix);
  solve(pcg, b, x);
  EXPECT_LE(relative_residual(second, b, x), 1.0001e-9);
}

TEST_P(PcgStencil, NamesWhatIsWrong) {
  Csr a = grid(GetParam());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] == i) a.values[k] = 0.5;  // far below the others' sum
  const Matrix matrix = symmetric(a);
  std::vector<double> x(static_cast<std::size_t>(a.rows));
  const sxt_pcg_report report = solve(create(matrix, engine), waves(a.rows), x, SXT_NOT_CONVERGED);
  EXPECT_EQ(report.reason, SXT_REASON_A_INDEFINITE);
  EXPECT_GT(report.iterations, 0);
  for (const double each : x) EXPECT_TRUE(std::isfinite(each));
}

INSTANTIATE_TEST_SUITE_P(Boxes, PcgStencil,
                         testing::Values(Box{5, 100, 77, 1}, Box{9, 64, 65, 1}, Box{7, 21, 17, 23}, Box{7, 64, 40, 12},
                                         Box{27, 21, 17, 19}, Box{27, 40, 8, 9}),
                         [](const auto &info) { return info.param.name(); });

// The shared-memory limit of a kernel is one number for the process: a smaller set-up must not lower it for a larger
// one.
TEST_F(PcgSymmetric, SmallerSetUpsTakeNothingFromLargerOnes) {
  const Csr large = grid({7, 50, 50, 50}), small = grid({7, 9, 8, 7});
  const Matrix matrix = symmetric(large), other = symmetric(small);
  for (const char *each : {engine, persistent}) {
    const Pcg first = create(matrix, each), second = create(other, each);
    const std::vector<double> b = waves(large.rows), c = waves(small.rows);
    std::vector<double> x(b.size()), y(c.size());
    solve(first, b, x);
    solve(second, c, y);
    EXPECT_LE(relative_residual(large, b, x), 1.0001e-9) << each;
    EXPECT_LE(relative_residual(small, c, y), 1.0001e-9) << each;
  }
}

// The legacy stream cannot be captured, so the same kernels are launched one by one: equal bits.
TEST_F(PcgSymmetric, StencilReplayEqualsEager) {
  const Csr a = grid({7, 30, 30, 30});
  const Matrix matrix = symmetric(a);
  const std::vector<double> b = waves(a.rows);
  std::vector<double> replayed(b.size()), eager(b.size());
  const Pcg pcg = create(matrix, engine);
  const sxt_pcg_report report = solve(pcg, b, replayed);
  EXPECT_LT(report.reductions, 2 + report.iterations / 3);  // the host is asked once a block
  void *const legacy = reinterpret_cast<void *>(1);         // cudaStreamLegacy
  ASSERT_EQ(sxt_context_set_stream(context_.get(), legacy), SXT_OK) << sxt_last_error(context_.get());
  solve(create(matrix, engine), b, eager);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  EXPECT_EQ(replayed, eager);
}

}  // namespace
