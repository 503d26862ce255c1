// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/renumber.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "core/matrix/assemble_internal.hpp"

namespace sextant {

namespace {

// An entry of a row: its new column, and its place in the row before.
template <class I>
struct Moved {
  I col, before;
};

// Row pointers of the rows in their new order; returns the length of the longest.
template <class I, class O>
std::int64_t order_rows(const O *from, const I *perm, std::int64_t rows, O *to) {
  O longest = 0;
  to[0] = 0;
  for (std::int64_t k = 0; k < rows; ++k) {
    const O length = from[perm[k] + 1] - from[perm[k]];
    longest = std::max(longest, length);
    to[k + 1] = to[k] + length;
  }
  return static_cast<std::int64_t>(longest);
}

// A row's entries with their new columns, ascending.
template <class I>
void sort_moved(Moved<I> *row, I length, const I *col, const I *place) {
  constexpr I few = 32;
  for (I e = 0; e < length; ++e) {
    const I moved = place[col[e]];
    I at = e;
    if (length <= few)
      for (; at > 0 && row[at - 1].col > moved; --at) row[at] = row[at - 1];
    row[at] = {moved, e};
  }
  if (length > few) std::sort(row, row + length, [](const Moved<I> &a, const Moved<I> &b) { return a.col < b.col; });
}

// Columns in the new order, ascending, and where each entry of the old order went.
template <class I, class O>
void move_entries(const CsrArrays &from, const I *perm, CsrArrays &to, O *slot, int threads,
                  const Allocator &allocator) {
  const O *from_ptr = from.row_ptr.as<O>();
  const I *from_col = from.col.as<I>();
  O *to_ptr = to.row_ptr.as<O>();
  I *to_col = to.col.as<I>();
  const std::int64_t rows = from.rows, longest = order_rows(from_ptr, perm, rows, to_ptr);
  Buffer places(static_cast<std::uint64_t>(rows) * sizeof(I), allocator);
  I *place = places.as<I>();
  detail::parallel_ranges(rows, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) place[perm[k]] = static_cast<I>(k);
  });
  const int team = detail::useful_threads(threads, from.nnz);
  Buffer work(static_cast<std::uint64_t>(team) * static_cast<std::uint64_t>(longest) * sizeof(Moved<I>), allocator);
  sextant::threads::for_parts(team, team, [&](int member) {
    constexpr std::int64_t far = 12, near = 6;  // rows ahead: its pointers, its columns
    const detail::Range part = detail::share(rows, member, team);
    Moved<I> *const row = work.as<Moved<I>>() + member * longest;
    for (std::int64_t k = part.begin; k < part.end; ++k) {
      if (k + far < part.end) __builtin_prefetch(from_ptr + perm[k + far]);
      if (k + near < part.end) __builtin_prefetch(from_col + from_ptr[perm[k + near]]);
      const O first = from_ptr[perm[k]], at = to_ptr[k];
      const auto length = static_cast<I>(to_ptr[k + 1] - at);
      sort_moved(row, length, from_col + first, place);
      for (I e = 0; e < length; ++e) {
        to_col[at + e] = row[e].col;
        slot[first + row[e].before] = static_cast<O>(at + e);
      }
    }
  });
}

// Calls f(I{}, O{}) with a matrix's index and offset types.
template <class F>
void with_indices(const CsrArrays &csr, F &&f) {
  with_index_type(csr.index_type, [&](auto index) {
    with_index_type(csr.offset_type,
                    [&](auto offset) { f(typename decltype(index)::type{}, typename decltype(offset)::type{}); });
  });
}

// Arrays of the same sizes and types.
CsrArrays like(const CsrArrays &csr, const Allocator &allocator) {
  CsrArrays out;
  out.rows = csr.rows, out.cols = csr.cols, out.nnz = csr.nnz;
  out.value_type = csr.value_type, out.index_type = csr.index_type, out.offset_type = csr.offset_type;
  out.row_ptr = Buffer(csr.row_ptr.bytes(), allocator);
  out.col = Buffer(csr.col.bytes(), allocator);
  out.values = Buffer(csr.values.bytes(), allocator);
  return out;
}

}  // namespace

std::shared_ptr<Matrix> renumbered(const Matrix &a, const void *perm) {
  const CsrArrays &from = a.csr();
  const Allocator &allocator = a.context().allocator();
  const int threads = a.context().threads();
  Assembled made;
  made.csr = like(from, allocator);
  ValueOrder &order = made.order;
  order.input_nnz = from.nnz;
  order.kept = true;
  order.map_type = from.offset_type;
  with_indices(from, [&](auto index, auto offset) {
    using I = decltype(index);
    using O = decltype(offset);
    order.slot = Buffer(static_cast<std::uint64_t>(from.nnz) * sizeof(O), allocator);
    move_entries(from, static_cast<const I *>(perm), made.csr, order.slot.template as<O>(), threads, allocator);
  });
  update_values(made.csr, order, from.values.data(), false, threads);
  auto matrix = std::make_shared<Matrix>(a.shared_context(), std::move(made), a.symmetry());
  matrix->found_symmetry(a.known_symmetry());
  return matrix;
}

double renumbered_seconds(const Matrix &a) {
  // Of one thread; its cache misses and the new memory's pages do not get as much faster with more of them.
  constexpr double entry_s = 12e-9, row_s = 75e-9;
  const CsrArrays &csr = a.csr();
  return (entry_s * static_cast<double>(csr.nnz) + row_s * static_cast<double>(csr.rows)) /
         std::sqrt(detail::useful_threads(a.context().model_threads(), csr.nnz));
}

double bandwidth_seconds(const Matrix &a) {
  // Of one thread: the columns pass by, two of each row are looked at.
  constexpr double entry_s = 0.5e-9, row_s = 2e-9;
  const CsrArrays &csr = a.csr();
  return (entry_s * static_cast<double>(csr.nnz) + row_s * static_cast<double>(csr.rows)) /
         detail::useful_threads(a.context().model_threads(), csr.rows);
}

std::int64_t bandwidth_of(const CsrArrays &csr, int threads) {
  std::atomic<std::int64_t> widest{0};
  with_indices(csr, [&](auto index, auto offset) {
    const auto *ptr = csr.row_ptr.as<decltype(offset)>();
    const auto *col = csr.col.as<decltype(index)>();
    detail::parallel_ranges(csr.rows, threads, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t most = 0;
      for (std::int64_t i = begin; i < end; ++i)  // columns ascend
        if (ptr[i] < ptr[i + 1])
          most = std::max<std::int64_t>({most, i - col[ptr[i]], static_cast<std::int64_t>(col[ptr[i + 1] - 1]) - i});
      std::int64_t known = widest;
      while (known < most && !widest.compare_exchange_weak(known, most)) {
      }
    });
  });
  return widest;
}

}  // namespace sextant
