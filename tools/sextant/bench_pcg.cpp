// SPDX-License-Identifier: BSD-3-Clause
// Suite pcg: whole solves by every engine with every recurrence, next to a textbook's Jacobi-preconditioned loop. The
// set-up is not in the time; the textbook's inverse diagonal is.
#include <cstdint>

#include "bench.hpp"
#include "sextant/kinds/pcg.h"

namespace tool {
namespace {

constexpr const char *kRecurrences[] = {
#define SXT_X(suffix, value, name, source) name,
    SXT_RECURRENCE_TABLE(SXT_X)
#undef SXT_X
};

// One engine with one recurrence, set up on a matrix.
struct Solver {
  std::string engine, recurrence;
  Pcg pcg;
  sxt_pcg_report report{};
};

// Empty when this pair does not apply, with the reason.
Pcg make_pcg(const BenchOptions &options, BenchMatrix &matrix, const std::string &engine, const char *recurrence,
             std::string &reason) {
  sxt_pcg_options native;
  sxt_pcg_options_init(&native, sizeof native);
  native.preconditioner = "jacobi";
  native.recurrence = recurrence;
  native.engine = engine.c_str();
  native.rtol = options.rtol;
  native.max_iterations = options.max_iterations;
  native.expected_iterations = static_cast<double>(options.max_iterations);
  sxt_pcg *pcg = nullptr;
  const sxt_status status = sxt_pcg_create(matrix.handle.get(), &native, &pcg);
  if (status != SXT_OK) reason = sxt_last_error(nullptr);
  // What is wrong with the matrix is wrong for all of them.
  if (status == SXT_E_NOT_SQUARE || status == SXT_E_NOT_SYMMETRIC || status == SXT_E_DIAGONAL ||
      status == SXT_E_MEMORY) {
    throw ToolError(exit_code_of(status), fmt::format("{}: {}", matrix.name, reason), status);
  }
  return Pcg(status == SXT_OK ? pcg : nullptr);
}

std::vector<Solver> make_solvers(const BenchOptions &options, BenchMatrix &matrix, BenchReport &report) {
  std::vector<Solver> solvers;
  for (const std::string &engine : kernels_of(SXT_KIND_PCG)) {
    for (const char *recurrence : kRecurrences) {
      const std::string name = fmt::format("{}/{}", engine, recurrence);
      report.show(matrix.name, name);
      std::string reason;
      Pcg pcg = make_pcg(options, matrix, engine, recurrence, reason);
      if (!pcg) {
        report.skip(matrix.name, name, reason);
        continue;
      }
      solvers.push_back({engine, recurrence, std::move(pcg), {}});
      solvers.back().report.struct_size = sizeof(sxt_pcg_report);
    }
  }
  return solvers;
}

// What an iteration must at least move: A once, and ten vectors (p and q of the product, two reads of r, z and x each
// with their writes, and the new p).
double traffic(const textbook::Csr &a) {
  return static_cast<double>(a.nnz) * 12 + static_cast<double>(a.rows) * (4 + 10 * 8);
}

// One group per solver: its own iteration count belongs to its row. Samples alternate with the textbook's.
void bench_solver(const BenchOptions &options, BenchMatrix &matrix, Solver &solver, BenchReport &report) {
  const std::int64_t n = matrix.csr.rows;
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  std::vector<double> b(ones.size()), x(ones.size()), peer_x(ones.size()), work(5 * ones.size());
  textbook::spmv(matrix.csr, ones.data(), b.data());
  std::int64_t peer_iterations = 0;
  std::vector<Contender> contenders(2);
  contenders[0].name = "textbook";
  contenders[0].run = [&] {
    peer_iterations =
        textbook::pcg(matrix.csr, b.data(), peer_x.data(), options.rtol, options.max_iterations, work.data());
  };
  contenders[1].name = solver.engine;
  contenders[1].run = [&] {
    const sxt_status status = sxt_pcg_solve_array(solver.pcg.get(), n, b.data(), x.data(), nullptr, &solver.report);
    if (status != SXT_NOT_CONVERGED) check(status, nullptr);  // the iteration limit is a fair end here
  };
  report.show(matrix.name, fmt::format("{}/{}", solver.engine, solver.recurrence));
  measure(contenders, options.repeat);
  contenders[1].predicted_seconds = solver.report.predicted_solve_seconds;  // for the iterations it took
  const double iterations = static_cast<double>(solver.report.iterations);
  report.add(fmt::format("{} {}", matrix.name, solver.recurrence), contenders, iterations * traffic(matrix.csr),
             {{"recurrence", solver.recurrence},
              {"rows", n},
              {"nnz", matrix.csr.nnz},
              {"iterations", solver.report.iterations},
              {"peer_iterations", peer_iterations},
              {"reason", sxt_reason_name(solver.report.reason)},
              {"true_relative_residual", solver.report.true_relative_residual}});
}

}  // namespace

int bench_pcg(const BenchOptions &options) {
  const Context context = open_context(options.context);
  BenchReport report("pcg");
  for_each_matrix(context.get(), options, 40'000, true, [&](BenchMatrix &matrix) {
    for (Solver &solver : make_solvers(options, matrix, report)) bench_solver(options, matrix, solver, report);
  });
  return report.finish(options);
}

}  // namespace tool
