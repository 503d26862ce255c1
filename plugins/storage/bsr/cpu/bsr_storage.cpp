// SPDX-License-Identifier: BSD-3-Clause
// storage.bsr.cpu: dense blocks of 2 to 8 rows and columns; the size is found from the pattern or given.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "bsr_blocks.hpp"
#include "plugins/storage/shared/owned_values.hpp"

using namespace sextant::plugin;

namespace {

using namespace storage_bsr;

struct State {
  sxt_bsr view{};
  Memory row_ptr, col, values;
  std::int64_t source_nnz = 0;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

std::uint64_t values_bytes(const sxt_bsr &a) {
  return static_cast<std::uint64_t>(a.blocks * a.block * a.block) * value_bytes(a.s.value_type);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &m = as<sxt_matrix_query>(query);
  const BsrChoice choice = bsr_choice(m, found);
  const double nnz = static_cast<double>(m.nnz), value = static_cast<double>(value_bytes(m.matrix_type));
  const double bytes =
      nnz * (choice.block ? bsr_entry_bytes(choice.block, choice.fill, value) : csr_entry_bytes(value));
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  // Seven sizes are sampled; the pattern is read twice and sorted by block rows, then every entry is searched for.
  const double looked = 7 * std::min(nnz, static_cast<double>(entries_looked_at));
  candidate.setup_s =
      2e-5 + (looked * 2e-9 + nnz * 2e-8 + 3 * bytes / machine->stream_rate_unit) / std::max(1, machine->units);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// The block size of this matrix, or the reason why there is none.
sxt_status choose(const sxt_csr &a, const sxt_candidate *candidate, const sxt_exec *exec, int *block) {
  *block = given_bsr_block(candidate);
  if (*block > 0) return SXT_OK;
  if (*block < 0) return error(exec, SXT_E_ARGUMENT, "%s", bsr_wrong_size);
  double fills[bsr_most + 1];
  sampled_fills(a, std::max(1, exec->threads), fills);
  return decide_bsr_block(a.s, fills, exec, block);
}

// Row pointers and columns of the blocks.
sxt_status build_pattern(State &state, const sxt_csr &a, const sxt_exec *exec, int team) {
  sxt_bsr &view = state.view;
  state.row_ptr = Memory(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(view.block_rows + 1) * sizeof(std::int32_t));
  auto *row_ptr = state.row_ptr.as<std::int32_t>();
  std::vector<std::vector<std::int64_t>> spare(static_cast<std::size_t>(team));
  for_each_part(team, team, [&](int part) {
    const Range range = part_of(view.block_rows, team, part);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      columns_of(a, view.block, i, spare[part]);
      row_ptr[i + 1] = static_cast<std::int32_t>(spare[part].size());
    }
  });
  row_ptr[0] = 0;
  for (std::int64_t i = 0; i < view.block_rows; ++i) {
    view.blocks += row_ptr[i + 1];
    if (view.blocks > std::numeric_limits<std::int32_t>::max())
      return error(exec, SXT_NOT_APPLICABLE, "more than 2^31 - 1 blocks of %d", view.block);
    row_ptr[i + 1] = static_cast<std::int32_t>(view.blocks);
  }
  state.col = Memory(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(view.blocks) * sizeof(std::int32_t));
  auto *col = state.col.as<std::int32_t>();
  for_each_part(team, team, [&](int part) {
    const Range range = part_of(view.block_rows, team, part);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      columns_of(a, view.block, i, spare[part]);
      std::transform(spare[part].begin(), spare[part].end(), col + row_ptr[i],
                     [](std::int64_t j) { return static_cast<std::int32_t>(j); });
    }
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &source = as<sxt_csr>(problem->a);
    const int team = std::max(1, exec->threads);
    int block = 0;
    if (const sxt_status status = choose(source, candidate, exec, &block); status != SXT_OK) return status;
    auto state = std::make_unique<State>();
    state->view.s = source.s;
    state->view.s.h = head<sxt_bsr>(SXT_KIND_STORAGE_BSR);
    state->view.s.index_type = state->view.s.offset_type = SXT_I32;
    state->view.block = block;
    state->view.block_rows = block_count(source.s.rows, block);
    state->source_nnz = source.s.nnz;
    if (const sxt_status status = build_pattern(*state, source, exec, team); status != SXT_OK) return status;
    state->values = Memory(exec, SXT_SPACE_HOST, values_bytes(state->view));
    state->view.row_ptr = state->row_ptr.data();
    state->view.col = state->col.data();
    state->view.values = state->values.data();
    const sxt_status status = fill_values(source, state->view, state->values.data(), team);
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const auto &source = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(source, state.source_nnz, exec); status != SXT_OK) return status;
  return fill_values(source, state.view, state.values.data(), std::max(1, exec->threads));
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const sxt_bsr &a = of(opaque).view;
  return static_cast<std::uint64_t>(a.block_rows + 1 + a.blocks) * sizeof(std::int32_t) + values_bytes(a);
}

// Calls f(position, i, j) for the places of block rows first .. last-1 that lie inside the matrix.
template <class F>
void for_each_place(const sxt_bsr &a, Range range, F &&f) {
  const auto *row_ptr = static_cast<const std::int32_t *>(a.row_ptr), *col = static_cast<const std::int32_t *>(a.col);
  const std::int64_t block = a.block;
  for (std::int64_t i = range.begin; i < range.end; ++i)
    for (std::int64_t b = row_ptr[i]; b < row_ptr[i + 1]; ++b)
      for (std::int64_t place = 0; place < block * block; ++place) {
        const std::int64_t row = i * block + place % block, column = col[b] * block + place / block;
        if (row < a.s.rows && column < a.s.cols) f(b * block * block + place, row, column);
      }
}

constexpr auto visit = [](const State &state, int part, int team, auto &&f) {
  for_each_place(state.view, part_of(state.view.block_rows, team, part), f);
};

const sxt_storage_ops ops = {sizeof(sxt_storage_ops),      view,   bytes, scale_owned<State, visit>,
                             diagonal_owned<State, visit>, nullptr};

const sxt_kernel kernel = new_storage<State>(SXT_KIND_STORAGE_BSR, "storage.bsr.cpu", "cpu",
                                             "dense blocks of 2 to 8, the size found from the pattern",
                                             {&ops, bsr_features, nullptr, candidates, prepare, refresh});

const sxt_kind kind = new_kind(SXT_KIND_STORAGE_BSR, "dense blocks");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("storage-bsr", out);
}
