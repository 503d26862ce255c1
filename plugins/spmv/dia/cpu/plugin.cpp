// SPDX-License-Identifier: BSD-3-Clause
// spmv.dia.cpu and spmv.dia-symmetric.cpu: products with matrices held by diagonals, all operations. Threads take runs
// of rows; bits do not depend on them.
#include <cmath>
#include <cstdint>

#include "dia_table.hpp"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(spmv_dia, Table)

using namespace sextant::plugin;

namespace {

struct State {
  const sxt_dia *a;
  sxt_value_type type;
  DiaRows rows;
  std::int64_t threads;
};

template <bool symmetric>
sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  return dia_refusal(as<sxt_spmv_query>(query).m, found, symmetric, reason);
}

template <bool symmetric>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = list.add();
    fill_dia(candidate, q.m, dia_diagonals(q.m, found), symmetric, threads, q.n_rhs, 0, 0);
    candidate.launch[1] = machine->level;
    candidate.state_bytes = sizeof(State);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    const auto &a = as<sxt_dia>(problem->a);
    const int pair = type_pair(problem->query->value_type, a.s.value_type);
    if (pair < 0) return error(exec, SXT_E_TYPE, "this pair of vector and matrix types is not offered");
    return give(new State{&a, problem->query->value_type, spmv_dia::isa_table(isa_level(candidate)).rows[pair],
                          candidate ? candidate->launch[0] : exec->threads},
                state);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  DiaProduct product = dia_product(*state.a, args, state.type);
  const int team = team_size(state.threads, *exec);
  const std::int64_t bytes = static_cast<std::int64_t>(value_bytes(state.type));
  // Right-hand sides one after the other.
  for (std::int32_t r = 0; r < args.n_rhs; ++r) {
    product.x = static_cast<const char *>(args.x) + r * args.ldx * bytes;
    product.y = static_cast<char *>(args.y) + r * args.ldy * bytes;
    for_each_part(team, team, [&](int part) {
      const Range rows = part_of(product.results, team, part, dia_run);
      state.rows(product, rows.begin, rows.end);
    });
  }
  return SXT_OK;
}

const char *const plain_storages[] = {SXT_KIND_STORAGE_DIA, nullptr};
const char *const symmetric_storages[] = {SXT_KIND_STORAGE_DIA_SYMMETRIC, nullptr};

template <bool symmetric>
sxt_kernel make_kernel(const char *name, const char *description) {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, name, "cpu", description, run);
  k.version = 2;
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = symmetric ? symmetric_storages : plain_storages;
  k.features = dia_features;
  k.term_names = dia_terms;
  set_calls<State>(k, {applicable<symmetric>, candidates<symmetric>, prepare, refresh_pointer<State>});
  return k;
}

const sxt_kernel plain = make_kernel<false>("spmv.dia.cpu", "by diagonals, blocks of rows in the first cache");
const sxt_kernel symmetric =
    make_kernel<true>("spmv.dia-symmetric.cpu", "by upper diagonals, each of which also serves the lower triangle");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&plain, &symmetric>("spmv-dia", out);
}
