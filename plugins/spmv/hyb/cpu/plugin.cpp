// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-hyb: products with HYB matrices on the CPU. spmv.hyb.rows.cpu: every thread takes a run of rows with an
// equal share of entries, first its regular part, then its coordinates. Bits do not depend on threads: a row has one
// owner and one order.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "hyb_isa.hpp"
#include "plugins/formats/ell.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/spmv.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(sextant::spmv_hyb, Table)

namespace sextant::spmv_hyb {
namespace {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_HYB, nullptr};
const char *const features[] = {SXT_X_FEATURES, "row_nnz_third",      "row_nnz_above_third",
                                "row_nnz_max",  "row_nnz_unforeseen", nullptr};
enum { feature_third = n_x_features, feature_rest, feature_row_max, feature_unforeseen };

// Runs of coordinates of unforeseen lengths that fit a core's branch predictor.
constexpr double predicted_runs = 1000;

// The beginning of a part: its first row, and the first coordinate of that row or a later one.
struct Border {
  std::int64_t row, entry;
};

struct State {
  const sxt_hyb *a;
  sxt_value_type type;
  int parts;
  const Table *table;
  Memory borders;  // parts + 1 Border
};

extern const sxt_kernel kernel;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return check_ell_product(as<sxt_spmv_query>(query), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double rows = static_cast<double>(q.m.rows), nnz = static_cast<double>(q.m.nnz);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost;
    const double value = static_cast<double>(value_bytes(q.m.matrix_type));
    const double regular = rows * feature_or(found, feature_third, q.m.rows ? nnz / rows : 0);
    const double rest = feature_or(found, feature_rest, nnz / 8);
    cost.lanes = regular + rest;
    // A coordinate reads its row as well; beyond the regular part, y is read and written again.
    cost.matrix_bytes = regular * (value + 4) + rest * (value + 8);
    cost.steps = rows / 8 + rest;
    // At most a third of the rows have coordinates.
    const double surprises = std::min({feature_or(found, feature_unforeseen, 0), rest, rows / 3});
    cost.mispredictions = mispredictions(surprises, threads, predicted_runs);
    cost.imbalance = longest_row_imbalance(q, feature(found, feature_row_max), threads);
    sxt_candidate &candidate = fill_spmv(list.add(), q, found, *machine, threads, cost);
    candidate.state_bytes = sizeof(State) + (threads + 1) * sizeof(Border);
    candidate.setup_s = 1e-6 + threads * 1e-6;  // nested binary searches
  });
  return SXT_OK;
}

Border border_of(const sxt_hyb &a, int parts, int part) {
  const auto *row = static_cast<const std::int32_t *>(a.coo.row);
  const std::int64_t rows = a.ell.s.rows, rest = a.coo.s.nnz;
  const auto entries_before = [&](std::int64_t i) { return std::lower_bound(row, row + rest, i) - row; };
  if (part >= parts) return {rows, rest};
  // A row costs its regular width and a little more; a coordinate about twice an entry.
  const auto work = [&](std::int64_t i) { return i * (a.ell.width + 2) + 2 * entries_before(i); };
  std::int64_t low = border_by_work(rows, parts, part, work);
  low = std::min(rows, (low + ell_block / 2) / ell_block * ell_block);
  return {low, entries_before(low)};
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_hyb>(problem->a);
    if (const sxt_status status = check_ell_arrays(a.ell, kernel.name, exec); status != SXT_OK) return status;
    auto state = std::make_unique<State>();
    state->a = &a;
    state->type = problem->query->value_type;
    state->parts = static_cast<int>(std::max<std::int64_t>(1, candidate ? candidate->launch[0] : exec->threads));
    state->table = &isa_table(isa_level(candidate));
    state->borders = Memory(exec, SXT_SPACE_HOST, (state->parts + 1) * sizeof(Border));
    for (int p = 0; p <= state->parts; ++p) state->borders.as<Border>()[p] = border_of(a, state->parts, p);
    return give(state.release(), out);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const sxt_coo &rest = state.a->coo;
  EllCall call;
  int pair = -1;
  if (const sxt_status status = make_ell_call(state.a->ell, args, state.type, kernel.name, exec, &call, &pair);
      status != SXT_OK)
    return status;
  const CooArrays coordinates = {static_cast<const std::int32_t *>(rest.row),
                                 static_cast<const std::int32_t *>(rest.col), rest.values};
  const Border *border = state.borders.as<Border>();
  for_each_part(state.parts, team_size(state.parts, *exec), [&](int part) {
    state.table->rows[pair](call, border[part].row, border[part + 1].row);
    state.table->rest[pair](call, coordinates, border[part].entry, border[part + 1].entry);
  });
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      ell_kernel("spmv.hyb.rows.cpu",
                 "HYB, eight rows in eight lanes, then coordinates; threads share entries by whole rows", run);
  k.storages = storages;
  k.features = features;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_hyb

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  using namespace sextant::plugin;
  return offer<&sextant::spmv_hyb::kernel>("spmv-hyb", out);
}
