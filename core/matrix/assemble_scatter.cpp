// SPDX-License-Identifier: BSD-3-Clause
// Counting sort by row. Each thread owns a range of rows and walks all entries in input order, writing only its own
// rows: no atomics, no per-thread histograms, and the result does not depend on the number of threads.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/matrix/assemble_internal.hpp"

namespace sextant::detail {

namespace {

// Walking all entries on every thread stops paying beyond a few threads.
constexpr int kMostScatterThreads = 8;

int scatter_threads(int asked, std::int64_t nnz) { return std::min(useful_threads(asked, nnz), kMostScatterThreads); }

// Counts to exclusive starts, with the total behind the last.
template <class P>
void counts_to_starts(P *start, std::int64_t rows) {
  P sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const P count = start[i];
    start[i] = sum;
    sum += count;
  }
  start[rows] = sum;
}

// The scatter leaves the end of row i, which is the start of row i + 1, in start[i].
template <class P>
void ends_to_starts(P *start, std::int64_t rows) {
  std::memmove(start + 1, start, static_cast<std::size_t>(rows) * sizeof(P));
  start[0] = 0;
}

// Row ranges with about equal numbers of entries, from exclusive starts.
template <class P>
std::vector<std::int64_t> balanced_rows(const P *start, std::int64_t rows, int threads) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(threads) + 1, rows);
  for (int t = 0; t < threads; ++t) {
    const P goal = static_cast<P>(share(start[rows], t, threads).begin);
    first[static_cast<std::size_t>(t)] = t == 0 ? 0 : std::lower_bound(start, start + rows, goal) - start;
  }
  return first;
}

// The entries that can touch rows first..last-1: all, unless the input is grouped by row and nothing is mirrored.
Range entries_of_rows(const EntryArrays &e, const AssemblyOptions &o, std::int64_t first, std::int64_t last) {
  if (e.layout != EntryArrays::Layout::csr || is_mirrored(o)) return {0, e.nnz};
  return {pointer_at(e, first, o.index_base), pointer_at(e, last, o.index_base)};
}

// f(k, r, c, mirror) for each final entry (r, c) in rows first..last-1.
template <class I, class F>
void for_rows(const EntryArrays &e, const AssemblyOptions &o, std::int64_t first, std::int64_t last, F &&f) {
  const Range range = entries_of_rows(e, o, first, last);
  const bool mirrored = is_mirrored(o);
  scan_entries<I>(e, o.index_base, range.begin, range.end, [&](std::int64_t k, std::int64_t r, std::int64_t c) {
    if (r >= first && r < last) f(k, r, c, false);
    if (mirrored && r != c && c >= first && c < last) f(k, c, r, true);
    return true;
  });
}

template <class I, class P>
void count_rows(const EntryArrays &e, const AssemblyOptions &o, P *start, int threads) {
  std::fill(start, start + e.rows + 1, P{0});
  sextant::threads::for_parts(threads, threads, [&](int t) {
    const Range rows = share(e.rows, t, threads);
    for_rows<I>(e, o, rows.begin, rows.end, [&](std::int64_t, std::int64_t r, std::int64_t, bool) { ++start[r]; });
  });
}

template <class I, class C, class P, class V>
void place_entries(const EntryArrays &e, const AssemblyOptions &o, CsrArrays &csr, int threads) {
  P *next = csr.row_ptr.as<P>();
  C *cols = csr.col.as<C>();
  V *values = csr.values.as<V>();
  const V *input = static_cast<const V *>(e.values);
  const std::vector<std::int64_t> first = balanced_rows(next, e.rows, threads);
  sextant::threads::for_parts(threads, threads, [&](int t) {
    const auto i = static_cast<std::size_t>(t);
    for_rows<I>(e, o, first[i], first[i + 1], [&](std::int64_t k, std::int64_t r, std::int64_t c, bool mirror) {
      const P at = next[r]++;
      const V value = input ? input[k] : V(1);
      cols[at] = static_cast<C>(c);
      values[at] = mirror ? mirror_value(value, o.symmetry) : value;
    });
  });
  ends_to_starts(next, e.rows);
}

// How many entries the matrix has once mirror images are there.
template <class I>
std::int64_t count_expanded(const EntryArrays &e, const AssemblyOptions &o) {
  if (!is_mirrored(o)) return e.nnz;
  std::atomic<std::int64_t> off_diagonal{0};
  parallel_ranges(e.nnz, o.threads, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t found = 0;
    scan_entries<I>(e, o.index_base, begin, end, [&](std::int64_t, std::int64_t r, std::int64_t c) {
      found += r != c;
      return true;
    });
    off_diagonal += found;
  });
  return e.nnz + off_diagonal;
}

// Replaces row k by ~(its place), and leaves row starts in `start`. A thread may look at an entry that another has
// just replaced: places are negative after ~, so no range claims it; the atomic accesses make that well defined.
template <class I>
void rows_to_places(I *row, std::int64_t nnz, std::int64_t rows, int base, I *start, int threads) {
  std::fill(start, start + rows + 1, I{0});
  sextant::threads::for_parts(threads, threads, [&](int t) {
    const Range own = share(rows, t, threads);
    for (std::int64_t k = 0; k < nnz; ++k)
      if (const std::int64_t r = row[k] - base; r >= own.begin && r < own.end) ++start[r];
  });
  counts_to_starts(start, rows);
  const std::vector<std::int64_t> first = balanced_rows(start, rows, threads);
  sextant::threads::for_parts(threads, threads, [&](int t) {
    const std::int64_t begin = first[static_cast<std::size_t>(t)], end = first[static_cast<std::size_t>(t) + 1];
    for (std::int64_t k = 0; k < nnz; ++k) {
      std::atomic_ref<I> shared(row[k]);
      const std::int64_t r = static_cast<std::int64_t>(shared.load(std::memory_order_relaxed)) - base;
      if (r >= begin && r < end) shared.store(static_cast<I>(~start[r]++), std::memory_order_relaxed);
    }
  });
  ends_to_starts(start, rows);
}

template <class I, class T, class F>
void permute(const I *place, std::int64_t nnz, T *to, int threads, F &&value) {
  parallel_ranges(nnz, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) to[~place[k]] = value(k);
  });
}

// As scatter_owned, for offsets that fit the index type.
template <class I>
CsrArrays scatter_in_place(OwnedEntries &e, int base, int threads, const Allocator &allocator) {
  CsrArrays csr;
  csr.rows = e.rows, csr.cols = e.cols, csr.nnz = e.nnz, csr.value_type = e.value_type;
  csr.index_type = csr.offset_type = index_type_of<I>;
  csr.row_ptr = Buffer(static_cast<std::uint64_t>(e.rows + 1) * sizeof(I), allocator);
  I *place = e.row.as<I>();
  rows_to_places(place, e.nnz, e.rows, base, csr.row_ptr.as<I>(), scatter_threads(threads, e.nnz));
  csr.col = Buffer(static_cast<std::uint64_t>(e.nnz) * sizeof(I), allocator);
  const I *cols = e.col.as<I>();
  permute(place, e.nnz, csr.col.as<I>(), threads, [&](std::int64_t k) { return static_cast<I>(cols[k] - base); });
  e.col.reset();
  csr.values = Buffer(static_cast<std::uint64_t>(e.nnz * value_bytes(e.value_type)), allocator);
  with_value_type(e.value_type, [&](auto tag) {
    using V = typename decltype(tag)::type;
    const V *values = e.values.template as<V>();
    permute(place, e.nnz, csr.values.as<V>(), threads, [&](std::int64_t k) { return values ? values[k] : V(1); });
  });
  e.values.reset();
  e.row.reset();
  return csr;
}

}  // namespace

CsrArrays make_csr(std::int64_t rows, std::int64_t cols, std::int64_t nnz, sxt_value_type type,
                   const Allocator &allocator) {
  CsrArrays csr;
  csr.rows = rows, csr.cols = cols, csr.nnz = nnz, csr.value_type = type;
  csr.index_type = smallest_index(cols);
  csr.offset_type = smallest_index(nnz);
  csr.row_ptr = Buffer(static_cast<std::uint64_t>((rows + 1) * index_bytes(csr.offset_type)), allocator);
  csr.col = Buffer(static_cast<std::uint64_t>(nnz * index_bytes(csr.index_type)), allocator);
  csr.values = Buffer(static_cast<std::uint64_t>(nnz * value_bytes(type)), allocator);
  return csr;
}

CsrArrays scatter_entries(const EntryArrays &e, const AssemblyOptions &o, const Allocator &allocator) {
  return with_index_type(e.index_type, [&](auto index) {
    using I = typename decltype(index)::type;
    CsrArrays csr = make_csr(e.rows, e.cols, count_expanded<I>(e, o), e.value_type, allocator);
    const int threads = scatter_threads(o.threads, csr.nnz);
    with_index_type(csr.offset_type, [&](auto offset) {
      using P = typename decltype(offset)::type;
      count_rows<I>(e, o, csr.row_ptr.as<P>(), threads);
      counts_to_starts(csr.row_ptr.as<P>(), e.rows);
      with_value_type(e.value_type, [&](auto value) {
        using V = typename decltype(value)::type;
        if (csr.index_type == SXT_I32)
          place_entries<I, std::int32_t, P, V>(e, o, csr, threads);
        else
          place_entries<I, std::int64_t, P, V>(e, o, csr, threads);
      });
    });
    return csr;
  });
}

CsrArrays scatter_owned(OwnedEntries &e, int base, int threads, const Allocator &allocator) {
  // In place only where row, column and offset share one type; anything else is rare and takes the plain way.
  const bool same = e.index_type == smallest_index(e.cols) && e.index_type == smallest_index(e.nnz);
  if (same && e.index_type == SXT_I32) return scatter_in_place<std::int32_t>(e, base, threads, allocator);
  if (same) return scatter_in_place<std::int64_t>(e, base, threads, allocator);
  EntryArrays view;
  view.rows = e.rows, view.cols = e.cols, view.nnz = e.nnz;
  view.index_type = e.index_type, view.value_type = e.value_type;
  view.row = e.row.data(), view.col = e.col.data(), view.values = e.values.data();
  AssemblyOptions options;
  options.index_base = base;
  options.threads = threads;
  CsrArrays csr = scatter_entries(view, options, allocator);
  e.row.reset(), e.col.reset(), e.values.reset();
  return csr;
}

}  // namespace sextant::detail
