// SPDX-License-Identifier: BSD-3-Clause
// residual.csr.cpu: b - A x in twice the working precision with its norms in one pass over A. Rows go in blocks whose
// norms are joined in their order, so bits depend neither on threads nor on the instruction set.
#include <algorithm>
#include <cstdint>

#include "rows_table.hpp"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/residual.hpp"

SXT_ISA_TABLE(sextant_residual_csr, Table)

using namespace sextant::plugin;
namespace csr = sextant_residual_csr;
namespace residual = sextant::residual;

namespace {

struct State {
  const sxt_csr *a;
  sxt_value_type type;
  std::int64_t threads;
  std::int32_t level;
};

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

std::int64_t blocks_of(std::int64_t rows) { return (rows + residual::block_rows - 1) / residual::block_rows; }
std::uint64_t scratch_for(std::int64_t rows, std::int32_t n_rhs) {
  return static_cast<std::uint64_t>(blocks_of(rows)) * static_cast<std::uint64_t>(n_rhs) * sizeof(residual::Norms);
}

// Beside one product's bytes: b, r, and the norms of a block.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_residual_query>(query);
  const double value = static_cast<double>(value_bytes(q.m.q.value_type)), nnz = static_cast<double>(q.m.nnz),
               rows = static_cast<double>(q.m.rows), cols = static_cast<double>(q.m.cols);
  const bool single = q.m.q.value_type == SXT_F32 || q.m.q.value_type == SXT_C64;
  const double products = q.m.q.value_type >= SXT_C64 ? 4 : 1;
  CpuCost cost;
  cost.stream_bytes = nnz * (value + 4) + rows * 4 + q.n_rhs * value * (2 * rows + cols);
  // One entry after the other, in double for every type.
  cost.flops = q.n_rhs * (nnz * products * (single ? 3 : 12) + 40 * rows) * scalar_slowdown(*machine, SXT_F64) / 2 *
               (single ? 2 : 1);
  cost.working_set = cost.stream_bytes;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.launch[1] = machine->level;
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = scratch_for(q.m.rows, q.n_rhs);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{&as<sxt_csr>(problem->a), problem->query->value_type,
                          candidate ? candidate->launch[0] : exec->threads, isa_level(candidate)},
                state);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_residual_args>(head);
  const sxt_csr &a = *state.a;
  if (const sxt_status status = need_scratch(exec, scratch_for(a.s.rows, args.n_rhs)); status != SXT_OK) return status;
  const csr::Call call = {a.row_ptr, a.col,    a.values,   args.x,
                          args.b,    args.r,   a.s.rows,   args.ldx,
                          args.ldb,  args.ldr, args.n_rhs, static_cast<residual::Norms *>(exec->scratch)};
  const auto work = csr::isa_table(state.level).blocks[state.type - 1][a.s.offset_type - 1][a.s.index_type - 1];
  const std::int64_t blocks = blocks_of(a.s.rows);
  const int team = static_cast<int>(std::min<std::int64_t>(team_size(state.threads, *exec), blocks));
  for_each_part(team, team, [&](int part) {
    const Range range = part_of(blocks, team, part);
    work(call, range.begin, range.end);
  });
  const int parts = state.type >= SXT_C64 ? 2 : 1;
  const auto additions = static_cast<double>(blocks + parts * std::min<std::int64_t>(residual::block_rows, a.s.rows));
  for (std::int32_t c = 0; c < args.n_rhs; ++c) {
    residual::Norms all = {};
    for (std::int64_t block = 0; block < blocks; ++block) residual::add_norms(all, call.norms[block * args.n_rhs + c]);
    args.norms[c] = residual::finished(all, additions);
  }
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_RESIDUAL, "residual.csr.cpu", "cpu",
                            "b - A x on CSR in twice the working precision, with its norms and their bounds", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cpu_terms;
  set_calls<State>(k, {residual::has_one_type, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("residual-csr", out);
}
