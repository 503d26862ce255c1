// SPDX-License-Identifier: BSD-3-Clause
// Common parts of storages on CUDA devices: copying the source's entries to the device in pieces, kernels that visit
// entries, prefix sums, symmetric scaling and diagonals. A conversion keeps the row pointers and a small staging area,
// so that new values can later be converted without allocating. Include from .cu files only.
//   Source source(*problem, exec);                            // row pointers now on the device
//   source.for_each_piece(*problem, exec, true, [&](const Piece &p) { visit(exec, source, p, MyFunctor{...}); });
// Rows and columns are below 2^31 and columns lie as i32; offsets are i32 below 2^31 nonzeros and i64 beyond, as core
// has them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/reduce.hpp"

namespace sextant::plugin::cuda {

inline constexpr std::int64_t narrow_limit = std::numeric_limits<std::int32_t>::max();
inline constexpr int visit_threads = 256;

// SXT_OK where 32-bit rows and columns suffice.
inline sxt_status check_narrow(const sxt_matrix_query &q, sxt_message *reason) {
  if (std::max(q.rows, q.cols) < narrow_limit) return SXT_OK;
  return refuse(reason, "%lld rows or columns do not fit the 32-bit indices it holds",
                (long long)std::max(q.rows, q.cols));
}

// ---- kernels over ranges and entries ---------------------------------------------------------------------------

template <class F>
__global__ void __launch_bounds__(visit_threads) visit_range(std::int64_t n, F f) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * visit_threads + threadIdx.x;
  if (k < n) f(k);
}
// f(k) for k = 0 .. n-1, in any order. F: a functor with __device__ operator().
template <class F>
void visit_all(const sxt_exec *exec, std::int64_t n, const F &f) {
  if (n <= 0) return;
  visit_range<<<static_cast<unsigned>(divide_up<std::int64_t>(n, visit_threads)), visit_threads, 0, stream_of(*exec)>>>(
      n, f);
  need_launch("a pass over a matrix");
}

// The last row in [low, high) that begins at or before entry k.
template <class Offset>
__device__ std::int64_t row_of_entry(const Offset *row_ptr, std::int64_t low, std::int64_t high, std::int64_t k) {
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    if (static_cast<std::int64_t>(row_ptr[middle]) <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// Entries first .. last-1, which lie in rows first_row .. last_row-1: a thread each, however long the rows are.
template <class Offset, class F>
__global__ void __launch_bounds__(visit_threads)
    visit_entries(const Offset *row_ptr, std::int64_t first, std::int64_t last, std::int64_t first_row,
                  std::int64_t last_row, F f) {
  __shared__ std::int64_t borders[2];
  const std::int64_t begin = first + static_cast<std::int64_t>(blockIdx.x) * visit_threads, k = begin + threadIdx.x;
  if (threadIdx.x < 2)  // the block's first and last row: each thread then looks only between them
    borders[threadIdx.x] =
        row_of_entry(row_ptr, first_row, last_row, threadIdx.x ? min(begin + visit_threads, last) - 1 : begin);
  __syncthreads();
  if (k >= last) return;
  const std::int64_t i = row_of_entry(row_ptr, borders[0], borders[1] + 1, k);
  f(i, k, k - static_cast<std::int64_t>(row_ptr[i]));
}

// ---- prefix sums -----------------------------------------------------------------------------------------------

inline constexpr int scan_threads = 256, scan_items = 8;  // items a thread

// Sums before each item within tiles; the tile's total to totals[tile].
template <class T>
__global__ void __launch_bounds__(scan_threads) scan_tiles(std::int64_t n, T *values, T *totals) {
  __shared__ T shared[scan_threads];
  const std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) * scan_threads + threadIdx.x) * scan_items;
  T own[scan_items], sum = 0;
  for (int j = 0; j < scan_items; ++j) {
    own[j] = begin + j < n ? values[begin + j] : T(0);
    sum += own[j];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int distance = 1; distance < scan_threads; distance *= 2) {
    const T before = static_cast<int>(threadIdx.x) >= distance ? shared[threadIdx.x - distance] : T(0);
    __syncthreads();
    shared[threadIdx.x] += before;
    __syncthreads();
  }
  if (threadIdx.x == scan_threads - 1) totals[blockIdx.x] = shared[threadIdx.x];
  T running = shared[threadIdx.x] - sum;
  for (int j = 0; j < scan_items && begin + j < n; ++j) {
    values[begin + j] = running;
    running += own[j];
  }
}

template <class T>
struct AddTileTotals {
  T *values;
  const T *totals;
  std::int64_t n;
  __device__ void operator()(std::int64_t k) const {
    constexpr std::int64_t tile = scan_threads * scan_items;
    values[k] += totals[k / tile];
  }
};

// values[0 .. n) become the sums of the values before them. With n = count + 1 and a last value of 0, values[count] is
// the total. Used while a state is built: it takes memory for the tiles' totals.
template <class T>
void exclusive_scan(const sxt_exec *exec, T *values, std::int64_t n) {
  if (n <= 0) return;
  const std::int64_t tiles = divide_up<std::int64_t>(n, scan_threads * scan_items);
  const DeviceArray totals(exec, static_cast<std::uint64_t>(tiles) * sizeof(T), "a prefix sum", Life::call);
  scan_tiles<T><<<static_cast<unsigned>(tiles), scan_threads, 0, stream_of(*exec)>>>(n, values, totals.as<T>());
  need_launch("a prefix sum");
  if (tiles == 1) return;
  exclusive_scan(exec, totals.as<T>(), tiles);
  visit_all(exec, n, AddTileTotals<T>{values, totals.as<T>(), n});
}

// ---- the source of a conversion --------------------------------------------------------------------------------

// Some consecutive entries on the device: entry k of the matrix is col[k - first] and values[k - first].
struct Piece {
  std::int64_t first, last;          // entries
  std::int64_t first_row, last_row;  // rows that they lie in, last_row excluded
  const std::int32_t *col;           // NULL when columns were not asked for
  const void *values;
};

class Source {
 public:
  Source() = default;
  // Takes the row pointers over; keeps them and, where entries will come in pieces, room for one.
  Source(const sxt_problem &problem, const sxt_exec *exec, bool in_pieces = true) {
    const sxt_csr &host = host_csr(problem), *there = device_csr(problem);
    *this = Source(host.s, exec);
    copy(exec, row_ptr_.data(), there ? there->row_ptr : host.row_ptr, row_ptr_.bytes(), "row pointers");
    if (in_pieces) reserve_staging(exec);
  }
  // Row pointers that are still to be written.
  Source(const sxt_storage &shape, const sxt_exec *exec) : shape_(shape) {
    shape_.space = SXT_SPACE_DEVICE;
    // Core holds columns as i32 where they fit, and offsets as i32 below 2^31 entries.
    if (shape.index_type != SXT_I32 || std::max(shape_.rows, shape_.cols) >= narrow_limit)
      throw Failure(SXT_E_NOT_SUPPORTED, "%lld rows or columns do not fit 32-bit indices",
                    (long long)std::max(shape_.rows, shape_.cols));
    row_ptr_ = DeviceArray(exec, (shape_.rows + 1) * index_bytes(shape_.offset_type), "row pointers");
  }

  // rows, cols, nnz, value type and symmetry of the source; space, index and offset type of arrays on the device.
  const sxt_storage &shape() const { return shape_; }
  const void *row_ptr() const { return row_ptr_.data(); }
  void *writable_row_ptr() const { return row_ptr_.data(); }
  std::uint64_t bytes() const { return row_ptr_.bytes() + staging_.bytes(); }
  // f(row_ptr) with the offsets in their own type.
  template <class F>
  void with_row_ptr(F &&f) const {
    if (shape_.offset_type == SXT_I32)
      f(row_ptr_.as<const std::int32_t>());
    else
      f(row_ptr_.as<const std::int64_t>());
  }

  // f(Piece) for all entries in order; work that f launches on exec's stream runs before the next piece arrives. The
  // problem is that of prepare or refresh. Allocates nothing.
  template <class F>
  void for_each_piece(const sxt_problem &problem, const sxt_exec *exec, bool with_columns, F &&f) const {
    const sxt_csr &host = host_csr(problem);
    check_pattern(host);
    if (const sxt_csr *there = device_csr(problem)) {
      if (shape_.nnz > 0)
        f(Piece{0, shape_.nnz, 0, shape_.rows, static_cast<const std::int32_t *>(there->col), there->values});
      return;
    }
    for (std::int64_t first = 0; first < shape_.nnz; first += piece_)
      f(bring(host, exec, first, std::min(shape_.nnz, first + piece_), with_columns));
  }

  // The canonical CSR of the host that a storage is built from, and its copy on the device where the matrix holds one.
  static const sxt_csr &host_csr(const sxt_problem &problem) { return as<sxt_csr>(problem.a); }
  static const sxt_csr *device_csr(const sxt_problem &problem) {
    if (!problem.data || !is_kind(*problem.data, SXT_KIND_STORAGE_CSR)) return nullptr;
    const auto &csr = as<sxt_csr>(problem.data);
    return csr.s.space == SXT_SPACE_DEVICE && csr.s.index_type == SXT_I32 ? &csr : nullptr;
  }

  void check_pattern(const sxt_csr &host) const {
    if (host.s.nnz != shape_.nnz)
      throw Failure(SXT_E_DIMENSION, "%lld new values for a pattern of %lld entries", (long long)host.s.nnz,
                    (long long)shape_.nnz);
  }

 private:
  static constexpr std::int64_t piece_entries = 1 << 18;

  // Values first, which need the widest alignment; then columns.
  void reserve_staging(const sxt_exec *exec) {
    piece_ = std::clamp<std::int64_t>(shape_.nnz, 1, piece_entries);
    value_bytes_ = value_bytes(shape_.value_type);
    staging_ = DeviceArray(exec, piece_ * (value_bytes_ + sizeof(std::int32_t)), "a staging area");
  }

  Piece bring(const sxt_csr &host, const sxt_exec *exec, std::int64_t first, std::int64_t last,
              bool with_columns) const {
    const std::int64_t count = last - first;
    char *values = staging_.as<char>(), *col = values + piece_ * value_bytes_;
    copy(exec, values, static_cast<const char *>(host.values) + first * value_bytes_, count * value_bytes_, "values");
    if (with_columns)
      copy(exec, col, static_cast<const std::int32_t *>(host.col) + first, count * sizeof(std::int32_t), "columns");
    Piece piece{first, last, 0, shape_.rows, with_columns ? reinterpret_cast<const std::int32_t *>(col) : nullptr,
                values};
    with_index_type(host.s.offset_type, [&](auto tag) {
      const auto *begin = static_cast<const typename decltype(tag)::type *>(host.row_ptr);
      const auto *end = begin + shape_.rows + 1;
      piece.first_row = std::upper_bound(begin, end, first) - begin - 1;
      piece.last_row = std::upper_bound(begin, end, last - 1) - begin;
      return SXT_OK;
    });
    return piece;
  }

  sxt_storage shape_{};
  DeviceArray row_ptr_, staging_;
  std::int64_t piece_ = 1;
  std::uint64_t value_bytes_ = 8;
};

// f(row, entry, place of the entry in its row) for the entries of a piece.
template <class F>
void visit(const sxt_exec *exec, const Source &source, const Piece &piece, const F &f) {
  const std::int64_t count = piece.last - piece.first;
  if (count <= 0) return;
  source.with_row_ptr([&](const auto *row_ptr) {
    const auto blocks = static_cast<unsigned>(divide_up<std::int64_t>(count, visit_threads));
    visit_entries<<<blocks, visit_threads, 0, stream_of(*exec)>>>(row_ptr, piece.first, piece.last, piece.first_row,
                                                                  piece.last_row, f);
    need_launch("a pass over the entries of a matrix");
  });
}

// Values are moved without looking at them: f(Word{}) with an unsigned type of the value type's size and alignment.
template <class F>
void with_value_words(sxt_value_type type, F &&f) {
  switch (value_bytes(type)) {
    case 4: return f(std::uint32_t{});
    case 8: return f(uint2{});
    default: return f(uint4{});
  }
}
// f(T{}) with the device's form of a value type.
template <class F>
void with_device_type(sxt_value_type type, F &&f) {
  const sxt_status status =
      with_value_type(type, [&](auto tag) { return f(device_form<typename decltype(tag)::type>{}), SXT_OK; });
  if (status != SXT_OK) throw Failure(status, "value type %d is unknown", static_cast<int>(type));
}

// A whole CSR on the device: for the time of a conversion, where the matrix's own copy is used if it has one, or to
// keep.
class DeviceCsr {
 public:
  DeviceCsr() = default;
  DeviceCsr(const sxt_problem &problem, const sxt_exec *exec, Life life = Life::call) {
    const sxt_csr &host = Source::host_csr(problem), *there = Source::device_csr(problem);
    if (there && life == Life::call) {
      view_ = *there;
      return;
    }
    source_ = Source(problem, exec, false);
    make_room(exec, life);
    copy(exec, col_.data(), there ? there->col : host.col, col_.bytes(), "columns");
    take_values(problem, exec);
  }
  // One whose arrays are still to be written.
  DeviceCsr(const sxt_storage &shape, const sxt_exec *exec, Life life) : source_(shape, exec) { make_room(exec, life); }
  const sxt_csr &view() const { return view_; }
  const Source &source() const { return source_; }  // empty where the matrix's own copy is used
  std::uint64_t bytes() const { return source_.bytes() + col_.bytes() + values_.bytes(); }
  void *row_ptr() const { return source_.writable_row_ptr(); }
  void *columns() const { return col_.data(); }
  void *values() const { return values_.data(); }
  // All entries, for visit(exec, source(), all(), f).
  Piece all() const { return {0, view_.s.nnz, 0, view_.s.rows, col_.as<const std::int32_t>(), values_.data()}; }

  // The values of a problem with the same pattern. Allocates nothing.
  void take_values(const sxt_problem &problem, const sxt_exec *exec) const {
    const sxt_csr &host = Source::host_csr(problem), *there = Source::device_csr(problem);
    source_.check_pattern(host);
    copy(exec, values_.data(), there ? there->values : host.values, values_.bytes(), "values");
  }

 private:
  void make_room(const sxt_exec *exec, Life life) {
    view_.s = source_.shape();
    view_.s.h = head<sxt_csr>(SXT_KIND_STORAGE_CSR);
    const auto nnz = static_cast<std::uint64_t>(view_.s.nnz);
    col_ = DeviceArray(exec, nnz * sizeof(std::int32_t), "columns", life);
    values_ = DeviceArray(exec, nnz * value_bytes(view_.s.value_type), "values", life);
    view_.row_ptr = source_.row_ptr();
    view_.col = col_.data();
    view_.values = values_.data();
  }

  sxt_csr view_{};
  Source source_;
  DeviceArray col_, values_;
};

// ---- symmetric scaling and diagonals ---------------------------------------------------------------------------

// Where a stored value stands in the matrix; col < 0: padding. Formats bring a functor from stored position to
// Position.
struct Position {
  std::int64_t row, col;
};

template <class T, class Where>
struct ScaleStored {
  T *values;
  const Real<T> *s;
  Where where;
  __device__ void operator()(std::int64_t k) const {
    const Position place = where(k);
    // s[i] s[j] first: the mirror image of an entry gets the same bits.
    if (place.col >= 0) values[k] = times(values[k], s[place.row] * s[place.col]);
  }
};

template <class T, class Where>
struct DiagonalStored {
  const T *values;
  T *out;
  Where where;
  __device__ void operator()(std::int64_t k) const {
    const Position place = where(k);
    if (place.col >= 0 && place.row == place.col) out[place.row] = values[k];
  }
};

// Bytes of a matrix's CSR.
inline double csr_bytes(const sxt_matrix_query &q) {
  const double entry = static_cast<double>(value_bytes(q.matrix_type)) + 4;
  return static_cast<double>(q.nnz) * entry + (q.nnz < narrow_limit ? 4.0 : 8.0) * static_cast<double>(q.rows + 1);
}

// Seconds of a conversion when the CSR lies on the device; core adds the copy where it does not. `steps` launches,
// allocations and waits, each about a microsecond or two of the host; the source is read `reads` times, and `written`
// bytes are written.
inline double conversion_seconds(const sxt_machine &machine, const sxt_matrix_query &q, double steps, double reads,
                                 double written) {
  constexpr double step_s = 2.5e-6;
  return steps * step_s + (reads * csr_bytes(q) + written) / machine.stream_rate;
}

// values(i,j) *= s[i] s[j] for `count` stored values; where: a functor k -> Position on the device.
template <class Where>
void scale_stored(const sxt_exec *exec, sxt_value_type type, void *values, std::int64_t count, const void *s,
                  const Where &where) {
  with_device_type(type, [&](auto tag) {
    using T = decltype(tag);
    visit_all(exec, count, ScaleStored<T, Where>{static_cast<T *>(values), static_cast<const Real<T> *>(s), where});
  });
}

// out[i] = A(i,i), 0 where absent.
template <class Where>
void diagonal_stored(const sxt_exec *exec, const sxt_storage &a, const void *values, std::int64_t count, void *out,
                     const Where &where) {
  fill_bytes(exec, out, 0, std::min(a.rows, a.cols) * value_bytes(a.value_type), "clear a diagonal");
  with_device_type(a.value_type, [&](auto tag) {
    using T = decltype(tag);
    visit_all(exec, count, DiagonalStored<T, Where>{static_cast<const T *>(values), static_cast<T *>(out), where});
  });
}

}  // namespace sextant::plugin::cuda
