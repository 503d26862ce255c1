// SPDX-License-Identifier: BSD-3-Clause
// Suite cholesky: one phase of a sparse direct solve (analysis, factorisation or solve): the library's choice, every
// scheduler, and the peers, each with an order of its own. The sequential scheduler takes the textbook's place, that of
// an analysis one with the order "amd". With several sets of values on the pattern ours are factored and solved in one
// call; the textbook, a loop over single factors, and the peers take one after the other.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bench/bench.hpp"
#include "sextant/cholesky_sets.h"
#include "sextant/plugin/kinds/cholesky.h"

namespace tool {
namespace {

constexpr double most_textbook_flops = 2e8;

enum class Phase { analysis, factor, solve };

using Sets = std::unique_ptr<sxt_cholesky_sets, Destroyer<sxt_cholesky_sets_destroy>>;

// One way to solve; each keeps its own x.
struct Direct {
  Analysis analysis;
  Cholesky factor;
  Sets sets;  // in place of factor, where there are several
  std::shared_ptr<void> peer_state;
  std::vector<double> x;
};

// Common data of all ways for one matrix: right-hand sides whose solutions are all ones.
struct Factored {
  Factored(BenchMatrix &a, std::int64_t n_rhs, std::int64_t n_sets)
      : matrix(a), rows(a.csr.rows), columns(n_rhs), sets(n_sets) {
    const std::vector<double> ones(static_cast<std::size_t>(rows), 1.0);
    std::vector<double> once(ones.size());
    textbook::spmv(matrix.csr, ones.data(), once.data());
    for (std::int64_t j = 0; j < columns; ++j) b.insert(b.end(), once.begin(), once.end());
    for (std::int64_t k = 0; k < matrix.csr.nnz; ++k) largest = std::max(largest, std::abs(matrix.csr.values[k]));
    for (std::int64_t s = 0; s < sets && sets > 1; ++s) {
      values.insert(values.end(), matrix.csr.values, matrix.csr.values + matrix.csr.nnz);
      all_b.insert(all_b.end(), b.begin(), b.end());
    }
  }
  // The largest entry of b - A x over that of A: the backward error of the last right-hand side, as x is near ones.
  double error(const std::vector<double> &x) const {
    std::vector<double> product(static_cast<std::size_t>(rows));
    textbook::spmv(matrix.csr, x.data() + static_cast<std::int64_t>(x.size()) - rows, product.data());
    double difference = 0;
    for (std::size_t i = 0; i < product.size(); ++i) {
      if (std::isnan(product[i])) return product[i];
      difference = std::max(difference, std::abs(b[i] - product[i]));
    }
    return largest > 0 ? difference / largest : difference;
  }
  BenchMatrix &matrix;
  sxt_context *context = nullptr;
  std::int64_t rows, columns, sets;
  std::vector<double> b, values, all_b;  // values and all_b: of all sets, where there are several
  double largest = 0;
};

Analysis analyse(BenchMatrix &matrix, const char *order, const char *scheduler, std::int64_t n_rhs) {
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.order = order;
  options.scheduler = scheduler;
  options.expected_factors = options.expected_solves = usual_runs;
  options.expected_rhs = n_rhs;
  sxt_analysis *analysis = nullptr;
  check(sxt_analysis_create(matrix.handle.get(), &options, &analysis), nullptr);
  return Analysis(analysis);
}

sxt_analysis_info about(const Direct &direct) {
  sxt_analysis_info info{};
  info.struct_size = sizeof info;
  check(sxt_analysis_get_info(direct.analysis.get(), &info), nullptr);
  return info;
}

void factor(Direct &direct) { check(sxt_cholesky_factor(direct.factor.get(), nullptr, nullptr), nullptr); }

void solve(Direct &direct, const Factored &system) {
  check(sxt_cholesky_solve(direct.factor.get(), system.rows, system.columns, system.b.data(), system.rows,
                           direct.x.data(), system.rows, nullptr, nullptr),
        nullptr);
}

// One of ours: name own_choice, a scheduler, or the textbook (an order of its own where the analysis is measured).
Contender ours(Factored &system, Phase phase, const std::string &name, const char *order, const char *scheduler) {
  auto direct = std::make_shared<Direct>();
  direct->x.assign(system.b.size(), 0.0);
  Contender contender;
  contender.name = name;
  contender.keep = direct;
  Direct *const handle = direct.get();
  if (phase == Phase::analysis) {
    contender.run = [&system, handle, order, scheduler] {
      handle->analysis = analyse(system.matrix, order, scheduler, system.columns);
    };
  } else {
    contender.setup_seconds =
        seconds_of([&] { handle->analysis = analyse(system.matrix, order, scheduler, system.columns); });
    sxt_cholesky *made = nullptr;
    check(sxt_cholesky_create(handle->analysis.get(), &made), nullptr);
    handle->factor = Cholesky(made);
    factor(*handle);
    const sxt_analysis_info info = about(*handle);
    const bool factors = phase == Phase::factor;
    contender.predicted_seconds = factors ? info.predicted_factor_seconds : info.predicted_solve_seconds;
    contender.bytes =
        (factors ? 1.0 : 2.0) * static_cast<double>(info.factor_bytes);  // a solve reads it there and back
    if (factors)
      contender.run = [handle] { factor(*handle); };
    else
      contender.run = [&system, handle] { solve(*handle, system); };
    contender.error = [&system, handle] {
      solve(*handle, system);
      return system.error(handle->x);
    };
  }
  contender.details = [handle] {
    const sxt_analysis_info info = about(*handle);
    return Json{{"nnz_l", info.nnz_l}, {"flops", info.flops}};
  };
  return contender;
}

// One of ours with all sets in one call, which has the values of the matrix in the order of its CSR arrays.
Contender ours_in_sets(Factored &system, Phase phase, const std::string &name, const char *scheduler) {
  struct InSets : Direct {
    BenchMatrix own;
  };
  auto direct = std::make_shared<InSets>();
  const textbook::Csr &csr = system.matrix.csr;
  sxt_matrix_options how;
  sxt_matrix_options_init(&how, sizeof how);
  how.index_type = csr.index_type, how.offset_type = csr.offset_type;
  sxt_matrix *matrix = nullptr;
  check(sxt_matrix_from_csr(system.context, csr.rows, csr.cols, csr.row_ptr, csr.col, csr.values, &how, &matrix),
        nullptr);
  direct->own.handle = Matrix(matrix);
  direct->x.assign(system.all_b.size(), 0.0);
  Contender contender;
  contender.name = name;
  contender.keep = direct;
  InSets *const handle = direct.get();
  contender.setup_seconds =
      seconds_of([&] { handle->analysis = analyse(handle->own, nullptr, scheduler, system.columns); });
  sxt_cholesky_sets *made = nullptr;
  check(sxt_cholesky_sets_create(handle->analysis.get(), system.sets, &made), nullptr);
  handle->sets = Sets(made);
  const auto factors = [&system, handle, nnz = csr.nnz] {
    check(sxt_cholesky_sets_factor(handle->sets.get(), 0, system.sets, nnz, system.values.data(), nnz, nullptr),
          nullptr);
  };
  const auto solves = [&system, handle] {
    const std::int64_t n = system.rows, each = n * system.columns;
    check(sxt_cholesky_sets_solve(handle->sets.get(), 0, system.sets, n, system.columns, system.all_b.data(), n, each,
                                  handle->x.data(), n, each, nullptr),
          nullptr);
  };
  factors();
  sxt_cholesky_sets_info info{};
  info.struct_size = sizeof info;
  check(sxt_cholesky_sets_get_info(made, &info), nullptr);
  const bool factoring = phase == Phase::factor;
  contender.predicted_seconds = factoring ? info.predicted_factor_seconds : info.predicted_solve_seconds;
  contender.bytes = (factoring ? 1.0 : 2.0) * static_cast<double>(info.factor_bytes);
  if (factoring)
    contender.run = factors;
  else
    contender.run = solves;
  contender.error = [&system, handle, solves] {
    solves();
    return system.error(handle->x);
  };
  contender.details = [handle] {
    const sxt_analysis_info found = about(*handle);
    return Json{{"nnz_l", found.nnz_l}, {"flops", found.flops}};
  };
  return contender;
}

// One set after the other.
Contender in_a_loop(Contender one, std::int64_t sets) {
  one.predicted_seconds *= static_cast<double>(sets);
  one.bytes *= static_cast<double>(sets);
  one.run = [run = std::move(one.run), sets] {
    for (std::int64_t s = 0; s < sets; ++s) run();
  };
  return one;
}

void peer_failed(const sxt_peer *peer, const char *what, int status) {
  if (status) fail(exit_not_solved, "{} failed to {}", peer->name, what);
}

// Throws ToolError where it refuses the matrix.
Contender theirs(Factored &system, Phase phase, const sxt_peer *peer, const sxt_peer_csr &csr) {
  auto direct = std::make_shared<Direct>();
  direct->x.assign(system.b.size(), 0.0);
  Contender contender;
  contender.name = peer->name;
  contender.peer = true;
  contender.own_threads = peer->own_threads != 0;
  contender.keep = direct;
  Direct *const handle = direct.get();
  const auto prepare = [handle, peer, csr] {
    sxt_peer_message message{};
    void *state = nullptr;
    if (peer->cholesky_prepare(&csr, &state, &message)) fail(exit_not_solved, "{}", message.text);
    handle->peer_state = std::shared_ptr<void>(state, peer->cholesky_release);
  };
  const auto solves = [handle, peer, &system] {
    peer_failed(peer, "solve",
                peer->cholesky_solve(handle->peer_state.get(), system.b.data(), handle->x.data(),
                                     static_cast<std::int32_t>(system.columns)));
  };
  const auto factors = [handle, peer] { peer_failed(peer, "factor", peer->cholesky_factor(handle->peer_state.get())); };
  if (phase == Phase::analysis) {
    contender.run = prepare;
    return contender;
  }
  contender.setup_seconds = seconds_of(prepare);
  factors();
  if (phase == Phase::factor)
    contender.run = factors;
  else
    contender.run = solves;
  contender.error = [&system, handle, solves] {
    solves();
    return system.error(handle->x);
  };
  return contender;
}

void bench_matrix(BenchSession &session, BenchMatrix &matrix, Phase phase) {
  const bool analysis = phase == Phase::analysis;
  Factored system(matrix, session.options.n_rhs, analysis ? 1 : session.options.sets);
  system.context = session.context.get();
  std::vector<Contender> contenders;
  const auto add = [&](const std::string &name, const auto &make) {
    session.report.show(matrix.name, name);
    try {
      contenders.push_back(make());
    } catch (const ToolError &error) {
      if (contenders.empty()) throw;  // the matrix has no such factor
      session.report.skip(matrix.name, name, error.what());
    }
  };
  const auto our_own = [&](const std::string &name, const char *scheduler) {
    return system.sets > 1 ? ours_in_sets(system, phase, name, scheduler)
                           : ours(system, phase, name, nullptr, scheduler);
  };
  add(own_choice, [&] { return our_own(own_choice, nullptr); });
  const double flops = analysis ? 0 : contenders[0].details()["flops"].get<double>();
  if (flops > most_textbook_flops)
    session.report.skip(matrix.name, "textbook",
                        fmt::format("{:.1e} flops take the sequential scheduler too long", flops));
  else
    add("textbook", [&] {
      Contender textbook =
          ours(system, phase, "textbook", analysis ? "amd" : nullptr, analysis ? nullptr : "cholesky.reference.cpu");
      textbook.peer = true;
      return in_a_loop(std::move(textbook), system.sets);
    });
  if (system.sets > 1)
    add("loop", [&] {
      Contender loop = ours(system, phase, "loop", nullptr, nullptr);
      loop.peer = true;
      return in_a_loop(std::move(loop), system.sets);
    });
  for (const std::string &kernel : kernels_of(SXT_KIND_CHOLESKY))
    if (!analysis && kernel != "cholesky.reference.cpu") add(kernel, [&] { return our_own(kernel, kernel.c_str()); });
  sxt_peer_csr csr{};
  if (peer_csr(session, matrix, csr))
    for (const sxt_peer *peer : session.peers.ready)
      if (peer->cholesky_prepare)
        add(peer->name, [&] { return in_a_loop(theirs(system, phase, peer, csr), system.sets); });
  session.report.show(matrix.name, "measuring");
  measure(contenders, session.options.repeat);
  session.report.add(
      matrix.name, contenders, 0,
      {{"rows", matrix.csr.rows}, {"nnz", matrix.csr.nnz}, {"n_rhs", system.columns}, {"sets", system.sets}});
}

}  // namespace

int bench_cholesky(const BenchOptions &given) {
  BenchOptions options = given;
  if (options.matrices.empty() && options.generate.empty()) options.generate = "stencil-2d,stencil-3d,stencil-27pt";
  const Phase phase = options.phase == "analysis" ? Phase::analysis
                      : options.phase == "solve"  ? Phase::solve
                                                  : Phase::factor;
  BenchSession session(options, "cholesky");
  for_each_matrix(session, options.sets > 1 ? 500 : 20'000, true,
                  [&](BenchMatrix &matrix) { bench_matrix(session, matrix, phase); });
  return session.finish();
}

}  // namespace tool
