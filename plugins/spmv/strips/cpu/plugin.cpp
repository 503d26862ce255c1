// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-strips: products with slices of eight rows whose entries lie in parts of diagonals (strips) or are
// gathered. spmv.strips.cpu: every thread takes whole slices with an equal share of work; bits do not depend on
// threads.
#include <algorithm>
#include <cstdint>

#include "plugins/formats/slices.hpp"
#include "plugins/formats/strips.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/spmv.hpp"
#include "sextant/sdk/describe.hpp"
#include "strips_isa.hpp"

SXT_ISA_TABLE(sextant::spmv_strips, Table)

namespace sextant::spmv_strips {
namespace {

using namespace plugin;

const char *const storages[] = {SXT_KIND_STORAGE_STRIPS, nullptr};
const char *const features[] = {SXT_X_FEATURES, "strips_of_8", "strips_of_8_gathered", "row_nnz_max", nullptr};
enum { feature_strips = n_x_features, feature_gathered, feature_row_max };

using State = SharedSlices<sxt_strips, Table>;

extern const sxt_kernel kernel;

// Strips and columns of gathered entries. Without a sample, a matrix is assumed to have no diagonals.
struct Columns {
  double strips, gathered;
  double stored() const { return strip_lanes * (strips + gathered); }
};

Columns columns_of(const sxt_spmv_query &q, const sxt_features *found) {
  return {feature_or(found, feature_strips, 0),
          feature_or(found, feature_gathered, 1.3 * static_cast<double>(q.m.nnz) / strip_lanes)};
}

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "operation %d: only op 0 (no transpose) is offered", q.op);
  if (lane_pair(q.m.q.value_type, q.m.matrix_type) < 0) return refuse_types(q.m.q.value_type, q.m.matrix_type, reason);
  return check_slices(q.m, columns_of(q, found).stored(), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const Columns columns = columns_of(q, found);
  const double rows = static_cast<double>(q.m.rows), value = static_cast<double>(value_bytes(q.m.matrix_type));
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost;
    cost.matrix_bytes =
        columns.strips * (strip_lanes * value + 5) + columns.gathered * strip_lanes * (value + 4) + 2 * rows;
    // A strip takes about half a step; only gathered entries multiply at the rate of gathering.
    cost.lanes = strip_lanes * columns.gathered;
    cost.steps = columns.strips / 2 + rows / strip_lanes;
    cost.imbalance = longest_row_imbalance(q, strip_lanes * feature(found, feature_row_max), threads);
    sxt_candidate &candidate = fill_spmv(list.add(), q, found, *machine, threads, cost);
    fill_slices_setup(candidate, sizeof(State), threads);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return prepare_slices<sxt_strips>(problem, candidate, exec, kernel.name, strip_lanes, isa_table, strips_border, out);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const sxt_strips &a = *state.a;
  const int pair = lane_pair(state.type, a.s.value_type);
  if (args.op != SXT_NO_TRANSPOSE || pair < 0)
    return error(exec, SXT_E_NOT_SUPPORTED, "%s multiplies by real matrices, not transposed", kernel.name);
  StripsCall call = {static_cast<const std::int64_t *>(a.strip_ptr),
                     static_cast<const std::int64_t *>(a.gather_ptr),
                     static_cast<const std::int32_t *>(a.base),
                     static_cast<const std::int32_t *>(a.col),
                     static_cast<const std::uint8_t *>(a.mask),
                     a.values,
                     a.n_strips,
                     args.x,
                     args.y,
                     a.s.rows,
                     args.ldx,
                     args.ldy,
                     args.n_rhs,
                     1,
                     0};
  lane_scalars(args, state.type, &call.alpha, &call.beta);
  for_each_part(state.parts, team_size(state.parts, *exec),
                [call, slices = state.table->slices[pair], border = state.borders.as<std::int64_t>()](int part) {
                  slices(call, border[part], border[part + 1]);
                });
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.strips.cpu", "cpu",
                            "parts of diagonals in slices of eight rows, other entries gathered", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F32) | type_bit(SXT_F64);
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_slices<sxt_strips, Table>});
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_strips

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  using namespace sextant::plugin;
  return offer<&sextant::spmv_strips::kernel>("spmv-strips", out);
}
