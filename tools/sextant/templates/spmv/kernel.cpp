// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: y = alpha A x + beta y over CSR, one row after the other, rows shared by threads.
#include <cstdint>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/cpu/spmv.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

namespace {

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};  // what it can read
// Features of the matrix that its model reads, in this order: first those of fill_spmv, then those of
// equal_rows_imbalance, of which the first is the longest row.
const char *const features[] = {SXT_X_FEATURES, SXT_ROW_FEATURES, nullptr};

// Read-only while anything runs. The matrix outlives it.
struct State {
  const sxt_csr *a;
  std::int64_t threads;
};

// Room of one caller; several callers may run one state, each with a session of its own. Where yours needs none, leave
// out the struct, open and close.
struct Session {
  std::int64_t runs = 0;
};

// A feature that is not computed yet is NaN, here and in candidates.
sxt_status applicable(const sxt_query *query, [[maybe_unused]] const sxt_features *found, const sxt_machine *,
                      sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.matrix_type != q.m.q.value_type) return refuse_types(q.m.q.value_type, q.m.matrix_type, reason);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "op %d: it does not transpose", q.op);
  if (q.n_rhs != 1) return refuse(reason, "%d right-hand sides: it takes one", q.n_rhs);
  return SXT_OK;
}

// What a run takes: bytes of A, multiply-adds, rows begun, and how much more than the mean the busiest thread has: run
// gives each thread equally many rows. x, y and the threads are added by fill_spmv.
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows);
  SpmvCost cost;
  cost.matrix_bytes = nnz * (4 + static_cast<double>(value_bytes(q.m.matrix_type))) + 4 * rows;
  cost.lanes = nnz;
  cost.slowdown = scalar_slowdown(*machine, q.m.q.value_type);
  cost.steps = rows;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    cost.imbalance = equal_rows_imbalance(q, found, n_x_features, threads);
    fill_spmv(list.add(), q, found, *machine, threads, cost).state_bytes = sizeof(State);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &a = as<sxt_csr>(problem->a);
    return give(new State{&a, candidate ? candidate->launch[0] : exec->threads}, state);
  });
}

// New values on the same pattern. What was computed from the values is computed again, in memory that is there.
sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_csr>(problem->a), SXT_OK;
}

sxt_status open(const void *, const sxt_filled *, const sxt_exec *exec, void **session) {
  return guard(exec, [&] { return give(new Session, session); });
}

template <class T, class Offset, class Column>
void multiply(const sxt_csr &a, const Offset *row_ptr, const Column *col, const sxt_spmv_args &args, Range rows) {
  const T *values = static_cast<const T *>(a.values), *x = static_cast<const T *>(args.x);
  T *y = static_cast<T *>(args.y);
  const T alpha = scalar(args.alpha, T(1)), beta = scalar(args.beta, T(0));
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    T sum{};
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += product(values[k], x[col[k]]);
    store(y[i], sum, alpha, beta);
  }
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const sxt_csr &a = *state.a;
  ++static_cast<Session *>(session)->runs;
  const int team = team_size(state.threads, *exec);
  return with_value_type(a.s.value_type, [&]<class T>(Tag<T>) {
    return with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
      for_each_part(team, team, [&](int part) {
        multiply<T>(a, row_ptr, col, as<sxt_spmv_args>(head), part_of(a.s.rows, team, part, 16));
      });
      return SXT_OK;
    });
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "@KERNEL@", "cpu", "CSR row by row, threads share the rows", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = all_value_types;
  k.features = features;
  k.storages = storages;
  k.term_names = spmv_terms;
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
