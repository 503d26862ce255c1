// SPDX-License-Identifier: BSD-3-Clause
// storage.bsr.cuda: dense blocks of 2 to 8 rows and columns on the device; the size is found from the pattern or given.
// Rows of a block row are merged by a thread each, twice: to count blocks, then to write their columns; every entry is
// then searched for among the blocks of its block row.
#include <cstdint>
#include <limits>

#include "plugins/formats/bsr.hpp"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

namespace sextant::storage_bsr_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

// ---- device side

// f(block column) for the blocks of one block row, ascending.
template <class Offset, class F>
__device__ void merge_rows(const Offset *row_ptr, const std::int32_t *col, std::int64_t rows, int block,
                           std::int64_t block_row, F &&f) {
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  Offset at[bsr_most], end[bsr_most];
  std::int32_t next[bsr_most];  // the next block column of each row
#pragma unroll
  for (int r = 0; r < bsr_most; ++r) {
    const std::int64_t i = block_row * block + r;
    const bool there = r < block && i < rows;
    at[r] = there ? row_ptr[i] : 0;
    end[r] = there ? row_ptr[i + 1] : 0;
    next[r] = at[r] < end[r] ? col[at[r]] / block : none;
  }
  for (;;) {
    std::int32_t least = none;
#pragma unroll
    for (int r = 0; r < bsr_most; ++r) least = min(least, next[r]);
    if (least == none) return;
    f(least);
#pragma unroll
    for (int r = 0; r < bsr_most; ++r)
      while (next[r] == least) next[r] = ++at[r] < end[r] ? col[at[r]] / block : none;
  }
}

// Entries and blocks of sampled block rows: sums[2 * (k - 2)] and the one behind it for size k.
template <class Offset>
struct SampleFill {
  const Offset *row_ptr;
  const std::int32_t *col;
  std::int64_t rows;
  unsigned long long *sums;
  __device__ void operator()(std::int64_t at) const {
    const int block = bsr_least + static_cast<int>(at / bsr_rows_looked_at);
    const std::int64_t block_rows = (rows + block - 1) / block, looked = min(block_rows, bsr_rows_looked_at);
    const std::int64_t sample = at % bsr_rows_looked_at;
    if (sample >= looked) return;
    const std::int64_t i = bsr_sampled_row(block_rows, looked, sample);
    unsigned long long blocks = 0;
    merge_rows(row_ptr, col, rows, block, i, [&](std::int32_t) { ++blocks; });
    unsigned long long *own = sums + 2 * (block - bsr_least);
    // Integers: any order gives the same sums.
    atomicAdd(own, static_cast<unsigned long long>(row_ptr[min(rows, (i + 1) * block)] - row_ptr[i * block]));
    atomicAdd(own + 1, blocks);
  }
};

// How many blocks a block row has; 0 behind the last one, where the prefix sum leaves the total.
template <class Offset>
struct CountBlocks {
  const Offset *row_ptr;
  const std::int32_t *col;
  std::int64_t rows, block_rows;
  int block;
  std::int64_t *counts;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t blocks = 0;
    if (i < block_rows) merge_rows(row_ptr, col, rows, block, i, [&](std::int32_t) { ++blocks; });
    counts[i] = blocks;
  }
};

struct NarrowCounts {
  const std::int64_t *from;
  std::int32_t *to;
  __device__ void operator()(std::int64_t k) const { to[k] = static_cast<std::int32_t>(from[k]); }
};

template <class Offset>
struct ListBlocks {
  const Offset *row_ptr;
  const std::int32_t *col;
  std::int64_t rows;
  int block;
  const std::int32_t *block_ptr;
  std::int32_t *block_col;
  __device__ void operator()(std::int64_t i) const {
    std::int32_t *to = block_col + block_ptr[i];
    merge_rows(row_ptr, col, rows, block, i, [&](std::int32_t j) { *to++ = j; });
  }
};

// An entry to its place in its block, column-major.
template <class Word>
struct FillBlocks {
  Piece piece;
  int block;
  const std::int32_t *block_ptr, *block_col;
  Word *values;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    const std::int32_t j = piece.col[k - piece.first];
    std::int64_t low = block_ptr[i / block], high = block_ptr[i / block + 1] - 1;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (block_col[middle] < j / block)
        low = middle + 1;
      else
        high = middle;
    }
    values[(low * block + j % block) * block + i % block] = static_cast<const Word *>(piece.values)[k - piece.first];
  }
};

// The position of a stored value; places beyond the matrix's edge are padding.
struct WhereBlock {
  const std::int32_t *block_ptr, *block_col;
  std::int64_t block_rows, rows, cols;
  int block;
  __device__ Position operator()(std::int64_t k) const {
    const std::int64_t b = k / (block * block), within = k % (block * block);
    const std::int64_t i = row_of_entry(block_ptr, 0, block_rows, b) * block + within % block;
    const std::int64_t j = block_col[b] * static_cast<std::int64_t>(block) + within / block;
    return {i, i < rows && j < cols ? j : -1};
  }
};

// ---- host side

struct State {
  sxt_bsr view{};
  Source source;
  DeviceArray row_ptr, col, values;
  std::int64_t places() const { return view.blocks * view.block * view.block; }
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return check_narrow(as<sxt_matrix_query>(query), reason);
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
  // Sampled, counted, listed, searched for: passes over the columns that wait for one entry after the other.
  candidate.setup_s = conversion_seconds(*machine, m, 80, 12, 2 * bytes);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes + 4 * static_cast<double>(m.rows));
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// f(row_ptr) with the offsets of a CSR on the device in their own type.
template <class F>
void with_offsets(const sxt_csr &csr, F &&f) {
  if (csr.s.offset_type == SXT_I32)
    f(static_cast<const std::int32_t *>(csr.row_ptr));
  else
    f(static_cast<const std::int64_t *>(csr.row_ptr));
}

// The block size of this matrix. Waits for the sampled fills.
int choose_block(const sxt_csr &csr, const sxt_candidate *candidate, const sxt_exec *exec, sxt_status *status) {
  int block = given_bsr_block(candidate);
  if (block < 0) throw Failure(SXT_E_ARGUMENT, "%s", bsr_wrong_size);
  *status = SXT_OK;
  if (block > 0) return block;
  constexpr int sizes = bsr_most - bsr_least + 1;
  unsigned long long sums[2 * sizes] = {};
  const DeviceArray counted(exec, sizeof sums, "sampled blocks", Life::call);
  fill_bytes(exec, counted.data(), 0, sizeof sums, "clear counters");
  with_offsets(csr, [&](const auto *row_ptr) {
    using Offset = std::remove_cv_t<std::remove_pointer_t<decltype(row_ptr)>>;
    visit_all(exec, sizes * bsr_rows_looked_at,
              SampleFill<Offset>{row_ptr, static_cast<const std::int32_t *>(csr.col), csr.s.rows,
                                 counted.as<unsigned long long>()});
  });
  fetch(exec, sums, counted.as<const unsigned long long>(), 2 * sizes, "sampled blocks");
  double fills[bsr_most + 1] = {};
  for (int k = bsr_least; k <= bsr_most; ++k) {
    const double places = static_cast<double>(sums[2 * (k - bsr_least) + 1]) * k * k;
    fills[k] =
        places > 0 ? static_cast<double>(sums[2 * (k - bsr_least)]) / places : std::numeric_limits<double>::quiet_NaN();
  }
  *status = decide_bsr_block(csr.s, fills, exec, &block);
  return block;
}

// Row pointers and columns of the blocks.
void build_pattern(State &state, const sxt_csr &csr, const sxt_exec *exec) {
  sxt_bsr &view = state.view;
  const auto *col = static_cast<const std::int32_t *>(csr.col);
  const std::int64_t pointers = view.block_rows + 1, rows = csr.s.rows;
  const DeviceArray counts(exec, pointers * sizeof(std::int64_t), "block counts", Life::call);
  auto *const wide = counts.as<std::int64_t>();
  with_offsets(csr, [&](const auto *row_ptr) {
    using Offset = std::remove_cv_t<std::remove_pointer_t<decltype(row_ptr)>>;
    visit_all(exec, pointers, CountBlocks<Offset>{row_ptr, col, rows, view.block_rows, view.block, wide});
    exclusive_scan(exec, wide, pointers);
    view.blocks = fetch(exec, static_cast<const std::int64_t *>(wide + view.block_rows), "the number of blocks");
    if (view.blocks > narrow_limit)
      throw Failure(SXT_NOT_APPLICABLE, "%lld blocks of %d do not fit 32-bit offsets", (long long)view.blocks,
                    view.block);
    state.row_ptr = DeviceArray(exec, pointers * sizeof(std::int32_t), "row pointers of blocks");
    visit_all(exec, pointers, NarrowCounts{wide, state.row_ptr.as<std::int32_t>()});
    state.col = DeviceArray(exec, view.blocks * sizeof(std::int32_t), "columns of blocks");
    visit_all(exec, view.block_rows,
              ListBlocks<Offset>{row_ptr, col, rows, view.block, state.row_ptr.as<std::int32_t>(),
                                 state.col.as<std::int32_t>()});
  });
  view.row_ptr = state.row_ptr.data();
  view.col = state.col.data();
}

void fill(const State &state, const Piece &piece, const sxt_exec *exec) {
  with_value_words(state.view.s.value_type, [&](auto word) {
    using Word = decltype(word);
    visit(exec, state.source, piece,
          FillBlocks<Word>{piece, state.view.block, state.row_ptr.as<std::int32_t>(), state.col.as<std::int32_t>(),
                           state.values.as<Word>()});
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) -> sxt_status {
    state.source = Source(*problem, exec);
    const DeviceCsr whole(*problem, exec);
    const sxt_csr &csr = whole.view();
    sxt_status status;
    const int block = choose_block(csr, candidate, exec, &status);
    if (status != SXT_OK) return status;
    sxt_bsr &view = state.view;
    view.s = state.source.shape();
    view.s.h = head<sxt_bsr>(SXT_KIND_STORAGE_BSR);
    view.s.offset_type = SXT_I32;
    view.block = block;
    view.block_rows = divide_up<std::int64_t>(csr.s.rows, block);
    build_pattern(state, csr, exec);
    state.values =
        DeviceArray(exec, static_cast<std::uint64_t>(state.places()) * value_bytes(view.s.value_type), "blocks");
    view.values = state.values.data();
    fill_bytes(exec, state.values.data(), 0, state.values.bytes(), "clear blocks");
    fill(state, Piece{0, csr.s.nnz, 0, csr.s.rows, static_cast<const std::int32_t *>(csr.col), csr.values}, exec);
    return SXT_OK;
  });
}

// Places without an entry stay zero: the pattern is the same.
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    state.source.for_each_piece(*problem, exec, true, [&](const Piece &piece) { fill(state, piece, exec); });
    return SXT_OK;
  });
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  return state.source.bytes() + state.row_ptr.bytes() + state.col.bytes() + state.values.bytes();
}

WhereBlock where(const State &state) {
  return {state.row_ptr.as<std::int32_t>(),
          state.col.as<std::int32_t>(),
          state.view.block_rows,
          state.view.s.rows,
          state.view.s.cols,
          state.view.block};
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    scale_stored(exec, state.view.s.value_type, state.values.data(), state.places(), s, where(state));
    return SXT_OK;
  });
}

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    diagonal_stored(exec, state.view.s, state.values.data(), state.places(), out, where(state));
    return SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel = new_storage<State>(SXT_KIND_STORAGE_BSR, "storage.bsr.cuda", "cuda",
                                             "dense blocks of 2 to 8, the size found from the pattern",
                                             {&ops, bsr_features, applicable, candidates, prepare, refresh});

}  // namespace
}  // namespace sextant::storage_bsr_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::storage_bsr_cuda::kernel>("storage-bsr-cuda", out);
}
