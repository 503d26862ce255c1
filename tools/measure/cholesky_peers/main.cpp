// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky on a GPU with everything in device memory: the schedulers of this build and cuDSS in one run.
//
//   gpu_cholesky_peers [--cudss FOLDER] [--order NAME] [--launch BLOCK,KIB] [--repeat N] [--only SCHEDULER] PROBLEM...
//
// A table on stdout, as Markdown. PROBLEM: 5pt:SIDE, 7pt:SIDE, 27pt:SIDE, 27pt3:SIDE (three unknowns a point), or a
// Matrix Market file. Times are medians, in milliseconds, of calls that begin and end with an idle device: the first
// factorisation, refactorisations with the values on the device, solves in place of 1, 8 and 64 right-hand sides. It
// reaches into core, as no public call leaves out the copies of values.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/cholesky/analysis.hpp"
#include "core/run/prepared.hpp"
#include "tools/measure/cholesky_peers/problem_files.hpp"
#include "tools/measure/cholesky_plan.hpp"
#include "tools/peers/cudss/system.hpp"

namespace {

using namespace sextant;
using gpu_test::Problem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string cudss, order, only;
  std::optional<gpu_test::CholeskyLaunch> launch;  // of cholesky.levels.cuda: block columns, KiB of small fronts
  int repeat = 7;
  std::vector<std::string> problems;
};

void need(sxt_status status) {
  if (status < 0) throw std::runtime_error(sxt_last_error(nullptr));
}

double ms_of(const std::function<void()> &work) {
  const auto start = Clock::now();
  work();
  return 1e3 * std::chrono::duration<double>(Clock::now() - start).count();
}
double median_ms(int repeat, const std::function<void()> &before, const std::function<void()> &work) {
  std::vector<double> times;
  for (int k = 0; k < repeat; ++k) before(), times.push_back(ms_of(work));
  std::nth_element(times.begin(), times.begin() + repeat / 2, times.end());
  return times[static_cast<std::size_t>(repeat / 2)];
}

struct Row {
  double order_s = NAN, first = NAN, refactor = NAN, solve = NAN, solve8 = NAN, solve64 = NAN, error = NAN;
  std::int64_t nnz_l = 0, supers = 0;
  double flops = 0, device_gb = 0, predicted = NAN, predicted_solve = NAN;  // ms
};

struct OnGpu {
  sxt_context *handle = nullptr;
  OnGpu() {
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = "cuda";
    need(sxt_context_create(&options, &handle));
  }
  ~OnGpu() { sxt_context_destroy(handle); }
  Device &device() const { return handle->context->device(); }
};

std::vector<double> right_sides(const Problem &a, std::int64_t columns) {
  std::vector<double> b(static_cast<std::size_t>(a.n() * columns));
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = 1 + static_cast<double>(k * 2654435761u % 1000) * 1e-3;
  return b;
}

// The largest entry of b - A x over that of |A| |x| + |b|, of the last column.
double error_of(const Problem &a, const std::vector<double> &b, const std::vector<double> &x) {
  const std::size_t n = static_cast<std::size_t>(a.n()), base = b.size() - n;
  double rest = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double r = b[base + i], s = std::abs(r);
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const double term = a.values[static_cast<std::size_t>(k)] *
                          x[base + static_cast<std::size_t>(a.col[static_cast<std::size_t>(k)])];
      r -= term, s += std::abs(term);
    }
    if (std::isnan(r)) return r;
    rest = std::max(rest, std::abs(r)), size = std::max(size, s);
  }
  return rest / size;
}

cholesky::Settings settings_of(const Options &options, const char *scheduler) {
  cholesky::Settings settings;
  settings.scheduler = scheduler, settings.order = options.order;
  settings.expected_factors = settings.expected_solves = 1000;
  settings.check_symmetry = false, settings.recorded = options.launch.has_value();
  return settings;
}

// An analysis whose factorisation goes by options.launch, where that is given.
std::shared_ptr<cholesky::Analysis> analyse(const OnGpu &context, const std::shared_ptr<Matrix> &matrix,
                                            const Options &options, const char *scheduler) {
  cholesky::Settings settings = settings_of(options, scheduler);
  auto first = std::make_shared<cholesky::Analysis>(matrix, settings);
  if (!options.launch || std::strcmp(scheduler, "cholesky.levels.cuda")) return first;
  const std::string path = "gpu_cholesky_peers.toml";
  need(gpu_test::load_launch(context.handle, path, *options.launch));
  settings.scheduler.clear();
  auto second = std::make_shared<cholesky::Analysis>(matrix, settings);
  if (!gpu_test::has_launch(context.handle, path, *options.launch))
    throw std::runtime_error("the plan was not followed");
  return second;
}

Row ours(const OnGpu &context, const Problem &a, const Options &options, const char *scheduler) {
  Device &device = context.device();
  sxt_matrix *made = nullptr;
  need(sxt_matrix_from_csr(context.handle, a.n(), a.n(), a.ptr.data(), a.col.data(), a.values.data(), nullptr, &made));
  const std::unique_ptr<sxt_matrix, void (*)(sxt_matrix *)> held(made, sxt_matrix_destroy);
  Row row;
  std::shared_ptr<cholesky::Analysis> analysis;
  row.order_s = 1e-3 * ms_of([&] { analysis = analyse(context, made->matrix, options, scheduler); });
  const sxt_symbolic &s = analysis->symbolic();
  row.nnz_l = s.nnz_l, row.supers = s.n_super, row.flops = s.flops;
  row.predicted = 1e3 * analysis->factor_seconds(), row.predicted_solve = 1e3 * analysis->solve_seconds(1);
  row.device_gb = 1e-9 * static_cast<double>(analysis->info().device_bytes);
  DeviceBuffer factor(device, static_cast<std::uint64_t>(s.values) * 8), values(device, a.values.size() * 8);
  device.copy(values.data(), a.values.data(), values.bytes());
  std::int64_t failed = -1, changed = 0;
  double pivot = 0;
  sxt_cholesky_args call{};
  call.h = {sizeof call, SXT_KIND_CHOLESKY};
  call.phase = SXT_CHOLESKY_FACTOR, call.factors = SXT_FACTORS_LLH, call.n_sets = 1;
  call.value_type = call.value_type_a = SXT_F64;
  call.values = values.data(), call.factor = factor.data();
  call.failed_column = &failed, call.failed_pivot = &pivot, call.changed = &changed;
  const std::unique_ptr<Session> session = analysis->open_factor();
  const auto run = [&] { session->ask(&call.h); };
  row.first = ms_of(run);
  row.refactor = median_ms(
      options.repeat, [] {}, run);
  if (failed >= 0)
    throw std::runtime_error("column " + std::to_string(failed) + " failed, pivot " + std::to_string(pivot));
  const auto solve = [&](std::int64_t columns) {
    const std::vector<double> b = right_sides(a, columns);
    DeviceBuffer x(device, b.size() * 8);
    sxt_cholesky_args args = call;
    args.phase = SXT_CHOLESKY_SOLVE, args.values = nullptr;
    args.b = x.data(), args.ldb = a.n(), args.n_rhs = columns;
    double last = 0;
    const auto once = [&] {
      analysis->solver(columns).ask(&args.h);
      device.copy(&last, x.data(), 8);  // has ended
    };
    const auto fill = [&] { device.copy(x.data(), b.data(), x.bytes()); };
    fill(), once();
    const double ms = median_ms(options.repeat, fill, once);
    std::vector<double> got(b.size());
    device.copy(got.data(), x.data(), x.bytes());
    row.error = std::max(std::isnan(row.error) ? 0 : row.error, error_of(a, b, got));
    return ms;
  };
  row.solve = solve(1), row.solve8 = solve(8), row.solve64 = solve(64);
  return row;
}

Row cudss(const cudss_peer::Functions &functions, const Problem &a, const Options &options) {
  sxt_peer_csr csr{static_cast<std::int32_t>(a.n()),
                   static_cast<std::int32_t>(a.n()),
                   static_cast<std::int32_t>(a.values.size()),
                   a.ptr.data(),
                   a.col.data(),
                   a.values.data()};
  Row row;
  std::optional<cudss_peer::System> system;
  row.order_s = 1e-3 * ms_of([&] { system.emplace(functions, csr); });
  row.first = ms_of([&] { system->factor(); });
  row.refactor = median_ms(
      options.repeat, [] {}, [&] { system->factor(); });
  const auto solve = [&](std::int64_t columns) {
    const std::vector<double> b = right_sides(a, columns);
    cudss_peer::DeviceArray right(functions, b.size() * 8), left(functions, b.size() * 8);
    right.put(b.data(), b.size() * 8);
    const auto once = [&] { system->solve(right.data(), left.data(), columns); };
    once();
    const double ms = median_ms(
        options.repeat, [] {}, once);
    std::vector<double> got(b.size());
    cudss_peer::need(functions.copy(got.data(), left.data(), got.size() * 8, cudss_peer::memory_to_host), "copy");
    row.error = std::max(std::isnan(row.error) ? 0 : row.error, error_of(a, b, got));
    return ms;
  };
  row.solve = solve(1), row.solve8 = solve(8), row.solve64 = solve(64);
  return row;
}

void print(const Problem &a, const char *name, const Row &row, const Row *other) {
  std::printf(
      "| %s | %lld | %s | %.1f | %lld | %.2f | %.2f | %.2f | %.2f | %.3f | %.2f | %.3f | %.2f | %.2f | %.2f | %.0e |",
      a.name.c_str(), (long long)a.n(), name, 1e-6 * static_cast<double>(row.nnz_l), (long long)row.supers,
      1e-9 * row.flops, row.device_gb, row.order_s, row.first, row.refactor, row.predicted, row.solve,
      row.predicted_solve, row.solve8, row.solve64, row.error);
  if (other)
    std::printf(" %.2f | %.2f |\n", other->refactor / row.refactor, other->solve / row.solve);
  else
    std::printf(" | |\n");
  std::fflush(stdout);
}

template <class F>
std::optional<Row> attempt(const Problem &a, const char *name, F &&f) {
  try {
    return f();
  } catch (const std::exception &problem) {
    std::printf("| %s | %lld | %s | %s |\n", a.name.c_str(), (long long)a.n(), name, problem.what());
    std::fflush(stdout);
    return std::nullopt;
  }
}

void measure(const OnGpu &context, const cudss_peer::Functions *functions, const std::string &name,
             const Options &options) {
  const Problem a = gpu_test::problem_of(name, context.handle);
  std::optional<Row> theirs;
  if (functions) theirs = attempt(a, "cuDSS", [&] { return cudss(*functions, a, options); });
  for (const char *scheduler : {"cholesky.levels.cuda", "cholesky.streams.cuda"}) {
    if (!options.only.empty() && options.only != scheduler) continue;
    const std::optional<Row> row = attempt(a, scheduler, [&] { return ours(context, a, options, scheduler); });
    if (row) print(a, scheduler, *row, theirs ? &*theirs : nullptr);
  }
  if (theirs) print(a, "cuDSS", *theirs, nullptr);
}

Options parse(int argc, char **argv) {
  Options out;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value = [&] {
      if (++k >= argc) throw std::runtime_error(word + " needs a value");
      return std::string(argv[k]);
    };
    if (word == "--cudss") {
      out.cudss = value();
    } else if (word == "--order") {
      out.order = value();
    } else if (word == "--only") {
      out.only = value();
    } else if (word == "--repeat") {
      out.repeat = std::stoi(value());
    } else if (word == "--launch") {
      const std::string text = value();
      out.launch = {std::stoll(text), std::stoll(text.substr(text.find(',') + 1))};
    } else {
      out.problems.push_back(word);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    const Options options = parse(argc, argv);
    const OnGpu context;
    cudss_peer::Functions functions;
    std::string tried, location;
    const char *const folders[] = {options.cudss.c_str(), nullptr};
    const bool there = !options.cudss.empty() && functions.load(folders, tried, location);
    if (!options.cudss.empty() && !there) std::fprintf(stderr, "cuDSS was not found: %s\n", tried.c_str());
    std::printf(
        "| problem | n | by | nnz(L) M | supernodes | GFlop | device GB | order s | first ms | refactor ms | "
        "predicted | solve ms | predicted | 8 rhs | 64 rhs | error | refactor, cuDSS / it | solve |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string &name : options.problems) measure(context, there ? &functions : nullptr, name, options);
    return 0;
  } catch (const std::exception &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
