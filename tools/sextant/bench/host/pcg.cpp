// SPDX-License-Identifier: BSD-3-Clause
// Suite pcg: whole solves with Jacobi to one true residual: the library's choice, every engine with every recurrence, a
// textbook's loop, and the peers. The set-up is timed apart; the textbook's inverse diagonal is in its run.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bench/bench.hpp"
#include "report/explanation.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace tool {
namespace {

constexpr const char *recurrence_names[] = {
#define SXT_X(suffix, value, name, source) name,
    SXT_RECURRENCE_TABLE(SXT_X)
#undef SXT_X
};

// A solve counts as converged while its own residual is within this factor of the true one.
constexpr double drift = 2;

// Common data of all solves of a matrix: b = A * ones.
struct System {
  BenchMatrix &matrix;
  std::vector<double> b, r;
  double rhs_norm = 0;
  explicit System(BenchMatrix &a) : matrix(a), b(static_cast<std::size_t>(a.csr.rows)), r(b.size()) {
    const std::vector<double> ones(b.size(), 1.0);
    textbook::spmv(matrix.csr, ones.data(), b.data());
    rhs_norm = norm(b);
  }
  static double norm(const std::vector<double> &v) {
    double sum = 0;
    for (const double value : v) sum += value * value;
    return std::sqrt(sum);
  }
  // |b - A x| / |b|
  double residual(const std::vector<double> &x) {
    textbook::spmv(matrix.csr, x.data(), r.data());
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
    return rhs_norm > 0 ? norm(r) / rhs_norm : norm(r);
  }
};

// One way to solve; each keeps its own x, which the residual is computed from.
struct Solve {
  std::vector<double> x;
  std::int64_t iterations = 0;
  sxt_pcg_report report{};
  Pcg pcg;
  std::shared_ptr<void> peer_state;
};

// What an iteration must at least move: A once, and ten vectors (p and q of the product, two reads of r, z and x each
// with their writes, and the new p).
double iteration_traffic(const textbook::Csr &a) {
  return static_cast<double>(a.nnz) * 12 + static_cast<double>(a.rows) * (4 + 10 * 8);
}

// A contender around the solve; the caller fills run and name. Its row states the residual it reached.
Contender contender_for(System &system, const std::shared_ptr<Solve> &solve, double rtol) {
  solve->x.assign(system.b.size(), 0.0);
  Contender contender;
  contender.keep = solve;
  contender.details = [&system, rtol, handle = solve.get()] {
    const double residual = system.residual(handle->x);
    return Json{{"iterations", handle->iterations},
                {"true_relative_residual", residual},
                {"converged", residual <= drift * rtol}};
  };
  return contender;
}

// Empty when this pair does not apply, with the reason.
Pcg make_pcg(const BenchOptions &options, BenchMatrix &matrix, const char *engine, const char *recurrence,
             std::string &reason) {
  sxt_pcg_options native;
  sxt_pcg_options_init(&native, sizeof native);
  native.preconditioner = "jacobi";
  native.recurrence = recurrence;
  native.engine = engine;
  native.rtol = options.rtol;
  native.max_iterations = options.max_iterations;
  native.expected_iterations = static_cast<double>(options.max_iterations);
  sxt_pcg *pcg = nullptr;
  const sxt_status status = sxt_pcg_create(matrix.handle.get(), &native, &pcg);
  if (status != SXT_OK) reason = sxt_last_error(nullptr);
  // An error in the matrix concerns all of them.
  if (status == SXT_E_NOT_SQUARE || status == SXT_E_NOT_SYMMETRIC || status == SXT_E_DIAGONAL ||
      status == SXT_E_MEMORY) {
    throw ToolError(exit_code_of(status), fmt::format("{}: {}", matrix.name, reason), status);
  }
  return Pcg(status == SXT_OK ? pcg : nullptr);
}

// The engine that a set-up ended with.
std::string engine_of(const sxt_pcg *pcg) {
  const Json plan = explain_json(pcg).value("plan", Json::array());
  const Json *engine = find_kind(plan, SXT_KIND_PCG);
  return engine ? text_of(*engine, "kernel", "-") : "-";
}

// engine null: the library's choice of engine and recurrence.
void add_engine(BenchSession &session, System &system, const char *engine, const char *recurrence,
                std::vector<Contender> &contenders) {
  const std::string name = engine ? fmt::format("{}/{}", engine, recurrence) : own_choice;
  session.report.show(system.matrix.name, name);
  auto solve = std::make_shared<Solve>();
  std::string reason;
  const double setup_seconds =
      seconds_of([&] { solve->pcg = make_pcg(session.options, system.matrix, engine, recurrence, reason); });
  if (!solve->pcg) {
    return engine ? session.report.skip(system.matrix.name, name, reason)
                  : session.report.fail(system.matrix.name, name, reason);
  }
  solve->report.struct_size = sizeof(sxt_pcg_report);
  Contender contender = contender_for(system, solve, session.options.rtol);
  contender.name = engine ? engine : own_choice;
  contender.setup_seconds = setup_seconds;
  contender.run = [&system, handle = solve.get()] {
    const auto n = static_cast<std::int64_t>(system.b.size());
    const sxt_status status =
        sxt_pcg_solve_array(handle->pcg.get(), n, system.b.data(), handle->x.data(), nullptr, &handle->report);
    if (status != SXT_NOT_CONVERGED) check(status, nullptr);  // the iteration limit is a fair end here
    handle->iterations = handle->report.iterations;
  };
  contender.details = [handle = solve.get(), shared = contender.details, chosen = engine_of(solve->pcg.get()),
                       recurrence = std::string(recurrence ? recurrence : "auto")] {
    Json details = shared();
    details["recurrence"] = recurrence;
    details["chosen"] = chosen;
    details["reason"] = sxt_reason_name(handle->report.reason);
    return details;
  };
  contenders.push_back(std::move(contender));
}

void add_peer(BenchSession &session, System &system, const sxt_peer *peer, std::vector<Contender> &contenders) {
  sxt_peer_csr csr{};
  if (!peer->cg_run || !peer_csr(session, system.matrix, csr)) return;
  session.report.show(system.matrix.name, peer->name);
  sxt_peer_message message{};
  void *state = nullptr;
  int status = 0;
  const double setup_seconds = seconds_of([&] { status = peer->cg_prepare(&csr, &state, &message); });
  if (status != 0) return session.report.skip(system.matrix.name, peer->name, message.text);
  auto solve = std::make_shared<Solve>();
  solve->peer_state = std::shared_ptr<void>(state, peer->cg_release);
  Contender contender = contender_for(system, solve, session.options.rtol);
  contender.name = peer->name;
  contender.peer = true;
  contender.own_threads = peer->own_threads != 0;
  contender.setup_seconds = setup_seconds;
  contender.run = [&system, &options = session.options, peer, handle = solve.get()] {
    const int failed = peer->cg_run(handle->peer_state.get(), system.b.data(), handle->x.data(), options.rtol,
                                    options.max_iterations, &handle->iterations);
    if (failed) fail(exit_not_solved, "{} answered {}", peer->name, failed);
  };
  contenders.push_back(std::move(contender));
}

void bench_solves(BenchSession &session, BenchMatrix &matrix) {
  const BenchOptions &options = session.options;
  System system(matrix);
  std::vector<Contender> contenders;
  auto textbook_solve = std::make_shared<Solve>();
  contenders.push_back(contender_for(system, textbook_solve, options.rtol));
  contenders[0].name = "textbook";
  contenders[0].peer = true;
  std::vector<double> work(5 * system.b.size());
  contenders[0].run = [&, handle = textbook_solve.get()] {
    handle->iterations =
        textbook::pcg(matrix.csr, system.b.data(), handle->x.data(), options.rtol, options.max_iterations, work.data());
  };
  add_engine(session, system, nullptr, nullptr, contenders);
  for (const std::string &engine : kernels_of(SXT_KIND_PCG)) {
    for (const char *recurrence : recurrence_names) add_engine(session, system, engine.c_str(), recurrence, contenders);
  }
  for (const sxt_peer *peer : session.peers.ready) add_peer(session, system, peer, contenders);
  session.report.show(matrix.name, "measuring");
  measure(contenders, options.repeat);
  for (Contender &contender : contenders) {
    // Traffic and prediction are for the iterations that it took.
    Solve &solve = *static_cast<Solve *>(contender.keep.get());
    contender.bytes = static_cast<double>(solve.iterations) * iteration_traffic(matrix.csr);
    if (!contender.peer) contender.predicted_seconds = solve.report.predicted_solve_seconds;
    if (!contender.failure.empty() || !contender.details) continue;
    contender.details = [shared = contender.details, &solve, seconds = contender.seconds] {
      Json details = shared();
      const auto count = static_cast<double>(std::max<std::int64_t>(1, solve.iterations));
      details["seconds_per_iteration"] = seconds / count;
      return details;
    };
  }
  session.report.add(matrix.name, contenders, 0, {{"rows", matrix.csr.rows}, {"nnz", matrix.csr.nnz}});
}

}  // namespace

int bench_pcg(const BenchOptions &options) {
  BenchSession session(options, "pcg");
  for_each_matrix(session, 40'000, true, [&](BenchMatrix &matrix) { bench_solves(session, matrix); });
  return session.finish();
}

}  // namespace tool
