// SPDX-License-Identifier: BSD-3-Clause
// features.columns.cuda, tier 3: where all columns lie. Diagonals are marked in a map of one bit each, tested before it
// is written, since most entries find theirs marked; bandwidth and spans follow from the ends of rows.
#include <iterator>

#include "features.cuh"
#include "plugins/features/shared/names.hpp"
#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::features_cuda {

using namespace plugin;

namespace {

const char *const names[] = {SXT_FEATURES_OF_COLUMNS, nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 3, 0, nullptr};
constexpr int threads = 256;
constexpr std::int64_t own_entries = 8, most_blocks = 528;

struct Counts {
  Count bandwidth, spans, diagonals, distances;
};

std::int64_t map_words(std::int64_t rows, std::int64_t cols) { return (rows + cols) / 32 + 1; }

// Bit j - i + rows of the map for the entries of a block, some consecutive ones a thread: it looks for the row of its
// first one between the block's first and last row, and goes on from there.
template <class Offset>
__global__ void __launch_bounds__(threads)
    mark_diagonals(const Offset *row_ptr, const std::int32_t *col, std::int64_t rows, std::int64_t nnz, unsigned *map) {
  __shared__ std::int64_t borders[2];
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * threads * own_entries;
  if (threadIdx.x < 2)
    borders[threadIdx.x] =
        cuda::row_of_entry(row_ptr, 0, rows, threadIdx.x ? min(block + threads * own_entries, nnz) - 1 : block);
  __syncthreads();
  const std::int64_t begin = block + threadIdx.x * own_entries, end = min(begin + own_entries, nnz);
  if (begin >= end) return;
  std::int64_t i = cuda::row_of_entry(row_ptr, borders[0], borders[1] + 1, begin), next = row_ptr[i + 1];
  for (std::int64_t k = begin; k < end; ++k) {
    while (k >= next) next = row_ptr[++i + 1];
    const std::int64_t diagonal = col[k] - i + rows;
    const unsigned bit = 1u << diagonal % 32;
    if (!(map[diagonal / 32] & bit)) atomicOr(map + diagonal / 32, bit);
  }
}

// Columns increase, so the ends of a row decide its span and its distance from the diagonal.
template <class Offset>
__global__ void __launch_bounds__(threads)
    look_at_ends(const Offset *row_ptr, const std::int32_t *col, std::int64_t rows, Counts *out) {
  Count bandwidth = 0, spans = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < rows; i += stride) {
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    if (begin == end) continue;
    const std::int64_t left = col[begin], right = col[end - 1];
    spans += static_cast<Count>(right - left);
    bandwidth = max(bandwidth, static_cast<Count>(max(llabs(i - left), llabs(right - i))));
  }
  add_most(&out->bandwidth, bandwidth);
  add_sum(&out->spans, spans);
}

__device__ bool marked(const unsigned *map, std::int64_t words, std::int64_t diagonal) {
  return diagonal >= 0 && diagonal / 32 < words && (map[diagonal / 32] >> diagonal % 32 & 1);
}

// All diagonals in the map, and those left when an offset and its negative count as one.
__global__ void __launch_bounds__(threads)
    count_diagonals(const unsigned *map, std::int64_t words, std::int64_t rows, Counts *out) {
  Count all = 0, distances = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t w = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; w < words; w += stride)
    for (unsigned bits = map[w]; bits; bits &= bits - 1) {
      const std::int64_t offset = 32 * w + __ffs(bits) - 1 - rows;
      ++all;
      distances += offset >= 0 || !marked(map, words, rows - offset);
    }
  add_sum(&out->diagonals, all);
  add_sum(&out->distances, distances);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double nnz = static_cast<double>(q.nnz), map = 4 * static_cast<double>(map_words(q.rows, q.cols));
  cuda::CudaCost cost;
  cost.launches = 8;
  cost.stream_bytes = 4 * nnz + 4 * static_cast<double>(q.rows) + 3 * map;
  cost.working_set = cost.stream_bytes;
  cost.sectors = nnz / 4;
  cost.flops = 40 * nnz;  // about twenty integer operations to find an entry's row and diagonal
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, cuda::blocks_for(q.nnz, threads, most_blocks), threads, 1, cost);
  candidate.setup_s = call_s;
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = sizeof(Counts) + static_cast<std::uint64_t>(map);
  return SXT_OK;
}

void count_all(const sxt_csr &a, Counts *counts, unsigned *map, const sxt_exec *exec) {
  const std::int64_t words = map_words(a.s.rows, a.s.cols);
  const auto *col = static_cast<const std::int32_t *>(a.col);
  const auto stream = cuda::stream_of(*exec);
  with_row_ptr(a, [&](const auto *row_ptr) {
    if (a.s.nnz > 0) {
      const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(a.s.nnz, threads * own_entries));
      mark_diagonals<<<blocks, threads, 0, stream>>>(row_ptr, col, a.s.rows, a.s.nnz, map);
      cuda::need_launch("a pass over the columns");
    }
    look_at_ends<<<cuda::blocks_for(a.s.rows, threads, most_blocks), threads, 0, stream>>>(row_ptr, col, a.s.rows,
                                                                                           counts);
    cuda::need_launch("a pass over the ends of rows");
  });
  count_diagonals<<<cuda::blocks_for(words, threads, most_blocks), threads, 0, stream>>>(map, words, a.s.rows, counts);
  cuda::need_launch("a count of diagonals");
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const sxt_csr &a = *static_cast<const State *>(opaque)->a;
  return cuda::guarded(exec, [&] {
    const std::uint64_t map_bytes = 4 * static_cast<std::uint64_t>(map_words(a.s.rows, a.s.cols));
    auto *counts = cleared_scratch<Counts>(exec, sizeof(Counts) + map_bytes);
    count_all(a, counts, reinterpret_cast<unsigned *>(counts + 1), exec);
    const Counts all = cuda::fetch(exec, counts, "counts of diagonals");
    const double rows = static_cast<double>(a.s.rows), diagonals = static_cast<double>(all.diagonals);
    const double cells = diagonals * rows;
    const double values[] = {static_cast<double>(all.bandwidth), diagonals,
                             cells > 0 ? static_cast<double>(a.s.nnz) / cells : 1,
                             rows > 0 ? static_cast<double>(all.spans) / rows : 0, static_cast<double>(all.distances)};
    static const Names own(names);
    return Asked(as<sxt_features_args>(head), own).answer(values);
  });
}

}  // namespace

const sxt_kernel columns_kernel = feature_kernel("features.columns.cuda", "bandwidth, diagonals and column spans", &ops,
                                                 csr_storage, candidates, run);

}  // namespace sextant::features_cuda
