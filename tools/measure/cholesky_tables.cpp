// SPDX-License-Identifier: BSD-3-Clause
// The published tables of sparse Cholesky on streams (METHODS: Zou, Dou and Guo), on problems made here: how tasks are
// mapped and on how many streams, widths t that are joined, block sizes; beside cholesky.tasks.cpu on 4 threads.
//
//   gpu_cholesky_tables [SECONDS]   tables on stdout, as Markdown; rows that would begin after SECONDS (100) are left
//   out
//
// Through the public interface alone. Each time is the least of three factorisations after one more.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cholesky_plan.hpp"
#include "cholesky_problems.hpp"
#include "sextant/cholesky.h"

namespace {

using gpu_test::CholeskyLaunch;
using Clock = std::chrono::steady_clock;

template <class T, void (*destroy)(T *)>
struct Destroy {
  void operator()(T *handle) const { destroy(handle); }
};
using Context = std::unique_ptr<sxt_context, Destroy<sxt_context, sxt_context_destroy>>;
using Matrix = std::unique_ptr<sxt_matrix, Destroy<sxt_matrix, sxt_matrix_destroy>>;
using Analysis = std::unique_ptr<sxt_analysis, Destroy<sxt_analysis, sxt_analysis_destroy>>;
using Cholesky = std::unique_ptr<sxt_cholesky, Destroy<sxt_cholesky, sxt_cholesky_destroy>>;

const auto begun = Clock::now();
double limit = 100;
double elapsed() { return std::chrono::duration<double>(Clock::now() - begun).count(); }

void need(sxt_status status) {
  if (status < 0) throw std::runtime_error(sxt_last_error(nullptr));
}

using gpu_test::Problem, gpu_test::stencil;

// Primes on the diagonal, ones at distances of powers of two.
Problem trefethen(std::int64_t n) {
  Problem a;
  a.name = "Trefethen " + std::to_string(n);
  std::vector<double> primes;
  for (std::int64_t p = 2; static_cast<std::int64_t>(primes.size()) < n; ++p) {
    bool prime = true;
    for (std::int64_t d = 2; d * d <= p && prime; ++d) prime = p % d != 0;
    if (prime) primes.push_back(static_cast<double>(p));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::int64_t> row{i};
    for (std::int64_t d = 1; d < n; d *= 2) {
      if (i >= d) row.push_back(i - d);
      if (i + d < n) row.push_back(i + d);
    }
    std::sort(row.begin(), row.end());
    for (const std::int64_t j : row) a.put(j, j == i ? primes[static_cast<std::size_t>(i)] : 1.0);
    a.end_row();
  }
  return a;
}

// ---- measurements --------------------------------------------------------------------------------------------------

Context context_on(const char *device, int threads) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = device;
  options.threads = threads;
  sxt_context *made = nullptr;
  need(sxt_context_create(&options, &made));
  return Context(made);
}

Matrix matrix_in(const Context &context, const Problem &a) {
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  sxt_matrix *made = nullptr;
  need(sxt_matrix_from_csr(context.get(), a.n(), a.n(), a.ptr.data(), a.col.data(), a.values.data(), &options, &made));
  return Matrix(made);
}

struct Widths {
  std::int64_t amalgamation = 0, block = 0;  // 0: the model's
};

sxt_analysis_options options_of(const Problem &a, const Widths &widths, const char *scheduler) {
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.scheduler = scheduler;
  options.permutation = a.order.empty() ? nullptr : a.order.data();
  options.amalgamation = widths.amalgamation, options.block = widths.block;
  options.check_symmetry = 0;
  options.expected_factors = 100;
  return options;
}

Analysis analyse(const Matrix &matrix, const sxt_analysis_options &options) {
  sxt_analysis *made = nullptr;
  need(sxt_analysis_create(matrix.get(), &options, &made));
  return Analysis(made);
}

struct Times {
  double factor = NAN, solve = NAN, residual = NAN;
  sxt_analysis_info about{};
};

double residual_of(const Problem &a, const std::vector<double> &x, const std::vector<double> &b) {
  double worst = 0;
  for (std::int64_t i = 0; i < a.n(); ++i) {
    double rest = b[static_cast<std::size_t>(i)];
    for (std::int32_t k = a.ptr[static_cast<std::size_t>(i)]; k < a.ptr[static_cast<std::size_t>(i) + 1]; ++k)
      rest -= a.values[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(a.col[static_cast<std::size_t>(k)])];
    worst = std::max(worst, std::abs(rest));
  }
  return worst;
}

Times measure(const Problem &a, const Analysis &analysis, int rounds) {
  Times out;
  out.about.struct_size = sizeof out.about;
  need(sxt_analysis_get_info(analysis.get(), &out.about));
  sxt_cholesky *made = nullptr;
  need(sxt_cholesky_create(analysis.get(), &made));
  const Cholesky cholesky(made);
  double least = INFINITY, least_solve = INFINITY;
  std::vector<double> b(static_cast<std::size_t>(a.n()), 1), x(b);
  for (int round = 0; round <= rounds; ++round) {
    need(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr));
    sxt_cholesky_info info{};
    info.struct_size = sizeof info;
    if (round == 0 && rounds > 0) continue;
    const auto start = Clock::now();
    sxt_cholesky_solve_report report{};
    report.struct_size = sizeof report;
    need(sxt_cholesky_solve(cholesky.get(), a.n(), 1, b.data(), a.n(), x.data(), a.n(), nullptr, &report));
    least_solve = std::min(least_solve, std::chrono::duration<double>(Clock::now() - start).count());
    need(sxt_cholesky_get_info(cholesky.get(), &info));
    least = std::min(least, info.factor_seconds);
  }
  out.factor = least, out.solve = least_solve, out.residual = residual_of(a, x, b);
  return out;
}

Times on_gpu(const Context &gpu, const Matrix &matrix, const Problem &a, const Widths &widths,
             const CholeskyLaunch &launch, int rounds = 3) {
  const std::string path = "/tmp/sextant-cholesky-" + std::to_string(getpid()) + ".toml";
  analyse(matrix, options_of(a, widths, "cholesky.streams.cuda"));
  need(gpu_test::load_launch(gpu.get(), path, launch));
  const Analysis analysis = analyse(matrix, options_of(a, widths, nullptr));
  if (!gpu_test::has_launch(gpu.get(), path, launch)) throw std::runtime_error("the plan was not followed");
  return measure(a, analysis, rounds);
}

// One cell; a row that fails or comes too late does not end the others.
void cell(const std::function<double()> &seconds) {
  if (elapsed() > limit) return void(std::printf(" - |"));
  try {
    std::printf(" %.2f |", seconds() * 1e3);
  } catch (const std::exception &problem) {
    std::printf(" failed |");
    std::fprintf(stderr, "%s\n", problem.what());
  }
  std::fflush(stdout);
}

void overview(const Context &gpu, const Context &cpu, Problem &a, bool published) {
  const Matrix there = matrix_in(gpu, a), here = matrix_in(cpu, a);
  const Analysis first = analyse(here, options_of(a, {}, "cholesky.tasks.cpu"));
  std::vector<std::int64_t> order(static_cast<std::size_t>(a.n()));
  need(sxt_analysis_get_order(first.get(), a.n(), order.data()));
  const Times host = measure(a, first, a.n() > 100000 ? 1 : 2);
  a.order = std::move(order);
  const Widths widths{64, 1024};
  std::printf("| %s | %lld | %.2f | %lld | %.2f | %.2f |", a.name.c_str(), (long long)a.n(), host.about.flops * 1e-9,
              (long long)host.about.supernodes, host.factor * 1e3, host.solve * 1e3);
  double best = INFINITY, solve = NAN, residual = NAN;
  for (const std::int64_t streams : {1, 2, 4, 8})
    cell([&] {
      const Times t = on_gpu(gpu, there, a, widths, {streams, 1});
      best = std::min(best, t.factor), solve = t.solve, residual = t.residual;
      return t.factor;
    });
  for (const std::int64_t streams : {1, 4})
    if (published)
      cell([&] { return on_gpu(gpu, there, a, widths, {streams, 0}, 1).factor; });
    else
      std::printf(" . |");
  std::printf(" %.2f | **%.2f** | %.0e |\n", solve * 1e3, host.factor / best, residual);
  std::fflush(stdout);
}

void table(const Context &gpu, const std::vector<Problem *> &problems, const char *title,
           const std::vector<std::int64_t> &values, const std::function<Widths(std::int64_t)> &widths) {
  for (const std::int64_t mapping : {1, 0}) {
    std::printf("\n%s, 4 streams, %s; factor ms\n\n| problem |", title,
                mapping ? "subtrees and narrow supernodes joined" : "tasks as published");
    for (const std::int64_t v : values) std::printf(" %lld |", (long long)v);
    std::printf("\n|---|");
    for (std::size_t k = 0; k < values.size(); ++k) std::printf("---|");
    std::printf("\n");
    for (const Problem *a : problems) {
      const Matrix matrix = matrix_in(gpu, *a);
      std::printf("| %s |", a->name.c_str());
      for (const std::int64_t v : values)
        cell([&] { return on_gpu(gpu, matrix, *a, widths(v), {4, mapping}, 2).factor; });
      std::printf("\n");
    }
  }
}

}  // namespace

int main(int argc, char **argv) try {
  if (argc > 1) limit = std::atof(argv[1]);
  const Context gpu = context_on("cuda", 4), cpu = context_on("cpu", 4);
  std::vector<Problem> small;
  small.push_back(stencil("5-point 300^2", 300, 1, false, 1));
  small.push_back(stencil("7-point 40^3", 40, 40, false, 1));
  small.push_back(stencil("27-point 20^3 x 3", 20, 20, true, 3));
  small.push_back(trefethen(20000));
  std::printf(
      "t = 64, block columns of 1024; ms; j: leaf subtrees and narrow supernodes joined, p: tasks as published, each "
      "on so "
      "many streams\n\n| problem | n | GFlop | supernodes | cholesky.tasks.cpu, 4 threads | its solve | j 1 | j 2 | j "
      "4 | j 8 "
      "| p 1 | p 4 | solve | **cpu / best j** | residual |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (Problem &a : small) {
    try {
      overview(gpu, cpu, a, true);
    } catch (const std::exception &problem) {
      std::printf("\n");
      std::fprintf(stderr, "%s: %s\n", a.name.c_str(), problem.what());
    }
  }
  for (const bool square : {false, true}) {
    if (elapsed() > 0.6 * limit) continue;
    Problem large = square ? stencil("5-point 1000^2", 1000, 1, false, 1) : stencil("7-point 60^3", 60, 60, false, 1);
    try {
      overview(gpu, cpu, large, !square);
    } catch (const std::exception &problem) {
      std::printf("\n");
      std::fprintf(stderr, "%s: %s\n", large.name.c_str(), problem.what());
    }
  }
  std::vector<Problem *> some;
  for (Problem &a : small)
    if (!a.order.empty()) some.push_back(&a);
  table(gpu, some, "Widths t below which supernodes are joined, block columns of 1024", {1, 4, 16, 32, 64, 128, 256},
        [](std::int64_t t) {
          return Widths{t, 1024};
        });
  table(gpu, some, "Columns of a block column, t = 64", {128, 256, 512, 1024, 2048}, [](std::int64_t b) {
    return Widths{64, b};
  });
  std::printf("\n%.0f s\n", elapsed());
  return 0;
} catch (const std::exception &problem) {
  std::fprintf(stderr, "gpu_cholesky_tables: %s\n", problem.what());
  return 1;
}
