// SPDX-License-Identifier: BSD-3-Clause
// Threads that share a context without a stream of the caller: engines, sizes and vector operations at the same time,
// with one set-up for each thread and with one for all. Every answer is compared with that of a single thread.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "pcg.hpp"

namespace {

using namespace gpu_test;

constexpr int n_threads = 8;
constexpr double rtol = 1e-9;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Errors of all threads: their number and the first message.
class Findings {
 public:
  void add(const std::string &what) {
    const std::lock_guard lock(lock_);
    if (count_++ == 0) first_ = what;
  }
  std::string text() const { return count_ ? std::to_string(count_) + " times, first: " + first_ : ""; }

 private:
  std::mutex lock_;
  std::int64_t count_ = 0;
  std::string first_;
};

// One system: b on the device, its norm, and the answer of a single thread.
struct Problem {
  Csr a;
  std::vector<double> b, x;
  double rhs_norm = 0;
};

class Hammer : public PcgGpu {
 protected:
  struct Case {
    const char *engine, *preconditioner;
    int side;  // of a square of so many points
  };
  // Shifted: some tens of iterations, so that there are many solves.
  Problem problem(int side) {
    Problem p{laplacian(side, 1), {}, {}, 0};
    p.b = waves(p.a.rows);
    p.x.resize(p.b.size());
    for (const double v : p.b) p.rhs_norm += v * v;
    p.rhs_norm = std::sqrt(p.rhs_norm);
    return p;
  }
  void solve_alone(Problem &p) {
    const Context alone = open_context();
    const Matrix matrix = api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(alone.get(), p.a.rows, p.a.cols, p.a.ptr.data(), p.a.col.data(), p.a.values.data(),
                                 nullptr, out);
    });
    const Pcg pcg = create(matrix, nullptr, nullptr, 1e-12);
    ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), p.a.rows, p.b.data(), p.x.data(), nullptr, nullptr), SXT_OK)
        << sxt_last_error(alone.get());
  }
  // One solve with arrays on the device, and a norm of b and of the answer by the context's vector operations.
  void one_solve(const Problem &p, sxt_pcg *pcg, const Vector &b, const Vector &x, const std::string &name,
                 Findings &findings) {
    sxt_pcg_report report = new_report();
    const sxt_status status = sxt_pcg_solve(pcg, b.get(), x.get(), nullptr, &report);
    if (status != SXT_OK)
      return findings.add(name + ": " + (status < 0 ? sxt_last_error(context_.get()) : sxt_reason_name(report.reason)));
    if (!(std::fabs(report.rhs_norm - p.rhs_norm) <= 1e-10 * p.rhs_norm)) findings.add(name + ": a wrong norm of b");
    const std::vector<double> got = values_of(x);
    double apart = 0, most = 0;
    for (std::size_t i = 0; i < got.size(); i += 3) {
      apart = std::fmax(apart, std::fabs(got[i] - p.x[i]));
      most = std::fmax(most, std::fabs(p.x[i]));
      if (std::isnan(got[i])) apart = INFINITY;
    }
    if (!(apart <= 1e-6 * most)) findings.add(name + ": converged, and " + std::to_string(apart) + " from the answer");
    double norm = 0;
    if (sxt_nrm2(b.get(), &norm) != SXT_OK || !(std::fabs(norm - p.rhs_norm) <= 1e-10 * p.rhs_norm))
      findings.add(name + ": nrm2 of b is " + std::to_string(norm) + ", not " + std::to_string(p.rhs_norm));
  }
  // All threads at once until the time is over; how many calls of `each` there were.
  std::int64_t at_once(double seconds, const std::function<void(int thread, int round)> &each) {
    const auto start = std::chrono::steady_clock::now();
    std::atomic<std::int64_t> calls{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads; ++t)
      threads.emplace_back([&, t] {
        for (int round = 0; round < 2 || seconds_since(start) < seconds; ++round, ++calls) each(t, round);
      });
    for (std::thread &thread : threads) thread.join();
    return calls;
  }
  void set_ups_of_their_own(const Case &c, double seconds) {
    Problem p = problem(c.side);
    solve_alone(p);
    Findings findings;
    std::vector<Matrix> matrices;
    std::vector<Pcg> solvers;
    std::vector<Vector> rhs, solutions;
    for (int t = 0; t < n_threads; ++t) {
      matrices.push_back(matrix_of(p.a));
      solvers.push_back(create(matrices.back(), c.engine, c.preconditioner, rtol));
      rhs.push_back(make_vector(p.b));
      solutions.push_back(make_vector(p.b));
    }
    const std::string name = text_of(c);
    const std::int64_t solves = at_once(seconds, [&](int t, int) {
      const auto i = static_cast<std::size_t>(t);
      one_solve(p, solvers[i].get(), rhs[i], solutions[i], name, findings);
    });
    EXPECT_EQ(findings.text(), "") << name << ", set-ups of their own, of " << solves << " solves";
    solves_ += solves;
  }
  void one_set_up(const Case &c, double seconds) {
    Problem p = problem(c.side);
    solve_alone(p);
    Findings findings;
    const Matrix matrix = matrix_of(p.a);
    const Pcg pcg = create(matrix, c.engine, c.preconditioner, rtol);
    std::vector<Vector> rhs, solutions;
    for (int t = 0; t < n_threads; ++t) rhs.push_back(make_vector(p.b)), solutions.push_back(make_vector(p.b));
    const std::string name = text_of(c);
    const std::int64_t solves = at_once(seconds, [&](int t, int) {
      const auto i = static_cast<std::size_t>(t);
      one_solve(p, pcg.get(), rhs[i], solutions[i], name, findings);
    });
    EXPECT_EQ(findings.text(), "") << name << ", one set-up, of " << solves << " solves";
    solves_ += solves;
  }
  static std::string text_of(const Case &c) {
    return std::string(c.engine ? c.engine : "automatic") + " " + (c.preconditioner ? c.preconditioner : "automatic") +
           " " + std::to_string(c.side) + "^2";
  }
  void TearDown() override {
    if (context_) std::printf("%lld solves\n", static_cast<long long>(solves_));
  }
  std::int64_t solves_ = 0;
};

constexpr const char *graph = "pcg.graph.predict-recompute.cuda";
// Engines composed of other kernels, with and without M; engines of one kernel; the library's choice.
#define HAMMER_CASES(side)                                                                                            \
  {nullptr, nullptr, side}, {graph, "none", side}, {graph, "fsai", side}, {"pcg.graph.classical.cuda", "fsai", side}, \
      {"pcg.graph.chronopoulos-gear.cuda", nullptr, side}, {pair, nullptr, side}, {pair_m, "fsai", side}, {           \
    cooperative, nullptr, side                                                                                        \
  }

TEST_F(Hammer, SmallSystems) {
  for (const Case &c : {HAMMER_CASES(20), Case{persistent, nullptr, 20}, Case{stencil, nullptr, 20}}) {
    set_ups_of_their_own(c, 1);
    one_set_up(c, 1);
  }
  EXPECT_GE(solves_, 2000);
}

TEST_F(Hammer, MediumSystems) {
  for (const Case &c : {HAMMER_CASES(300), Case{persistent, nullptr, 300}, Case{stencil, nullptr, 300}}) {
    set_ups_of_their_own(c, 1.5);
    one_set_up(c, 1.5);
  }
  EXPECT_GE(solves_, 1000);
}

TEST_F(Hammer, LargeSystems) {
  for (const Case &c : {Case{nullptr, nullptr, 1000}, Case{graph, "none", 1000}, Case{graph, "fsai", 1000}}) {
    set_ups_of_their_own(c, 3);
    one_set_up(c, 3);
  }
}

// Vector operations of all threads on vectors of their own beside solves that only enqueue theirs.
TEST_F(Hammer, VectorOperationsBesideSolves) {
  Problem p = problem(100);
  solve_alone(p);
  Findings findings;
  const Matrix matrix = matrix_of(p.a);
  const Pcg pcg = create(matrix, graph, "none", rtol);
  std::vector<Vector> x, y;
  for (int t = 0; t < n_threads; ++t) x.push_back(make_vector(p.b)), y.push_back(make_vector(p.b));
  double largest = 0;
  for (const double v : p.b) largest = std::fmax(largest, std::fabs(v));
  const std::int64_t calls = at_once(6, [&](int t, int round) {
    const auto i = static_cast<std::size_t>(t);
    if (t % 2 == 0) return one_solve(p, pcg.get(), x[i], y[i], "graph", findings);
    const double factor = 1 + (round + t) % 5, norm = factor * p.rhs_norm;
    double got = 0, product = 0, most = 0;
    sxt_copy(x[i].get(), y[i].get());
    sxt_scale(&factor, y[i].get());
    if (sxt_nrm2(y[i].get(), &got) != SXT_OK || !(std::fabs(got - norm) <= 1e-10 * norm)) findings.add("nrm2");
    if (sxt_dot(x[i].get(), y[i].get(), &product) != SXT_OK ||
        !(std::fabs(product - norm * p.rhs_norm) <= 1e-10 * norm * p.rhs_norm))
      findings.add("dot");
    if (sxt_amax(y[i].get(), &most) != SXT_OK || !(std::fabs(most - factor * largest) <= 1e-12 * factor))
      findings.add("amax");
  });
  EXPECT_EQ(findings.text(), "") << "of " << calls << " rounds";
}

// Products with one matrix and arrays of the host, and blocks of right-hand sides with one set-up.
TEST_F(Hammer, HostArraysAndBlocks) {
  Problem p = problem(90);
  solve_alone(p);
  Findings findings;
  const Matrix matrix = matrix_of(p.a);
  const Pcg pcg = create(matrix, nullptr, nullptr, rtol);
  const std::int64_t n = p.a.rows;
  const std::vector<double> product = p.a.times(p.b);
  at_once(6, [&](int t, int) {
    std::vector<double> x(p.b.size());
    if (t % 2 == 0) {
      if (sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), p.b.data(), nullptr, x.data()) != SXT_OK)
        findings.add("a product failed");
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!(std::fabs(x[i] - product[i]) <= 1e-12)) return findings.add("a product is wrong");
      return;
    }
    std::vector<double> b4, x4(4 * p.b.size());
    for (int k = 0; k < 4; ++k) b4.insert(b4.end(), p.b.begin(), p.b.end());
    if (sxt_pcg_solve_block(pcg.get(), n, 4, b4.data(), n, x4.data(), n, nullptr, nullptr) != SXT_OK)
      return findings.add("a block failed");
    for (std::size_t i = 0; i < x4.size(); ++i)
      if (!(std::fabs(x4[i] - p.x[i % p.b.size()]) <= 1e-6)) return findings.add("a block's answer is wrong");
  });
  EXPECT_EQ(findings.text(), "");
}

// For comparison: the same with one context for each thread.
TEST_F(Hammer, ContextsOfTheirOwn) {
  Problem p = problem(100);
  solve_alone(p);
  Findings findings;
  std::vector<std::thread> threads;
  for (int t = 0; t < n_threads; ++t)
    threads.emplace_back([&] {
      const Context own = open_context();
      sxt_matrix *matrix = nullptr;
      sxt_pcg *pcg = nullptr;
      if (!own ||
          sxt_matrix_from_csr(own.get(), p.a.rows, p.a.cols, p.a.ptr.data(), p.a.col.data(), p.a.values.data(), nullptr,
                              &matrix) != SXT_OK ||
          sxt_pcg_create(matrix, nullptr, &pcg) != SXT_OK)
        findings.add(std::string("set-up: ") + sxt_last_error(own.get()));
      for (int i = 0; i < 50 && pcg; ++i) {
        std::vector<double> x(p.b.size());
        if (sxt_pcg_solve_array(pcg, p.a.rows, p.b.data(), x.data(), nullptr, nullptr) != SXT_OK)
          findings.add("a solve");
        if (!(relative_residual(p.a, p.b, x) <= 1e-7)) findings.add("an answer");
      }
      sxt_pcg_destroy(pcg);
      sxt_matrix_destroy(matrix);
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(findings.text(), "");
}

}  // namespace
