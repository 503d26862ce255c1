// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@.product: y = alpha A x + beta y over the format of format.hpp, rows shared by threads. The library weighs
// it together with the storage: set-up, memory and runs.
#include <cstdint>

#include "format.hpp"
#include "sextant/sdk/cpu/spmv.hpp"

using namespace sextant::plugin;

namespace {

const char *const storages[] = {KIND_STORAGE, nullptr};
const char *const features[] = {SXT_X_FEATURES, SXT_ROW_FEATURES, nullptr};

// Read-only while anything runs. The storage outlives it.
struct State {
  const NearCsr *a;
  std::int64_t threads;
};

// Room of one caller; several callers may run one state, each with a session of its own. Where yours needs none, leave
// out the struct, open and close.
struct Session {
  std::int64_t runs = 0;
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.matrix_type != q.m.q.value_type) return refuse_types(q.m.q.value_type, q.m.matrix_type, reason);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "op %d: it does not transpose", q.op);
  if (q.n_rhs != 1) return refuse(reason, "%d right-hand sides: it takes one", q.n_rhs);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows);
  SpmvCost cost;
  cost.matrix_bytes = nnz * (2 + static_cast<double>(value_bytes(q.m.matrix_type))) + 4 * rows;
  cost.lanes = nnz;
  cost.slowdown = scalar_slowdown(*machine, q.m.q.value_type);
  cost.steps = rows;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    cost.imbalance = equal_rows_imbalance(q, found, n_x_features, threads);  // run gives threads equally many rows
    fill_spmv(list.add(), q, found, *machine, threads, cost).state_bytes = sizeof(State);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{&as<NearCsr>(problem->a), candidate ? candidate->launch[0] : exec->threads}, state);
  });
}

// The storage has taken the new values itself.
sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<NearCsr>(problem->a), SXT_OK;
}

sxt_status open(const void *, const sxt_filled *, const sxt_exec *exec, void **session) {
  return guard(exec, [&] { return give(new Session, session); });
}

template <class T, class Offset>
void multiply(const NearCsr &a, const sxt_spmv_args &args, Range rows) {
  const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
  const T *values = static_cast<const T *>(a.values), *x = static_cast<const T *>(args.x);
  T *y = static_cast<T *>(args.y);
  const T alpha = scalar(args.alpha, T(1)), beta = scalar(args.beta, T(0));
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    T sum{};
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += product(values[k], x[i + a.distance[k]]);
    store(y[i], sum, alpha, beta);
  }
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const NearCsr &a = *state.a;
  ++static_cast<Session *>(session)->runs;
  const int team = team_size(state.threads, *exec);
  return with_value_type(a.s.value_type, [&]<class T>(Tag<T>) {
    return with_index_type(a.s.offset_type, [&]<class Offset>(Tag<Offset>) {
      for_each_part(team, team, [&](int part) {
        multiply<T, Offset>(a, as<sxt_spmv_args>(head), part_of(a.s.rows, team, part, 16));
      });
      return SXT_OK;
    });
  });
}

}  // namespace

extern const sxt_kernel product_kernel;
const sxt_kernel product_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "@KERNEL@.product", "cpu", "rows with columns as 16-bit distances", run);
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
