// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: z = M r, where M = diag(sum of |row i|)^-1: the Jacobi method in the 1-norm of the rows (Baker, Falgout,
// Kolev, Yang, SIAM J. Sci. Comput. 33, 2011). M is positive definite for every matrix without an empty row.
#include <cmath>
#include <cstdint>
#include <memory>

#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

namespace {

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};  // what prepare reads

// Read-only while anything runs: the diagonal of M, in the real type of the vectors.
struct State {
  sxt_value_type type;
  std::int64_t n, threads;
  Memory diagonal;
};

// Room of one caller; several callers may run one state, each with a session of its own. Where yours needs none, leave
// out the struct, open and close.
struct Session {
  std::int64_t runs = 0;
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_preconditioner_query>(query);
  if (q.method[0] && std::strncmp(q.method, "@NAME@", sizeof q.method) != 0)
    return refuse(reason, "this is \"@NAME@\", the query asks for \"%.24s\"", q.method);
  if (q.m.rows != q.m.cols)
    return refuse(reason, "the matrix has %lld rows, %lld columns", (long long)q.m.rows, (long long)q.m.cols);
  return SXT_OK;
}

// A run reads r and the diagonal and writes z. The set-up reads the matrix once, on one thread.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_preconditioner_query>(query);
  const double n = static_cast<double>(q.m.rows), bytes = static_cast<double>(value_bytes(q.m.q.value_type));
  const double matrix_bytes = static_cast<double>(q.m.nnz) * (4 + static_cast<double>(value_bytes(q.m.matrix_type)));
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 3 * n * bytes;
  cost.flops = n * multiply_add_flops(q.m.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.setup_s = 1e-6 + matrix_bytes / machine->stream_rate_unit;
    candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(n * bytes);
  });
  return SXT_OK;
}

// R: the vectors' real type.
template <class T, class R>
sxt_status sum_rows(State &state, const sxt_csr &a, const sxt_exec *exec) {
  R *diagonal = state.diagonal.as<R>();
  const T *values = static_cast<const T *>(a.values);
  for (std::int64_t i = 0; i < state.n; ++i) diagonal[i] = 0;
  for_each_entry(a, {0, state.n}, [&](std::int64_t i, std::int64_t k, std::int64_t) {
    diagonal[i] += static_cast<R>(std::abs(values[k]));
  });
  for (std::int64_t i = 0; i < state.n; ++i) {
    if (!(diagonal[i] > 0) || !std::isfinite(diagonal[i]))
      return error(exec, SXT_E_DIAGONAL, "row %lld (counting from 0) has the sum of magnitudes %g", (long long)i,
                   static_cast<double>(diagonal[i]));
    diagonal[i] = 1 / diagonal[i];
  }
  return SXT_OK;
}

sxt_status compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  return with_value_type(a.s.value_type, [&]<class T>(Tag<T>) {
    return state.type == SXT_F32 || state.type == SXT_C64 ? sum_rows<T, float>(state, a, exec)
                                                          : sum_rows<T, double>(state, a, exec);
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&]() -> sxt_status {
    const auto &a = as<sxt_csr>(problem->a);
    const sxt_value_type type = problem->query->value_type;
    const std::uint64_t bytes = static_cast<std::uint64_t>(a.s.rows) * (type == SXT_F32 || type == SXT_C64 ? 4 : 8);
    auto state = std::unique_ptr<State>(new State{type, a.s.rows, candidate ? candidate->launch[0] : exec->threads,
                                                  Memory(exec, SXT_SPACE_HOST, bytes)});
    if (const sxt_status failed = compute(*state, a, exec)) return failed;
    return give(state.release(), out);
  });
}

// New values on the same pattern, in memory that is there.
sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return compute(*static_cast<State *>(state), as<sxt_csr>(problem->a), exec);
}

sxt_status open(const void *, const sxt_filled *, const sxt_exec *exec, void **session) {
  return guard(exec, [&] { return give(new Session, session); });
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_preconditioner_args>(head);
  ++static_cast<Session *>(session)->runs;
  const int team = team_size(state.threads, *exec);
  return with_value_type(state.type, [&]<class T>(Tag<T>) {
    for_each_part(team, team, [&](int part) {
      const auto *diagonal = state.diagonal.as<real_of<T>>();
      const T *r = static_cast<const T *>(args.r);
      T *z = static_cast<T *>(args.z);
      const Range range = part_of(state.n, team, part, 64);
      for (std::int64_t i = range.begin; i < range.end; ++i) z[i] = diagonal[i] * r[i];
    });
    return SXT_OK;
  });
}

// The name by which users ask for it, no symmetric scaling, no variants; and how many iterations it takes as a share of
// those with the diagonal, by which it is found worth a trial.
const sxt_preconditioner_ops ops = {sizeof(sxt_preconditioner_ops), "@NAME@", nullptr, nullptr, 1};

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_PRECONDITIONER, "@KERNEL@", "cpu", "the inverse of the rows' 1-norms", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = all_value_types;
  k.storages = storages;
  k.term_names = cpu_terms;
  k.ops = &ops;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
