// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the ELL and HYB storages on CUDA devices: filling the first `width` entries of every row from pieces
// of CSR, a thread a row so that the arrays are written in runs; the position of a stored value. Include from .cu files
// only.
#pragma once

#include <cstdint>

#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::plugin::cuda {

// Rows of the arrays: whole runs of a warp.
inline std::int64_t ell_device_stride(std::int64_t rows) { return divide_up<std::int64_t>(rows, 32) * 32; }

// The entries of one row that a piece holds; col NULL: values only. Padding is written once, when the arrays are made.
template <class Word, class Offset>
struct FillEllRow {
  Piece piece;
  const Offset *row_ptr;
  std::int64_t width, ld;
  std::int32_t *col;
  Word *values;
  __device__ void operator()(std::int64_t at) const {
    const std::int64_t i = piece.first_row + at, begin = row_ptr[i];
    const std::int64_t end = min(static_cast<std::int64_t>(row_ptr[i + 1]), min(piece.last, begin + width));
    for (std::int64_t k = max(begin, piece.first); k < end; ++k) {
      const std::int64_t to = (k - begin) * ld + i;
      values[to] = static_cast<const Word *>(piece.values)[k - piece.first];
      if (col) col[to] = piece.col[k - piece.first];
    }
  }
};

inline void fill_ell_piece(const sxt_exec *exec, const Source &source, const Piece &piece, const sxt_ell &ell,
                           std::int32_t *col, void *values) {
  source.with_row_ptr([&](const auto *row_ptr) {
    with_value_words(ell.s.value_type, [&](auto word) {
      using Fill = FillEllRow<decltype(word), std::remove_cv_t<std::remove_pointer_t<decltype(row_ptr)>>>;
      visit_all(exec, piece.last_row - piece.first_row,
                Fill{piece, row_ptr, ell.width, ell.ld, col, static_cast<decltype(word) *>(values)});
    });
  });
}

// Column -1 and value 0 everywhere.
inline void clear_ell(const sxt_exec *exec, const DeviceArray &col, const DeviceArray &values) {
  fill_bytes(exec, col.data(), 0xff, col.bytes(), "clear columns");
  fill_bytes(exec, values.data(), 0, values.bytes(), "clear values");
}

struct WhereEll {
  const std::int32_t *col;
  std::int64_t ld;
  __device__ Position operator()(std::int64_t k) const { return {k % ld, col[k]}; }
};

// ---- row lengths

inline constexpr int length_bins = 1024;

// How many rows have each length, counted from `least`: shorter rows not at all, longer ones than the bins in the last.
template <class Offset>
__global__ void __launch_bounds__(visit_threads)
    count_lengths(const Offset *row_ptr, std::int64_t rows, std::int64_t least, unsigned long long *bins) {
  __shared__ unsigned own[length_bins];
  for (int b = threadIdx.x; b < length_bins; b += visit_threads) own[b] = 0;
  __syncthreads();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * visit_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * visit_threads + threadIdx.x; i < rows; i += stride) {
    const std::int64_t beyond = static_cast<std::int64_t>(row_ptr[i + 1]) - row_ptr[i] - least;
    if (beyond >= 0) atomicAdd(&own[min(beyond, static_cast<std::int64_t>(length_bins - 1))], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < length_bins; b += visit_threads)
    if (own[b]) atomicAdd(&bins[b], static_cast<unsigned long long>(own[b]));
}

struct LengthMax {
  int *most;
  const void *row_ptr;
  bool wide;
  __device__ void operator()(std::int64_t i) const {
    const auto *narrow_ptr = static_cast<const std::int32_t *>(row_ptr);
    const auto *wide_ptr = static_cast<const std::int64_t *>(row_ptr);
    // Rows are shorter than 2^31: columns are distinct.
    const int length =
        wide ? static_cast<int>(wide_ptr[i + 1] - wide_ptr[i]) : static_cast<int>(narrow_ptr[i + 1] - narrow_ptr[i]);
    if (length > *static_cast<volatile int *>(most)) atomicMax(most, length);  // seldom true after the first rows
  }
};

// The length of the longest row. Waits for the answer.
inline std::int64_t longest_row(const sxt_exec *exec, const Source &source) {
  const DeviceArray most(exec, sizeof(int), "the longest row", Life::call);
  fill_bytes(exec, most.data(), 0, most.bytes(), "clear a maximum");
  visit_all(exec, source.shape().rows,
            LengthMax{most.as<int>(), source.row_ptr(), source.shape().offset_type == SXT_I64});
  return fetch(exec, most.as<const int>(), "the longest row");
}

}  // namespace sextant::plugin::cuda
