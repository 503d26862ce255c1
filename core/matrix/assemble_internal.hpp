// SPDX-License-Identifier: BSD-3-Clause
// The stages of assembly, shared by assemble() and the file reader: check, scatter by row, sort rows, sum duplicates,
// map the caller's order. Every stage gives the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "core/matrix/assemble.hpp"
#include "core/matrix/symmetric_enough.hpp"
#include "core/threads/pool.hpp"

namespace sextant::detail {

struct Range {
  std::int64_t begin = 0, end = 0;
};

// The part of 0..n-1 that thread t of `threads` works on.
inline Range share(std::int64_t n, int t, int threads) {
  const std::int64_t each = n / threads, rest = n % threads;
  const std::int64_t begin = each * t + std::min<std::int64_t>(t, rest);
  return {begin, begin + each + (t < rest ? 1 : 0)};
}

// Threads that pay for `work` items: one, or all, since to wake some takes longer than a few ten thousand items.
inline int useful_threads(int asked, std::int64_t work) { return work < 65536 ? 1 : std::max(asked, 1); }

// f(begin, end) on each thread's part of 0..n-1. f must not throw.
template <class F>
void parallel_ranges(std::int64_t n, int threads, F &&f) {
  const int team = useful_threads(threads, n);
  sextant::threads::for_parts(team, team, [&](int t) {
    const Range part = share(n, t, team);
    f(part.begin, part.end);
  });
}

// value becomes the smaller of both.
inline void lower_to(std::atomic<std::int64_t> &value, std::int64_t other) {
  std::int64_t known = value.load(std::memory_order_relaxed);
  while (other < known && !value.compare_exchange_weak(known, other, std::memory_order_relaxed)) {
  }
}

// The smallest k that scan(begin, end) reports (it returns `end` for none), or n. scan must not throw. work: items that
// are looked at, where they are more than n.
template <class F>
std::int64_t first_match(std::int64_t n, int threads, F &&scan, std::int64_t work = 0) {
  std::atomic<std::int64_t> first{n};
  const int team = useful_threads(threads, std::max(n, work));
  sextant::threads::for_parts(team, team, [&](int t) {
    const Range part = share(n, t, team);
    const std::int64_t k = scan(part.begin, part.end);
    if (k < part.end) lower_to(first, k);
  });
  return first;
}

// Indices keep their meaning under a wrap-around: a value below the base becomes negative or huge, never valid.
inline std::int64_t from_base(std::int64_t index, int base) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(index) - static_cast<std::uint64_t>(base));
}

// Zero-based pointer i of a CSR or CSC pointer array.
inline std::int64_t pointer_at(const EntryArrays &entries, std::int64_t i, int base) {
  const void *array = entries.layout == EntryArrays::Layout::csr ? entries.row : entries.col;
  const std::int64_t raw = entries.offset_type == SXT_I32 ? static_cast<const std::int32_t *>(array)[i]
                                                          : static_cast<const std::int64_t *>(array)[i];
  return from_base(raw, base);
}

// The row (CSR) or column (CSC) that entry k belongs to. Pointers must have been checked.
std::int64_t major_of(const EntryArrays &entries, std::int64_t k, int base);

// f(k, row, column) for entries begin..end-1, zero-based, until f returns false; returns the k it stopped at, or end.
template <class I, class F>
std::int64_t scan_entries(const EntryArrays &entries, int base, std::int64_t begin, std::int64_t end, F &&f) {
  if (begin >= end) return end;
  const I *rows = static_cast<const I *>(entries.row), *cols = static_cast<const I *>(entries.col);
  if (entries.layout == EntryArrays::Layout::coo) {
    for (std::int64_t k = begin; k < end; ++k)
      if (!f(k, from_base(rows[k], base), from_base(cols[k], base))) return k;
    return end;
  }
  const bool by_row = entries.layout == EntryArrays::Layout::csr;
  const I *minor = by_row ? cols : rows;
  std::int64_t major = major_of(entries, begin, base);
  for (std::int64_t k = begin; k < end; ++major) {
    const std::int64_t stop = std::min(end, pointer_at(entries, major + 1, base));
    for (; k < stop; ++k) {
      const std::int64_t other = from_base(minor[k], base);
      if (!f(k, by_row ? major : other, by_row ? other : major)) return k;
    }
  }
  return end;
}

// True when each off-diagonal entry stands for two.
inline bool is_mirrored(const AssemblyOptions &options) {
  return options.symmetry != SXT_GENERAL && options.triangle != SXT_FULL;
}

// What the mirror image of a value is.
template <class V>
V mirror_value(V value, sxt_symmetry symmetry) {
  if (symmetry == SXT_SKEW) return -value;
  if constexpr (is_complex<V>)
    if (symmetry == SXT_HERMITIAN) return std::conj(value);
  return value;
}

template <class V>
bool is_finite(V value) {
  if constexpr (is_complex<V>)
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  else
    return std::isfinite(value);
}

// The smallest types that hold a matrix's columns and offsets.
inline sxt_index_type smallest_index(std::int64_t count) {
  return count <= std::numeric_limits<std::int32_t>::max() ? SXT_I32 : SXT_I64;
}

// Everything assemble() promises to check about its input, with the messages. Throws.
struct Checked {
  bool diagonal_off = false;  // by rounding: put_diagonal_right() is to follow
  bool canonical = false;     // see is_canonical
  bool finite = true;         // or not to be checked; false: the caller checks the values, with check_finite_values
};
Checked check_entries(const EntryArrays &entries, const AssemblyOptions &options, bool leave_values = false);
void check_finite_values(const EntryArrays &entries, const AssemblyOptions &options);

// Makes the diagonal what the symmetry demands: real, or zero.
void put_diagonal_right(CsrArrays &csr, sxt_symmetry symmetry, int threads);

// Whether a diagonal entry is what the symmetry demands.
template <class V>
bool diagonal_fits(V value, sxt_symmetry symmetry) {
  if (symmetry == SXT_SKEW) return value == V(0);
  if constexpr (is_complex<V>) return symmetry != SXT_HERMITIAN || value.imag() == 0;
  return true;
}

// What stands at one place of the diagonal, where that matters, and in its row.
struct DiagonalSum {
  c128 value = 0;
  double size = 0, row = 0;  // sums of magnitudes
  void add(c128 part) { value += part, size += std::abs(part); }
  // By how much it departs from its conjugate, or from its negative.
  bool fits(sxt_symmetry symmetry, const SymmetryTolerance &tolerance) const {
    const double off = symmetry == SXT_SKEW ? std::abs(value) : std::abs(value.imag());
    return tolerance.allows(2 * off, size, row);
  }
};

// Buffers of the right types and sizes for an nnz-entry matrix; contents undefined.
CsrArrays make_csr(std::int64_t rows, std::int64_t cols, std::int64_t nnz, sxt_value_type type,
                   const Allocator &allocator);

// Entries grouped by row, in input order within a row, mirror images included. Input must have been checked.
CsrArrays scatter_entries(const EntryArrays &entries, const AssemblyOptions &options, const Allocator &allocator);

// The same for COO entries that the library owns and gives up: each array is freed as soon as it has been used, so
// that at most two copies of any one exist. Nothing is mirrored.
struct OwnedEntries {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  sxt_index_type index_type = SXT_I32;
  sxt_value_type value_type = SXT_F64;
  Buffer row, col, values;  // empty values: every value is 1
};
CsrArrays scatter_owned(OwnedEntries &entries, int base, int threads, const Allocator &allocator);

// Sorts each row by column, equal columns in input order. Reports the number of entries that repeat a column, and the
// first such place.
struct Repeats {
  std::int64_t count = 0, row = 0, col = 0;
};
Repeats sort_rows(CsrArrays &csr, int threads, const Allocator &allocator);

// Replaces each run of equal columns by its sum. Throws SXT_E_NOT_FINITE when a sum overflows and that is checked.
void sum_repeats(CsrArrays &csr, std::int64_t repeats, bool check_finite, int threads, const Allocator &allocator);

// Whether the entries are in canonical order and have no index that is out of range, and the copy when they are; with
// check_values it throws as check_finite_values does. Pointers must have been checked.
bool is_canonical(const EntryArrays &entries, const AssemblyOptions &options);
CsrArrays copy_canonical(const EntryArrays &entries, const AssemblyOptions &options, bool check_values,
                         const Allocator &allocator);

// Where each input entry and its mirror image went.
ValueOrder make_order(const EntryArrays &entries, const AssemblyOptions &options, const CsrArrays &csr,
                      std::int64_t repeats, const Allocator &allocator);

}  // namespace sextant::detail
