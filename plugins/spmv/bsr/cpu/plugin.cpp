// SPDX-License-Identifier: BSD-3-Clause
// spmv.bsr.cpu: products with dense blocks of 2 to 8. Threads take block rows with equal numbers of blocks; a row is
// summed by one thread in the order of its blocks, so bits do not depend on threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bsr_table.hpp"
#include "plugins/formats/bsr.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/spmv.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/type_pair.hpp"

SXT_ISA_TABLE(spmv_bsr, Table)

using namespace sextant::plugin;

namespace {

struct State {
  const sxt_bsr *a;
  sxt_value_type type;
  spmv_bsr::Rows rows;
  std::vector<std::int64_t> border;  // block rows of part p: border[p] .. border[p + 1] - 1
};

const char *const features[] = {SXT_X_FEATURES, SXT_BSR_FEATURES, "row_nnz_unforeseen", nullptr};
constexpr std::uint64_t first_fill = n_x_features, feature_unforeseen = first_fill + n_bsr_features;

// Block rows of irregular lengths that fit a core's branch predictor.
constexpr double predicted_rows = 3000;

// Vector instructions that hold a column of a block: 16, 32 and 64 bytes are one.
constexpr int pieces_of[spmv_bsr::most_block + 1] = {0, 1, 1, 2, 1, 2, 2, 3, 1};

BsrChoice choice_by(const sxt_spmv_query &q, const sxt_features *found) { return bsr_choice(q.m, found, first_fill); }

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "transposes are not offered for blocks");
  if (check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason) != SXT_OK) return SXT_NOT_APPLICABLE;
  return bsr_refusal(q.m, choice_by(q, found), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double stored = static_cast<double>(value_bytes(q.m.matrix_type)), nnz = static_cast<double>(q.m.nnz);
  const BsrChoice choice = choice_by(q, found);
  // Unknown: as if it moved what compressed rows move.
  const int block = choice.block ? choice.block : bsr_least;
  const double places = choice.block ? nnz / choice.fill : nnz * csr_entry_bytes(stored) / (stored + 1);
  const double blocks = places / (block * block), block_rows = static_cast<double>(q.m.rows) / block;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    SpmvCost cost;
    cost.matrix_bytes = places * stored + 4 * (blocks + block_rows);
    cost.passes = q.n_rhs;
    cost.lanes = blocks * block * pieces_of[block] * 8;  // every instruction takes as long as eight lanes
    cost.slowdown = 1;
    cost.steps = blocks / 3 + block_rows;  // the processor begins three blocks in the time of a step
    // The rows of a block row have equal lengths, so the misses of one are those of all.
    const double surprises = std::min(feature_or(found, feature_unforeseen, 0), block_rows);
    cost.mispredictions = mispredictions(surprises, threads, predicted_rows);
    cost.extra_forks = q.n_rhs - 1;
    fill_spmv(list.add(), q, found, *machine, threads, cost).state_bytes = sizeof(State);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_bsr>(problem->a);
    const int pair = type_pair(problem->query->value_type, a.s.value_type);
    if (pair < 0) return error(exec, SXT_E_TYPE, "this pair of vector and matrix types is not offered");
    if (a.block < bsr_least || a.block > bsr_most)
      return error(exec, SXT_E_NOT_SUPPORTED, "blocks of %d; %d to %d are read", a.block, bsr_least, bsr_most);
    State state{&a, problem->query->value_type, spmv_bsr::isa_table(isa_level(candidate)).rows[pair][a.block - 2], {}};
    const std::int64_t parts = std::max<std::int64_t>(1, candidate ? candidate->launch[0] : exec->threads);
    const auto *row_ptr = static_cast<const std::int32_t *>(a.row_ptr);
    for (std::int64_t p = 0; p < parts; ++p)
      state.border.push_back(
          std::lower_bound(row_ptr, row_ptr + a.block_rows, static_cast<std::int32_t>(a.blocks * p / parts)) - row_ptr);
    state.border[0] = 0;
    state.border.push_back(a.block_rows);
    return give(new State(std::move(state)), out);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  const sxt_bsr &a = *state.a;
  if (args.op != SXT_NO_TRANSPOSE)
    return error(exec, SXT_E_NOT_SUPPORTED, "spmv.bsr.cpu does not transpose; op is %d", args.op);
  spmv_bsr::Call call{};
  call.row_ptr = static_cast<const std::int32_t *>(a.row_ptr);
  call.col = static_cast<const std::int32_t *>(a.col);
  call.values = a.values;
  call.rows = a.s.rows;
  call.cols = a.s.cols;
  scalar_parts(args.alpha, state.type, 1, call.alpha);
  scalar_parts(args.beta, state.type, 0, call.beta);
  const int parts = static_cast<int>(state.border.size()) - 1;
  const std::int64_t bytes = static_cast<std::int64_t>(value_bytes(state.type));
  for (std::int32_t r = 0; r < args.n_rhs; ++r) {  // one after the other
    call.x = static_cast<const char *>(args.x) + r * args.ldx * bytes;
    call.y = static_cast<char *>(args.y) + r * args.ldy * bytes;
    for_each_part(parts, team_size(parts, *exec),
                  [&](int part) { state.rows(call, state.border[part], state.border[part + 1]); });
  }
  return SXT_OK;
}

const char *const storages[] = {SXT_KIND_STORAGE_BSR, nullptr};

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.bsr.cpu", "cpu", "dense blocks, a vector a column of a block", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("spmv-bsr", out);
}
