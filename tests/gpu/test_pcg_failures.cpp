// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong on a GPU: M indefinite, which every engine finds in the same iteration as a textbook loop, an entry
// beyond all others, NaN in A. x stays finite and no worse than at the start.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mocks/indefinite.hpp"
#include "pcg.hpp"

namespace {

using namespace gpu_test;
using testing::AnyOf;

using Numbers = std::vector<double>;

double dot(const Numbers &u, const Numbers &v) {
  double sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
  return sum;
}

// The iteration in which r'Mr, or p'Ap, is no number above zero; 0: none of the first 200.
std::int64_t failing_iteration(const Csr &a, const Numbers &b, const std::function<Numbers(const Numbers &)> &m) {
  Numbers r = b, p;
  double gamma_old = 0;
  for (std::int64_t k = 0; k < 200; ++k) {
    const Numbers z = m(r);
    const double gamma = dot(r, z);
    if (!(gamma > 0 && std::isfinite(gamma))) return k + 1;
    if (k == 0) p = z;
    for (std::size_t i = 0; k > 0 && i < p.size(); ++i) p[i] = z[i] + gamma / gamma_old * p[i];
    const Numbers q = a.times(p);
    const double p_q = dot(p, q);
    if (!(p_q > 0 && std::isfinite(p_q))) return k + 1;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= gamma / p_q * q[i];
    gamma_old = gamma;
  }
  return 0;
}

// -1 4 -1: a chain.
Csr chain(int n) {
  Csr a;
  a.rows = a.cols = n;
  for (int i = 0; i < n; ++i) {
    if (i > 0) a.entry(i - 1, -1);
    a.entry(i, 4);
    if (i + 1 < n) a.entry(i + 1, -1);
    a.end_row();
  }
  return a;
}

class PcgFailures : public PcgGpu {
 protected:
  // Declared to be symmetric, so that the entries are not checked before they are used.
  Matrix symmetric(const Csr &a) {
    sxt_matrix_options options = api_test::matrix_options();
    options.symmetry = SXT_SYMMETRIC;
    options.check_finite = 0;
    return api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context_.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), &options,
                                 out);
    });
  }
  // A context that has the mock preconditioners.
  void load_mocks() {
    const char *const path = GPU_MOCKS "/indefinite.so";
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = "cuda";
    options.plugin_paths = &path;
    options.n_plugin_paths = 1;
    sxt_context *context = nullptr;
    ASSERT_EQ(sxt_context_create(&options, &context), SXT_OK) << sxt_last_error(nullptr);
    context_ = {context, sxt_context_destroy};
  }
  void expect(const Csr &a, const char *engine, const char *preconditioner, const Numbers &b, sxt_reason reason,
              std::int64_t iteration) {
    SCOPED_TRACE(engine);
    const Matrix matrix = symmetric(a);
    const Pcg pcg = create(matrix, engine, preconditioner);
    Numbers x(b.size(), 7);
    const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED);
    EXPECT_EQ(report.reason, reason);
    EXPECT_EQ(report.iterations, iteration);
    for (const double each : x) ASSERT_TRUE(std::isfinite(each));
  }
};

TEST_F(PcgFailures, MIndefinite) {
  load_mocks();

  // The residual reaches the last row, which M weighs negatively, after some iterations.
  const Csr a = chain(mock::rows);
  Numbers b(mock::rows);
  b[mock::rows - 6] = 1;
  const std::int64_t iteration = failing_iteration(a, b, [](const Numbers &r) {
    Numbers z = r;
    z.back() *= mock::last_weight;
    return z;
  });
  ASSERT_GT(iteration, 3);
  for (const char *engine :
       {"pcg.graph.classical.cuda", "pcg.graph.chronopoulos-gear.cuda", "pcg.graph.predict-recompute.cuda"})
    expect(a, engine, mock::method, b, SXT_REASON_M_INDEFINITE, iteration);
}

// M works on another stream than the captured one, so the graph always applies M's result for the first residual. The
// engine may do anything with that: only the true residual decides that the solve converged.
TEST_F(PcgFailures, MFrozenByWorkOnAnotherStream) {
  load_mocks();
  const Csr a = chain(mock::rows);
  const Numbers b = waves(mock::rows);
  for (const char *engine : {"pcg.graph.classical.cuda", "pcg.graph.chronopoulos-gear.cuda"}) {
    SCOPED_TRACE(engine);
    const Matrix matrix = symmetric(a);
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    options.preconditioner = mock::wandering_method;
    options.max_iterations = 400;
    sxt_pcg *made = nullptr;
    const sxt_status set_up = sxt_pcg_create(matrix.get(), &options, &made);
    const Pcg pcg(made);
    RecordProperty(engine, std::string(sxt_status_name(set_up)) + ": " + sxt_last_error(context_.get()));
    if (set_up != SXT_OK) continue;  // found out before
    Numbers x(b.size(), 7);
    const Vector rhs = on_device(b, SXT_F64), solution = on_device(x, SXT_F64);
    sxt_pcg_report report = new_report();
    const sxt_status status = sxt_pcg_solve(pcg.get(), rhs.get(), solution.get(), nullptr, &report);
    RecordProperty(std::string(engine) + " solve",
                   std::string(sxt_reason_name(report.reason)) + sxt_last_error(context_.get()));
    if (status == SXT_OK) {
      EXPECT_LE(relative_residual(a, b, values_of(solution)), 1.01e-8);
    } else {
      EXPECT_NE(report.reason, SXT_REASON_CONVERGED);
      for (const double each : values_of(solution)) ASSERT_TRUE(std::isfinite(each));
    }
  }
}

// A 5-point grid with one diagonal entry so large that no digit of the others is left, or that p'Ap overflows.
TEST_F(PcgFailures, AnEntryBeyondAllOthers) {
  Csr a = laplacian(64, 0.5);
  const std::int32_t far = 64 * 40 + 40, near = 64 * 32 + 40;
  for (std::int32_t k = a.ptr[far]; k < a.ptr[far + 1]; ++k)
    if (a.col[k] == far) a.values[k] = 1.7e308;
  Numbers b(static_cast<std::size_t>(a.rows));
  b[near] = 1e12;
  const Matrix matrix = symmetric(a);
  std::vector<std::string> all(std::begin(engines), std::end(engines));
  all.emplace_back(stencil);
  for (const std::string &engine : all) {
    const Pcg pcg = create(matrix, engine.c_str(), "none");
    Numbers x(b.size(), 7);
    const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED);
    EXPECT_THAT(report.reason, AnyOf(SXT_REASON_NOT_A_NUMBER, SXT_REASON_STAGNATED, SXT_REASON_DIVERGED)) << engine;
    EXPECT_GE(report.iterations, 8) << engine;  // steps away
    EXPECT_LE(relative_residual(a, b, x), 1 + 1e-12) << engine;
  }
}

// Entries that were not checked when the matrix was made are checked by the set-up.
TEST_F(PcgFailures, NanInA) {
  Csr a = laplacian(64, 0.5);
  const std::int32_t row = 64 * 40 + 40;
  for (std::int32_t i : {row, row + 1})
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (i != a.col[k] && (a.col[k] == row || a.col[k] == row + 1)) a.values[k] = std::nan("");
  const Matrix matrix = symmetric(a);
  sxt_pcg *none = nullptr;
  EXPECT_EQ(sxt_pcg_create(matrix.get(), nullptr, &none), SXT_E_NOT_FINITE);
  EXPECT_THAT(sxt_last_error(context_.get()), testing::HasSubstr("entry (2600, 2601) of the matrix is nan"));
}

// r'r of f32 numbers fits, q'q of Chen and Carson's prediction does not: the direction is restarted, and x is kept.
TEST_F(PcgFailures, APredictionThatOverflowsEndsNothing) {
  const Csr a = laplacian(20, 0.5);
  const Matrix matrix = [&] {
    std::vector<float> values(a.values.begin(), a.values.end());
    for (float &each : values) each *= 1e12f;
    sxt_matrix_options options = api_test::matrix_options();
    options.value_type = SXT_F32;
    return api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context_.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), values.data(), &options,
                                 out);
    });
  }();
  for (const char *engine : {"pcg.graph.predict-recompute.cuda", cooperative}) {
    const Pcg pcg = create(matrix, engine, "none", 1e-3);
    std::vector<float> b(static_cast<std::size_t>(a.rows), 1e7f), x(b.size());
    const sxt_pcg_report report = solve_as(pcg, SXT_F32, b, x);
    EXPECT_EQ(report.reason, SXT_REASON_CONVERGED) << engine;
    EXPECT_GT(report.iterations, 5) << engine;
  }
}

}  // namespace
