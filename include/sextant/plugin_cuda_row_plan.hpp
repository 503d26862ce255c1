// SPDX-License-Identifier: BSD-3-Clause
// What a product by segmented sums (plugin_cuda_row_ends.hpp) has to know of a matrix, found on the device from its row
// pointers: which entries end rows, which rows are empty, and where tiles begin. Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "sextant/plugin_cuda_row_ends.hpp"
#include "sextant/plugin_cuda_storage.hpp"

namespace sextant::plugin::cuda {

template <class Offset>
struct MarkEnd {
  const Offset *row_ptr;
  EndsWord *ends;
  __device__ void operator()(std::int64_t i) const {
    if (row_ptr[i + 1] == row_ptr[i]) return;
    const std::int64_t k = row_ptr[i + 1] - 1;
    atomicOr(&ends[k / word_entries].bits, 1u << (k % word_entries));
  }
};
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

// Where tile t begins: at its place in a row of equal tiles, or where the row of that place begins, unless that lies
// more than `slack` before; then the row is cut, and `first` tells the tile in which it begins, else -1.
template <class Offset>
struct FindTile {
  const Offset *row_ptr;
  std::int64_t rows, nnz, tiles, size, slack;
  std::int64_t *begin;
  std::int32_t *first;
  __device__ void operator()(std::int64_t t) const {
    const std::int64_t place = t < tiles ? t * size : nnz;
    begin[t] = place;
    first[t] = -1;
    if (t == tiles) return;
    const std::int64_t i = row_of_entry(row_ptr, 0, rows, place), start = row_ptr[i];
    if (place - start <= slack) {
      begin[t] = start;
      return;
    }
    const std::int64_t there = start / size, next = there + 1;
    first[t] = static_cast<std::int32_t>(next * size - start <= slack ? next : there);
  }
};
// Tiles that have a part of a row.
struct MarkPart {
  const std::int32_t *first;
  std::int64_t tiles;
  std::int32_t *part;
  __device__ void operator()(std::int64_t t) const { part[t] = t < tiles && (first[t] >= 0 || first[t + 1] >= 0); }
};
// Those come first. before: parts before each tile; n_parts in all.
struct WriteTile {
  const std::int64_t *begin;
  const std::int32_t *first, *before;
  std::int64_t tiles;
  std::int32_t n_parts;
  TileRecord *tile;
  __device__ std::int64_t place(std::int64_t t) const {
    return before[t + 1] > before[t] ? before[t] : n_parts + t - before[t];
  }
  __device__ void operator()(std::int64_t t) const {
    if (t == tiles) {
      tile[t] = {begin[t], 0, -1};
      return;
    }
    const std::int32_t from = first[t] < 0 ? -1 : static_cast<std::int32_t>(place(first[t]));
    tile[place(t)] = {begin[t], static_cast<std::int32_t>(begin[t + 1] - begin[t]), from};
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
  // row_ptr in device space. Rows that begin at most `slack` entries before a tile should are not cut. Waits.
  template <class Offset>
  RowPlan(const sxt_exec *exec, const Offset *row_ptr, std::int64_t rows, std::int64_t nnz, int threads,
          std::int64_t slack)
      : threads_(threads), rows_(rows) {
    if (nnz == 0) return;
    find_ends(exec, row_ptr, rows, nnz);
    find_tiles(exec, row_ptr, rows, nnz, std::min(slack, TileShape::most_slack(threads)));
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
  template <class Offset>
  void find_ends(const sxt_exec *exec, const Offset *row_ptr, std::int64_t rows, std::int64_t nnz) {
    const std::int64_t words = nnz / word_entries + 1;
    const auto n = static_cast<std::uint64_t>(words);
    ends_ = DeviceArray(exec, n * sizeof(EndsWord), "the ends of rows");
    const DeviceArray before(exec, (n + 1) * sizeof(std::int32_t), "counts of rows", Life::call);
    fill_bytes(exec, ends_.data(), 0, ends_.bytes(), "clear the ends of rows");
    fill_bytes(exec, before.data(), 0, before.bytes(), "clear counts of rows");
    visit_all(exec, rows, MarkEnd<Offset>{row_ptr, ends_.as<EndsWord>()});
    visit_all(exec, words, CountEnds{ends_.as<const EndsWord>(), before.as<std::int32_t>()});
    exclusive_scan(exec, before.as<std::int32_t>(), words + 1);
    visit_all(exec, words, StoreBefore{before.as<const std::int32_t>(), ends_.as<EndsWord>()});
    const std::int32_t filled = fetch(exec, before.as<const std::int32_t>() + words, "a number of rows");
    n_empty_ = static_cast<std::int32_t>(rows) - filled;
    if (n_empty_ == 0) return;
    row_of_rank_ = DeviceArray(exec, static_cast<std::uint64_t>(filled) * sizeof(std::int32_t), "rows with entries");
    empty_ = DeviceArray(exec, static_cast<std::uint64_t>(n_empty_) * sizeof(std::int32_t), "rows without entries");
    visit_all(exec, rows,
              PartRows<Offset>{row_ptr, ends_.as<const EndsWord>(), row_of_rank_.as<std::int32_t>(),
                               empty_.as<std::int32_t>()});
  }

  template <class Offset>
  void find_tiles(const sxt_exec *exec, const Offset *row_ptr, std::int64_t rows, std::int64_t nnz,
                  std::int64_t slack) {
    const std::int64_t size = TileShape::entries(threads_, slack);
    tiles_ = divide_up(nnz, size);
    if (tiles_ >= narrow_limit) throw Failure(SXT_E_NOT_SUPPORTED, "%lld tiles are too many", (long long)tiles_);
    const auto n = static_cast<std::uint64_t>(tiles_) + 1;
    const char *what = "tiles";
    const DeviceArray begin(exec, n * sizeof(std::int64_t), what, Life::call);
    const DeviceArray first(exec, n * sizeof(std::int32_t), what, Life::call);
    const DeviceArray before(exec, n * sizeof(std::int32_t), what, Life::call);
    tile_ = DeviceArray(exec, n * sizeof(TileRecord), what);
    visit_all(
        exec, tiles_ + 1,
        FindTile<Offset>{row_ptr, rows, nnz, tiles_, size, slack, begin.as<std::int64_t>(), first.as<std::int32_t>()});
    visit_all(exec, tiles_ + 1, MarkPart{first.as<const std::int32_t>(), tiles_, before.as<std::int32_t>()});
    exclusive_scan(exec, before.as<std::int32_t>(), tiles_ + 1);
    const std::int32_t parts = fetch(exec, before.as<const std::int32_t>() + tiles_, "a number of parts");
    parts_ = parts;
    visit_all(exec, tiles_ + 1,
              WriteTile{begin.as<const std::int64_t>(), first.as<const std::int32_t>(), before.as<const std::int32_t>(),
                        tiles_, parts, tile_.as<TileRecord>()});
  }

  int threads_ = 256;
  std::int64_t rows_ = 0, tiles_ = 0, parts_ = 0;
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
