// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-ell: products with ELL matrices on the CPU. spmv.ell.rows.cpu: every thread takes an equal run of rows;
// bits do not depend on threads, since a row's products are added in the order of its columns.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "ell_isa.hpp"
#include "plugins/formats/ell.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/spmv.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(sextant::spmv_ell, Table)

namespace sextant::spmv_ell {
namespace {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_ELL, nullptr};
const char *const features[] = {SXT_X_FEATURES, "row_nnz_max", nullptr};
enum { feature_row_max = n_x_features };

struct State {
  const sxt_ell *a;
  sxt_value_type type;
  std::int64_t threads;
  const Table *table;
};

extern const sxt_kernel kernel;

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (const sxt_status status = check_ell_product(q, reason); status != SXT_OK) return status;
  const double width = feature(found, feature_row_max), rows = static_cast<double>(q.m.rows);
  const double nnz = static_cast<double>(q.m.nnz);
  if (std::isfinite(width) && ell_too_full(width, rows, nnz))
    return refuse(reason,
                  "%.0f rows of %.0f entries would be stored for %.0f nonzeros, %.1f times as many; the limit is %g",
                  rows, width, nnz, width * rows / nnz, ell_fill_limit);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double rows = static_cast<double>(q.m.rows), nnz = static_cast<double>(q.m.nnz);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost;
    cost.lanes = q.m.rows ? rows * feature_or(found, feature_row_max, 1.2 * nnz / rows) : 0;
    cost.matrix_bytes = cost.lanes * static_cast<double>(value_bytes(q.m.matrix_type) + 4);
    cost.steps = rows / 8;
    fill_spmv(list.add(), q, found, *machine, threads, cost).state_bytes = sizeof(State);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_ell>(problem->a);
    if (const sxt_status status = check_ell_arrays(a, kernel.name, exec); status != SXT_OK) return status;
    return give(new State{&a, problem->query->value_type, candidate ? candidate->launch[0] : exec->threads,
                          &isa_table(isa_level(candidate))},
                out);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const sxt_ell &a = *state.a;
  EllCall call;
  int pair = -1;
  if (const sxt_status status = make_ell_call(a, args, state.type, kernel.name, exec, &call, &pair); status != SXT_OK)
    return status;
  const int team = team_size(state.threads, *exec);
  for_each_part(team, team, [&](int part) {
    const Range rows = ell_part(a.s.rows, team, part);
    state.table->rows[pair](call, rows.begin, rows.end);
  });
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = ell_kernel("spmv.ell.rows.cpu", "ELL, eight rows in eight lanes, threads share the rows equally", run);
  k.storages = storages;
  k.features = features;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_ell

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  using namespace sextant::plugin;
  return offer<&sextant::spmv_ell::kernel>("spmv-ell", out);
}
