// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-sell: products with sliced ELLPACK matrices (SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop 2014)
// on the CPU. spmv.sell.slices.cpu: every thread takes whole slices with an equal share of entries. Not transposed,
// bits do not depend on threads; transposed, they depend on the number of parts, which the plan fixes: one, where a
// query asks for determinism.
#include <algorithm>
#include <cstdint>

#include "plugins/formats/slices.hpp"
#include "sell_product.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/describe.hpp"

SXT_ISA_TABLE(sextant::spmv_sell, Table)

namespace sextant::spmv_sell {
namespace {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_SELL, nullptr};
const char *const features[] = {SXT_X_FEATURES,           "row_nnz_sum_max_of_8", "row_nnz_max",
                                "row_nnz_sum_sorted_512", "sorted_512",           nullptr};
enum { feature_max_of_8 = n_x_features, feature_row_max, feature_stored, feature_sorted };

using State = SharedSlices<sxt_sell, Table>;

extern const sxt_kernel kernel;

// Entries stored, padding included: no more than without sorting, no fewer than there are.
double stored_entries(const sxt_spmv_query &q, const sxt_features *found) {
  const double nnz = static_cast<double>(q.m.nnz), unsorted = feature_or(found, feature_max_of_8, 1.1 * nnz);
  return std::clamp(feature_or(found, feature_stored, unsorted), nnz, std::max(nnz, unsorted));
}

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (const sxt_status status = check_slices(q.m, stored_entries(q, found), reason); status != SXT_OK) return status;
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const bool transposed = q.op != SXT_NO_TRANSPOSE, simd = lane_pair(q.m.q.value_type, q.m.matrix_type) >= 0;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    if (transposed && threads > 1 && (query->flags & SXT_QUERY_DETERMINISTIC)) return;
    SpmvCost cost;
    const double rows = static_cast<double>(q.m.rows);
    cost.lanes = stored_entries(q, found);
    cost.matrix_bytes = cost.lanes * static_cast<double>(value_bytes(q.m.matrix_type) + 4) + rows;
    // A sorted slice's rows are scattered in y: its results are stored one by one.
    cost.steps = rows / slice_rows * (1 + feature_or(found, feature_sorted, 0));
    std::uint64_t scratch = 0;
    if (transposed || !simd) {
      cost.passes = q.n_rhs / rhs_block + q.n_rhs % rhs_block;
      cost.slowdown = scalar_slowdown(*machine, q.m.q.value_type);
      cost.steps = rows;
    }
    if (transposed) {
      scratch = scatter_bytes(q.m.cols, threads, q.n_rhs, value_bytes(q.m.q.value_type));
      // Copies of y larger than A are never faster.
      if (static_cast<double>(scratch) > cost.matrix_bytes + 1e6) return;
      cost.extra_bytes = cost.passes * 2 * static_cast<double>(scratch);
      cost.extra_forks = threads > 1 ? 2 * cost.passes - 1 : 0;
    } else {
      cost.imbalance = longest_row_imbalance(q, slice_rows * feature(found, feature_row_max), threads);
      if (!simd) cost.extra_forks = cost.passes - 1;
    }
    sxt_candidate &candidate = fill_spmv(list.add(), q, found, *machine, threads, cost);
    candidate.scratch_bytes = scratch;
    fill_slices_setup(candidate, sizeof(State), threads);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return prepare_slices<sxt_sell>(
      problem, candidate, exec, kernel.name, slice_rows, isa_table,
      [](const sxt_sell &a, int parts, int p) {
        return equal_border(static_cast<const std::int64_t *>(a.slice_ptr), a.n_slices, slice_weight, parts, p);
      },
      out);
}

// Real numbers, not transposed: all right-hand sides of a slice while it is in the cache.
template <class V>
void run_simd(const State &state, const sxt_spmv_args &args, int pair, int team) {
  const sxt_sell &a = *state.a;
  const SlicesCall call = {static_cast<const std::int64_t *>(a.slice_ptr),
                           static_cast<const std::int32_t *>(a.col),
                           a.values,
                           static_cast<const std::int32_t *>(a.perm),
                           args.x,
                           args.y,
                           a.s.rows,
                           args.ldx,
                           args.ldy,
                           args.n_rhs,
                           scalar(args.alpha, V(1)),
                           scalar(args.beta, V(0))};
  const std::int64_t *border = state.borders.as<std::int64_t>();
  for_each_part(state.parts, team, [&](int part) { state.table->slices[pair](call, border[part], border[part + 1]); });
}

template <int R, class V, class M>
void run_plain(const State &state, const Sell<M> &a, sxt_op op, const Vectors<V> &v, const sxt_exec &exec, int team) {
  const std::int64_t *border = state.borders.as<std::int64_t>();
  const auto slices = [&](int part) { return Range{border[part], border[part + 1]}; };
  if (op == SXT_NO_TRANSPOSE)
    return for_each_part(state.parts, team, [&](int part) { multiply_slices<R>(a, slices(part), v); });
  scattered<R>(v, a.cols, state.parts, team, exec.scratch, [&](int part, V *sums, std::int64_t ld) {
    if (op == SXT_TRANSPOSE || !is_complex<V>)
      scatter_slices<R, false>(a, slices(part), v, sums, ld);
    else
      scatter_slices<R, true>(a, slices(part), v, sums, ld);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const int team = team_size(state.parts, *exec), pair = lane_pair(state.type, state.a->s.value_type);
  if (args.op != SXT_NO_TRANSPOSE) {
    const sxt_status status =
        need_scratch(exec, scatter_bytes(state.a->s.cols, state.parts, args.n_rhs, value_bytes(state.type)));
    if (status != SXT_OK) return status;
  }
  return with_sell(*state.a, state.type, [&](const auto &a, auto tag) {
    using V = typename decltype(tag)::type;
    if constexpr (!is_complex<V>)
      if (args.op == SXT_NO_TRANSPOSE) return run_simd<V>(state, args, pair, team), SXT_OK;
    for_each_block<V>(args,
                      [&](const Vectors<V> &v, auto width) { run_plain<width>(state, a, args.op, v, *exec, team); });
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.sell.slices.cpu", "cpu",
                            "SELL-C-sigma, eight rows in eight lanes, threads share entries by whole slices", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_slices<sxt_sell, Table>});
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_sell

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  using namespace sextant::plugin;
  return offer<&sextant::spmv_sell::kernel>("spmv-sell", out);
}
