// SPDX-License-Identifier: BSD-3-Clause
// spmv_dots.dia.cpu and spmv_dots.dia-symmetric.cpu: fused products with matrices held by diagonals.
#include <cstdint>

#include "fused.hpp"
#include "sextant/sdk/describe.hpp"

namespace spmv_dots_fused {
namespace {

using namespace plugin;

struct DiaState : State {
  const sxt_dia *a;
  DiaRows rows_of;
};

template <bool symmetric>
sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const sxt_status status = check_query(query, reason);
  return status == SXT_OK ? dia_refusal(as<sxt_spmv_dots_query>(query).m.m, found, symmetric, reason) : status;
}

template <bool symmetric>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = list.add();
    fill_dia(candidate, q.m.m, dia_diagonals(q.m.m, found), symmetric, threads, 1, dots_bytes(q), dots_flops(q), leaf);
    candidate.terms[4] += dots_steps(q);
    candidate.launch[1] = machine->level;
    candidate.state_bytes = sizeof(DiaState);
    candidate.scratch_bytes = scratch_bytes(q.m.m.rows, q.n_dots, q.m.m.q.value_type);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_dia>(problem->a);
    const int pair = type_pair(problem->query->value_type, a.s.value_type);
    if (pair < 0) return error(exec, SXT_E_TYPE, "this pair of vector and matrix types is not offered");
    auto state = std::make_unique<DiaState>(DiaState{make_state(*problem, candidate, a.s.rows), &a, nullptr});
    state->rows_of = rows_table(isa_level(candidate)).dia[pair];
    state->border = share_leaves(tree::leaf_count(a.s.rows), candidate ? candidate->launch[0] : exec->threads,
                                 [](std::int64_t l) { return l; });
    return give(state.release(), out);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const DiaState *>(opaque);
  const auto &args = as<sxt_spmv_dots_args>(head);
  const DiaProduct product = dia_product(*state.a, args.m, state.type);
  return run_leaves(state, args, exec,
                    [&](std::int64_t begin, std::int64_t end) { state.rows_of(product, begin, end); });
}

const char *const plain_storages[] = {SXT_KIND_STORAGE_DIA, nullptr};
const char *const symmetric_storages[] = {SXT_KIND_STORAGE_DIA_SYMMETRIC, nullptr};

template <bool symmetric>
sxt_kernel make_kernel(const char *name, const char *description) {
  sxt_kernel k = fused_kernel(name, description, run);
  k.version = 2;
  k.storages = symmetric ? symmetric_storages : plain_storages;
  k.features = dia_features;
  k.term_names = dia_terms;
  set_calls<DiaState>(k, {applicable<symmetric>, candidates<symmetric>, prepare, refresh_pointer<DiaState>});
  return k;
}

}  // namespace

const sxt_kernel dia_kernel = make_kernel<false>("spmv_dots.dia.cpu", "diagonals; each leaf multiplied, then summed");
const sxt_kernel dia_symmetric_kernel =
    make_kernel<true>("spmv_dots.dia-symmetric.cpu", "upper diagonals used twice; each leaf multiplied, then summed");

}  // namespace spmv_dots_fused
