// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.simd.cpu: rows in eight lanes (csr_simd_isa.cpp); every thread takes whole rows with an equal share of rows
// + entries. Bits do not depend on threads: a row is summed in an order that only its length decides.
#include <cstdint>
#include <memory>

#include "csr_model.hpp"
#include "csr_table.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_csr {
namespace {

using namespace plugin;

// A row costs about as much as two entries beside its own.
constexpr std::int64_t row_weight = 2;

struct State {
  const sxt_csr *a;
  sxt_value_type type;
  int parts;
  const Table *table;
  Memory borders;  // parts + 1 rows, at multiples of eight
};

sxt_status simd_applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                           sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op != SXT_NO_TRANSPOSE)
    return refuse(reason, "operation %d: rows are summed for op 0 (no transpose) only", q.op);
  if (lane_pair(q.m.q.value_type, q.m.matrix_type) < 0)
    return refuse(reason, "%s vectors: lanes hold f32 and f64 only", value_name(q.m.q.value_type));
  return applicable(query, found, machine, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost = cost_of(q, *machine, false);
    cost.lanes = lanes_of(q, found);
    cost.mispredictions = row_mispredictions(q, found, threads, true);
    cost.imbalance = longest_row_imbalance(q, feature(found, feature_row_max), threads);
    sxt_candidate &candidate = fill_spmv(list.add(), q, found, *machine, threads, cost);
    candidate.state_bytes = sizeof(State) + (threads + 1) * sizeof(std::int64_t);
    candidate.setup_s = 1e-6 + threads * 1e-7;  // a binary search a border
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_csr>(problem->a);
    sxt_status status = check_columns(a, simd_kernel.name, exec);
    if (status != SXT_OK) return status;
    auto state = std::make_unique<State>();
    state->a = &a;
    state->type = problem->query->value_type;
    state->parts = static_cast<int>(std::max<std::int64_t>(1, candidate ? candidate->launch[0] : exec->threads));
    state->table = &isa_table(isa_level(candidate));
    state->borders = Memory(exec, SXT_SPACE_HOST, (state->parts + 1) * sizeof(std::int64_t));
    status = with_index_type(a.s.offset_type, [&](auto tag) {
      const auto *row_ptr = static_cast<const typename decltype(tag)::type *>(a.row_ptr);
      for (int p = 0; p <= state->parts; ++p)
        state->borders.as<std::int64_t>()[p] = equal_border(row_ptr, a.s.rows, row_weight, state->parts, p, 8);
      return SXT_OK;
    });
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const sxt_csr &a = *state.a;
  const int pair = lane_pair(state.type, a.s.value_type);
  if (args.op != SXT_NO_TRANSPOSE || pair < 0)
    return error(exec, SXT_E_NOT_SUPPORTED, "%s multiplies by real matrices, not transposed", simd_kernel.name);
  return with_value_type(state.type, [&](auto tag) {
    using V = typename decltype(tag)::type;
    if constexpr (!is_complex<V>) {
      const Vectors<V> v = {scalar(args.alpha, V(1)),
                            scalar(args.beta, V(0)),
                            static_cast<const V *>(args.x),
                            static_cast<V *>(args.y),
                            args.ldx,
                            args.ldy};
      const RowsCall call = rows_call(a, v, args.n_rhs);
      const auto rows = state.table->rows[pair][a.s.offset_type == SXT_I64];
      const std::int64_t *border = state.borders.as<std::int64_t>();
      for_each_part(state.parts, team_size(state.parts, *exec),
                    [&](int part) { rows(call, border[part], border[part + 1]); });
    }
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel simd_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.simd.cpu", "cpu",
                            "CSR in eight lanes, eight rows at a time, threads share entries by whole rows", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {simd_applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace sextant::spmv_csr
