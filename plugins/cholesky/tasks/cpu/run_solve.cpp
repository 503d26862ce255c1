// SPDX-License-Identifier: BSD-3-Clause
#include <complex>

#include "runs.hpp"

namespace sextant_cholesky_tasks {

using namespace sextant::plugin;
using sextant_cholesky::set_of;

// Right-hand sides go in groups of `columns`, whatever the threads, so that results do not depend on these.
sxt_status run_solve(const Session &session, const sxt_cholesky_args &args, const sxt_exec &exec, int threads) {
  const std::int64_t columns = session.state.columns, groups = (args.n_rhs + columns - 1) / columns;
  const bool small = session.state.is_small(), apart = session.state.apart;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Worst worst;
    const auto group = [&](std::int64_t item, int rank, int team, int lane = 0) {
      const std::int64_t set = item / groups, first = item % groups * columns;
      SolveCall<T> call{};
      call.l = set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set);
      call.b = set_of<T>(args.b, args.stride_b, set) + first * args.ldb;
      call.ldb = args.ldb, call.columns = std::min(columns, args.n_rhs - first);
      call.phase = args.phase, call.unit = args.factors == SXT_FACTORS_LDLH;
      call.type = args.value_type, call.parts = session.parts;
      const SolveSpace space = session.solve_space(rank, lane);
      Solve<T> solve(session.state.plan, space, call, exec);
      worst.keep(solve.run(team) ? solve.status() : SXT_NOT_CONVERGED);
    };
    if (small)
      for_each_item(args.n_sets * groups, threads, [&](std::int64_t item, int rank) { group(item, rank, 1); });
    else if (apart)
      for_each_item(args.n_sets * groups, threads, [&](std::int64_t item, int lane) { group(item, 0, 1, lane); });
    else
      for (std::int64_t item = 0; item < args.n_sets * groups && worst.get() == SXT_OK; ++item) group(item, 0, threads);
    return worst.get();
  });
}

}  // namespace sextant_cholesky_tasks
