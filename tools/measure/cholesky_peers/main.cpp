// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky on a GPU with everything in device memory: the schedulers of this build and cuDSS in one run.
//
//   gpu_cholesky_peers [--cudss FOLDER] [--order NAME] [--amalgamation T] [--launch BLOCK,KIB] [--repeat N]
//                      [--only SCHEDULER] [--single PRODUCTS]... [--calls] [--cpu THREADS] PROBLEM...
//
// --single: a row of cholesky.levels.cuda with a factor of f32, by PRODUCTS TF32 products for one (1, 3; 0:
// multiply-adds).
// --calls: rows of whole calls, values on the host, with a factor of f64 and with one of f32 whose solves are refined.
// --cpu: a row of the CPU's scheduler.
//
// A table on stdout, as Markdown. PROBLEM: 5pt:SIDE, 7pt:SIDE, 27pt:SIDE, 27pt3:SIDE (three unknowns a point), or a
// Matrix Market file. Times are medians, in milliseconds, of calls that begin and end with an idle device: the first
// factorisation, refactorisations with the values on the device, solves in place of 1, 8 and 64 right-hand sides. It
// reaches into core, as no public call leaves out the copies of values.
#include <cstdio>

#include "peers.hpp"
#include "problem_files.hpp"
#include "tools/peers/cudss/system.hpp"

namespace {

using namespace peers;
using gpu_test::problem_of;

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
      "| %s | %lld | %s | %.1f | %lld | %.2f | %.2f | %.2f | %.2f | %.3f | %.2f | %.3f | %.2f | %.2f | %.2f | %.0e | "
      "%.0f |",
      a.name.c_str(), (long long)a.n(), name, 1e-6 * static_cast<double>(row.nnz_l), (long long)row.supers,
      1e-9 * row.flops, row.device_gb, row.order_s, row.first, row.refactor, row.predicted, row.solve,
      row.predicted_solve, row.solve8, row.solve64, row.error, row.refined);
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

void measure(const InContext &context, const InContext *host, const cudss_peer::Functions *functions,
             const std::string &name, const Options &options) {
  const Problem a = problem_of(name, context.handle);
  std::optional<Row> theirs;
  if (functions) theirs = attempt(a, "cuDSS", [&] { return cudss(*functions, a, options); });
  const auto row_of = [&](const std::string &title, auto &&f) {
    const std::optional<Row> row = attempt(a, title.c_str(), f);
    if (row) print(a, title.c_str(), *row, theirs ? &*theirs : nullptr);
  };
  const std::string levels = "cholesky.levels.cuda";
  for (const char *scheduler : {"cholesky.levels.cuda", "cholesky.streams.cuda"}) {
    if (!options.only.empty() && options.only != scheduler) continue;
    row_of(scheduler, [&] { return by_kernel(context, a, options, scheduler, -1); });
  }
  for (const bool single : {false, true})
    if (options.calls)
      row_of(levels + (single ? " calls, f32 refined" : " calls"),
             [&] { return by_calls(context, a, options, levels.c_str(), single); });
  if (host)
    row_of("CPU, " + std::to_string(options.cpu_threads) + " threads",
           [&] { return by_calls(*host, a, options, "", false); });
  // Last: their plans hold for later rows, too.
  for (const int products : options.single)
    row_of(levels + " f32, " + (products ? std::to_string(products) + " TF32" : "multiply-adds"),
           [&] { return by_kernel(context, a, options, levels.c_str(), products); });
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
      out.launch = gpu_test::CholeskyLaunch{std::stoll(text), std::stoll(text.substr(text.find(',') + 1))};
    } else if (word == "--single") {
      out.single.push_back(std::stoi(value()));
    } else if (word == "--amalgamation") {
      out.amalgamation = std::stoll(value());
    } else if (word == "--cpu") {
      out.cpu_threads = std::stoi(value());
    } else if (word == "--calls") {
      out.calls = true;
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
    const InContext context("cuda");
    const std::unique_ptr<InContext> host(options.cpu_threads ? new InContext("cpu", options.cpu_threads) : nullptr);
    cudss_peer::Functions functions;
    std::string tried, location;
    const char *const folders[] = {options.cudss.c_str(), nullptr};
    const bool there = !options.cudss.empty() && functions.load(folders, tried, location);
    if (!options.cudss.empty() && !there) std::fprintf(stderr, "cuDSS was not found: %s\n", tried.c_str());
    std::printf(
        "| problem | n | by | nnz(L) M | supernodes | GFlop | device GB | order s | first ms | refactor ms | "
        "predicted | solve ms | predicted | 8 rhs | 64 rhs | error | corrections | refactor, cuDSS / it | solve |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string &name : options.problems)
      measure(context, host.get(), there ? &functions : nullptr, name, options);
    return 0;
  } catch (const std::exception &problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
