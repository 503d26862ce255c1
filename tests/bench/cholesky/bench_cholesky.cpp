// SPDX-License-Identifier: BSD-3-Clause
// cholesky.tasks.cpu beside CHOLMOD, in one process, on the same order: factor and solve in turns, ratios of each pair.
//
//   bench_cholesky [--threads N] [--seconds S] [--cpu-time] [--amalgamation T] [--small KERNEL] [--large KERNEL] PROBLEM ...
//
// PROBLEM: "5-point 1000", "7-point 40", "27-point 20 3", or a Matrix Market file. Prints a row of a Markdown table for
// each. OPENBLAS_NUM_THREADS says how many threads CHOLMOD's BLAS takes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <ctime>

#include "core/cholesky/symbolic.hpp"
#include "peer.hpp"
#include "plugins/cholesky/test_support.hpp"

namespace bench_cholesky {
namespace {

using Clock = std::chrono::steady_clock;
bool cpu_time = false;  // seconds of all threads together instead of those that pass
struct Options {
  int threads = 2;
  double seconds = 3;
  sextant::cholesky::SupernodeOptions supernodes;
  std::string small = "dense.loops.cpu", large = "dense.openblas.cpu";
};

double now() {
  timespec t{};
  clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double seconds_of(const std::function<void()> &work) {
  const double begin = now();
  work();
  return now() - begin;
}

double median(std::vector<double> list) {
  std::sort(list.begin(), list.end());
  return list[list.size() / 2];
}

// Both in turns for some seconds; at least three times.
struct Pair {
  double ours = 0, theirs = 0, ratio = 0;  // seconds, the least; median of theirs / ours
};
Pair measure(double seconds, const std::function<void()> &ours, const std::function<void()> &theirs) {
  std::vector<double> a, b, ratio;
  const auto begin = Clock::now();
  while (a.size() < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    a.push_back(seconds_of(ours)), b.push_back(seconds_of(theirs));
    ratio.push_back(b.back() / a.back());
    if (a.size() >= 200) break;
  }
  return {*std::min_element(a.begin(), a.end()), *std::min_element(b.begin(), b.end()), median(ratio)};
}

double residual(const Problem &a, const std::vector<double> &x, const std::vector<double> &b) {
  std::vector<double> r(b.begin(), b.begin() + a.n);
  double largest = 0, scale = 0;
  for (std::int32_t i = 0; i < a.n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col[k];
      r[i] -= a.values[k] * x[j];
      if (j != i) r[j] -= a.values[k] * x[i];
    }
  for (std::int32_t i = 0; i < a.n; ++i) largest = std::max(largest, std::abs(r[i])), scale = std::max(scale, std::abs(b[i]));
  return largest / scale;
}

// Ours, factored and solved through the kernels' tables.
class Ours {
 public:
  Ours(const Problem &a, const std::vector<std::int32_t> &order, const Options &options) : a_(a) {
    using namespace sextant::cholesky;
    Pattern pattern;
    pattern.n = a.n, pattern.row_ptr = a.row_ptr.data(), pattern.col = a.col.data();
    pattern.triangles = Triangles::lower;
    const Graph graph = make_graph(pattern, options.threads);
    Elimination elimination = eliminate(graph, order, 0, options.threads);
    const Partition parts = partition(elimination, options.supernodes);
    symbolic_.emplace(pattern, graph, std::move(elimination), parts, options.threads);
    query_ = symbolic_->summary();
    query_.m.q = {{sizeof query_, SXT_KIND_CHOLESKY}, 1, 0, SXT_F64};
    query_.m.rows = query_.m.cols = a.n, query_.m.nnz = static_cast<std::int64_t>(a.col.size());
    query_.factors = SXT_FACTORS_LLH, query_.n_sets = query_.n_rhs = 1;
    query_.phase = SXT_CHOLESKY_FACTOR;
    const sxt_kernel &kernel = plugin_test::find_kernel(plugin_test::load_own("cholesky-tasks"), "cholesky.tasks.cpu");
    factor_.emplace(kernel, view(), query_, options.threads, options.small, options.large);
    query_.phase = SXT_CHOLESKY_SOLVE, query_.n_rhs = 32;
    solve_.emplace(kernel, view(), query_, options.threads, options.small, options.large);
    l_.resize(static_cast<std::size_t>(view().values));
    args_.h = {sizeof args_, SXT_KIND_CHOLESKY};
    args_.factors = SXT_FACTORS_LLH, args_.value_type = args_.value_type_a = SXT_F64;
    args_.n_sets = 1, args_.values = a.values.data(), args_.factor = l_.data();
    args_.failed_column = &failed_, args_.failed_pivot = &pivot_, args_.changed = &changed_;
  }
  const sxt_symbolic &view() const { return symbolic_->view(); }
  void factor() {
    args_.phase = SXT_CHOLESKY_FACTOR;
    if (factor_->run(args_) != SXT_OK || failed_ >= 0) throw std::runtime_error("not factored");
  }
  void solve(const std::vector<double> &b, std::int64_t columns, std::vector<double> &x) {
    x = b;
    args_.phase = SXT_CHOLESKY_SOLVE;
    args_.b = x.data(), args_.ldb = a_.n, args_.n_rhs = columns;
    if (solve_->run(args_) != SXT_OK) throw std::runtime_error("not solved");
  }

 private:
  const Problem &a_;
  std::optional<sextant::cholesky::Symbolic> symbolic_;
  sxt_cholesky_query query_{};
  std::optional<plugin_test::Scheduler> factor_, solve_;
  std::vector<double> l_;
  sxt_cholesky_args args_{};
  std::int64_t failed_ = 0, changed_ = 0;
  double pivot_ = 0;
};

void row(const std::string &words, const Options &options) {
  const Problem a = make_problem(words);
  Peer peer(a);
  Ours ours(a, peer.order(), options);
  const sxt_symbolic &s = ours.view();
  const Pair factor = measure(options.seconds, [&] { ours.factor(); }, [&] { peer.factor(); });
  Pair solve[2];
  const std::int64_t columns[2] = {1, 16};
  double error = 0;
  for (int k = 0; k < 2; ++k) {
    std::vector<double> b(static_cast<std::size_t>(a.n * columns[k])), x, y;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i) * 0.7 + 1);
    solve[k] = measure(options.seconds / 3, [&] { ours.solve(b, columns[k], x); }, [&] { peer.solve(b, columns[k], y); });
    if (k == 0) error = residual(a, x, b);
  }
  std::printf("| %s | %d | %.2f | %.2f | %.2f | %lld | %.1f | %.1f | %.1f | **%.2f** | %.2f | %.2f | **%.2f** | %.2f | %.2f | **%.2f** | %.0e |\n",
              a.name.c_str(), a.n, s.nnz_l * 1e-6, s.values * 1e-6, s.flops * 1e-9, (long long)s.n_super,
              factor.ours * 1e3, factor.theirs * 1e3, s.flops / factor.ours * 1e-9, factor.ratio, solve[0].ours * 1e3,
              solve[0].theirs * 1e3, solve[0].ratio, solve[1].ours * 1e3, solve[1].theirs * 1e3, solve[1].ratio, error);
  std::fflush(stdout);
}

}  // namespace
}  // namespace bench_cholesky

int main(int argc, char **argv) {
  bench_cholesky::Options options;
  std::printf(
      "| matrix | n | nnz(L) M | stored M | GFlop | supernodes | factor ms | CHOLMOD ms | GF/s | **ratio** | solve ms | CHOLMOD | "
      "**ratio** | 16 rhs ms | CHOLMOD | **ratio** | residual |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto next = [&] { return std::string(k + 1 < argc ? argv[++k] : ""); };
    if (word == "--threads") options.threads = std::stoi(next());
    else if (word == "--seconds") options.seconds = std::stod(next());
    else if (word == "--amalgamation") options.supernodes.amalgamation = std::stoll(next());
    else if (word == "--cpu-time") bench_cholesky::cpu_time = true;
    else if (word == "--large") options.large = next();
    else if (word == "--small") options.small = next();
    else try {
        bench_cholesky::row(word, options);
      } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s: %s\n", word.c_str(), problem.what());
      }
  }
}
