// SPDX-License-Identifier: BSD-3-Clause
// The data that a product by segmented sums (plugins/formats/cuda/row_ends.hpp) needs of a matrix, found on the device
// from its row pointers: which entries end rows, which rows are empty, and where tiles begin. Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "plugins/formats/cuda/row_ends.hpp"
#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::plugin::cuda {

// The host's data of a matrix.
struct RowCounts {
  std::int32_t empty;  // rows without an entry
  std::int32_t parts;  // tiles with a part of a row
};

// Ends of rows, and before each word the rows that ended there, as if none were empty; how many are. A lane stores the
// words that begin in a short row, the warp those of a long one.
template <class Offset>
__global__ void __launch_bounds__(visit_threads)
    mark_ends(const Offset *row_ptr, std::int64_t rows, EndsWord *ends, RowCounts *counts) {
  constexpr std::int64_t long_words = 8;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * visit_threads + threadIdx.x;
  const std::int64_t from = i < rows ? row_ptr[i] : 0, to = i < rows ? row_ptr[i + 1] : 0;
  if (to > from) atomicOr(&ends[(to - 1) / word_entries].bits, 1u << ((to - 1) % word_entries));
  const unsigned empty = __ballot_sync(~0u, i < rows && to == from);
  if (empty && threadIdx.x % 32 == 0) atomicAdd(&counts->empty, __popc(empty));
  // Words w with from < 32 w <= to: when they begin, rows 0 .. i have ended or row i goes on.
  const std::int64_t first = from / word_entries + 1, last = to / word_entries;
  const auto mark = [ends](std::int64_t row, std::int64_t w, std::int64_t end) {
    ends[w].before = static_cast<std::uint32_t>(row + (w * word_entries == end));
  };
  const bool is_long = last - first >= long_words;
  if (!is_long)
    for (std::int64_t w = first; w <= last; ++w) mark(i, w, to);
  for (unsigned left = __ballot_sync(~0u, is_long); left; left &= left - 1) {
    const int lane = __ffs(static_cast<int>(left)) - 1;
    const std::int64_t end = __shfl_sync(~0u, to, lane), row = __shfl_sync(~0u, i, lane),
                       begin = __shfl_sync(~0u, first, lane);
    for (std::int64_t w = begin + threadIdx.x % 32; w * word_entries <= end; w += 32) mark(row, w, end);
  }
}
struct CountEnds {
  const EndsWord *ends;
  std::int32_t *count;
  __device__ void operator()(std::int64_t w) const { count[w] = __popc(ends[w].bits); }
};
struct StoreBefore {
  const std::int32_t *before;
  EndsWord *ends;
  __device__ void operator()(std::int64_t w) const { ends[w].before = static_cast<std::uint32_t>(before[w]); }
};

// Rows with entries by their rank, and the others.
template <class Offset>
struct PartRows {
  const Offset *row_ptr;
  const EndsWord *ends;
  std::int32_t *row_of_rank, *empty;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t k = row_ptr[i];
    const EndsWord word = ends[k / word_entries];
    const std::int64_t rank = word.before + __popc(word.bits & ((1u << (k % word_entries)) - 1));
    (row_ptr[i + 1] > k ? row_of_rank[rank] : empty[i - rank]) = static_cast<std::int32_t>(i);
  }
};

// Where a tile begins: at its place in a row of equal tiles, or where the row of that place begins, unless that lies
// more than `slack` before; then the row is cut, and `first` is the tile in which it begins, else -1.
struct TileBegin {
  std::int64_t begin;
  std::int32_t first;
};
// Begins of the tiles, which of them have a part of a row, and how many; the tiles in order, valid where none has.
template <class Offset>
struct FindTile {
  const Offset *row_ptr;
  std::int64_t rows, nnz, tiles, size, slack;
  TileBegin *found;
  std::int32_t *part;
  TileRecord *tile;
  RowCounts *counts;
  __device__ TileBegin begin_of(std::int64_t t) const {
    const std::int64_t place = t < tiles ? t * size : nnz;
    if (t == tiles) return {place, -1};
    const std::int64_t start = row_ptr[row_of_entry(row_ptr, 0, rows, place)];
    if (place - start <= slack) return {start, -1};
    const std::int64_t there = start / size, next = there + 1;
    return {place, static_cast<std::int32_t>(next * size - start <= slack ? next : there)};
  }
  __device__ void operator()(std::int64_t t) const {
    const TileBegin own = begin_of(t), next = begin_of(t < tiles ? t + 1 : t);
    const bool has_part = own.first >= 0 || next.first >= 0;
    found[t] = own;
    part[t] = has_part;
    tile[t] = {own.begin, static_cast<std::int32_t>(next.begin - own.begin), -1};
    if (has_part) atomicAdd(&counts->parts, 1);
  }
};
// Those come first. before: parts before each tile; n_parts in all.
struct WriteTile {
  const TileBegin *found;
  const std::int32_t *before;
  std::int64_t tiles;
  std::int32_t n_parts;
  TileRecord *tile;
  __device__ std::int64_t place(std::int64_t t) const {
    return before[t + 1] > before[t] ? before[t] : n_parts + t - before[t];
  }
  __device__ void operator()(std::int64_t t) const {
    if (t == tiles) return;  // stays unchanged
    const TileBegin own = found[t];
    const std::int32_t from = own.first < 0 ? -1 : static_cast<std::int32_t>(place(own.first));
    tile[place(t)] = {own.begin, static_cast<std::int32_t>(found[t + 1].begin - own.begin), from};
  }
};

// The first entry of row i or a later one, from the rows of sorted entries.
struct FindRow {
  const std::int32_t *row;
  std::int64_t nnz;
  std::int64_t *row_ptr;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t low = 0, high = nnz;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (row[middle] < i)
        low = middle + 1;
      else
        high = middle;
    }
    row_ptr[i] = low;
  }
};

class RowPlan {
 public:
  RowPlan() = default;
  // row_ptr in device space. Rows that begin at most `slack` entries before a tile should are not cut. Waits once.
  template <class Offset>
  RowPlan(const sxt_exec *exec, const Offset *row_ptr, std::int64_t rows, std::int64_t nnz, int threads,
          std::int64_t slack)
      : threads_(threads), rows_(rows) {
    if (nnz == 0) return;
    slack = std::min(slack, TileShape::most_slack(threads));
    const std::int64_t size = TileShape::entries(threads, slack);
    tiles_ = divide_up(nnz, size);
    if (tiles_ >= narrow_limit) throw Failure(SXT_E_NOT_SUPPORTED, "%lld tiles are too many", (long long)tiles_);
    // The counts lie behind the ends, so that one call clears both.
    words_ = nnz / word_entries + 1;
    ends_ = DeviceArray(exec, static_cast<std::uint64_t>(words_) * sizeof(EndsWord) + sizeof(RowCounts),
                        "the ends of rows");
    auto *const counts = reinterpret_cast<RowCounts *>(ends_.as<EndsWord>() + words_);
    fill_bytes(exec, ends_.data(), 0, ends_.bytes(), "clear the ends of rows");
    const auto n = static_cast<std::uint64_t>(tiles_) + 1;
    tile_ = DeviceArray(exec, n * sizeof(TileRecord), "tiles");
    const DeviceArray work(exec, n * (sizeof(TileBegin) + sizeof(std::int32_t)), "tiles", Life::call);
    auto *const found = work.as<TileBegin>();
    auto *const part = reinterpret_cast<std::int32_t *>(found + n);
    mark_ends<<<static_cast<unsigned>(divide_up<std::int64_t>(rows, visit_threads)), visit_threads, 0,
                stream_of(*exec)>>>(row_ptr, rows, ends_.as<EndsWord>(), counts);
    need_launch("an examination of the ends of rows");
    visit_all(exec, tiles_ + 1,
              FindTile<Offset>{row_ptr, rows, nnz, tiles_, size, slack, found, part, tile_.as<TileRecord>(), counts});
    const RowCounts known = fetch(exec, static_cast<const RowCounts *>(counts), "numbers of rows and parts");
    n_empty_ = known.empty;
    parts_ = known.parts;
    if (n_empty_ > 0) rank_rows(exec, row_ptr);
    if (parts_ == 0) return;
    exclusive_scan(exec, part, tiles_ + 1);
    visit_all(exec, tiles_ + 1, WriteTile{found, part, tiles_, known.parts, tile_.as<TileRecord>()});
  }

  std::int64_t parts() const { return parts_; }  // tiles with a part of a row
  bool empty() const { return tiles_ == 0; }

  // y = alpha A x + beta y, `together` right-hand sides a pass, or one where there is one.
  template <class V, class M, int together>
  sxt_status multiply(const void *col, const void *values, bool conjugated, const sxt_spmv_args &args,
                      ulonglong2 *packets, bool early, const char *what, const sxt_exec *exec) const {
    const auto p = product_of<V>(args);
    if (tiles_ == 0) return scale_outputs(rows_, p, exec);
    const auto aligned = [](const void *at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
    const EndedEntries<M> a{static_cast<const std::int32_t *>(col),
                            static_cast<const M *>(values),
                            ends_.as<const EndsWord>(),
                            tile_.as<const TileRecord>(),
                            row_of_rank_.as<const std::int32_t>(),
                            empty_.as<const std::int32_t>(),
                            n_empty_,
                            aligned(col) && aligned(values),
                            conjugated};
    const dim3 blocks(static_cast<unsigned>(tiles_));
    const auto threads = static_cast<unsigned>(threads_);
    if (args.n_rhs == 1)
      return launch_chained(exec, early, what, multiply_ended_rows<V, M, 1>, blocks, threads, 0, a, p, packets);
    sxt_status status = SXT_OK;
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; r += together)
      status = launch_chained(exec, early, what, multiply_ended_rows<V, M, together>, blocks, threads, 0, a,
                              columns_from(p, r, std::min(together, args.n_rhs - r)), packets);
    return status;
  }

 private:
  // Ranks of rows where some are empty.
  template <class Offset>
  void rank_rows(const sxt_exec *exec, const Offset *row_ptr) {
    const std::int64_t filled = rows_ - n_empty_;
    const DeviceArray before(exec, static_cast<std::uint64_t>(words_) * sizeof(std::int32_t), "counts of rows",
                             Life::call);
    visit_all(exec, words_, CountEnds{ends_.as<const EndsWord>(), before.as<std::int32_t>()});
    exclusive_scan(exec, before.as<std::int32_t>(), words_);
    visit_all(exec, words_, StoreBefore{before.as<const std::int32_t>(), ends_.as<EndsWord>()});
    row_of_rank_ = DeviceArray(exec, static_cast<std::uint64_t>(filled) * sizeof(std::int32_t), "rows with entries");
    empty_ = DeviceArray(exec, static_cast<std::uint64_t>(n_empty_) * sizeof(std::int32_t), "rows without entries");
    visit_all(exec, rows_,
              PartRows<Offset>{row_ptr, ends_.as<const EndsWord>(), row_of_rank_.as<std::int32_t>(),
                               empty_.as<std::int32_t>()});
  }

  int threads_ = 256;
  std::int64_t rows_ = 0, words_ = 0, tiles_ = 0, parts_ = 0;
  std::int32_t n_empty_ = 0;
  DeviceArray ends_, row_of_rank_, empty_, tile_;
};

// A caller's packets for rows in parts, cleared; `columns` at once.
struct PartSession {
  DeviceArray packets;
};
inline sxt_status open_parts(const sxt_exec *exec, std::int64_t parts, int columns, sxt_value_type type, void **out) {
  return build<PartSession>(exec, out, [&](PartSession &session) -> sxt_status {
    if (parts == 0) return SXT_OK;
    session.packets = DeviceArray(exec, part_bytes(parts * columns, value_bytes(type)), "parts of rows");
    fill_bytes(exec, session.packets.data(), 0, session.packets.bytes(), "clear parts of rows");
    return SXT_OK;
  });
}

}  // namespace sextant::plugin::cuda
