// SPDX-License-Identifier: BSD-3-Clause
// Sorts the columns within each row and sums repeated ones. Files and most callers bring rows that are sorted
// already, so one look comes first and only the rows that need it are moved.
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/matrix/assemble_internal.hpp"

namespace sextant::detail {

namespace {

// Below this many entries insertion sort beats sorting keys and gathering.
constexpr std::int64_t kInsertionLimit = 24;

struct Inspection {
  std::int64_t longest_unsorted = 0;  // 0: every row is in order
  std::int64_t repeats = 0;           // counted in ordered rows only
  std::int64_t first_repeat_row = std::numeric_limits<std::int64_t>::max();
};

constexpr std::int64_t kRowsAtOnce = 512;

// f(row, share) for every row, pieces of some hundred rows going to the thread that is free next.
template <class F>
void for_each_row(std::int64_t rows, int team, F &&f) {
  std::atomic<std::int64_t> next{0};
  sextant::threads::for_parts(team, team, [&](int share) {
    for (std::int64_t begin = next.fetch_add(kRowsAtOnce); begin < rows; begin = next.fetch_add(kRowsAtOnce))
      for (std::int64_t r = begin; r < std::min(rows, begin + kRowsAtOnce); ++r) f(r, share);
  });
}

template <class C, class P>
Inspection inspect(const CsrArrays &csr, int threads) {
  const P *start = csr.row_ptr.as<P>();
  const C *col = csr.col.as<C>();
  std::atomic<std::int64_t> shortest{0}, repeats{0}, first{std::numeric_limits<std::int64_t>::max()};
  for_each_row(csr.rows, useful_threads(threads, csr.nnz), [&](std::int64_t r, int) {
    std::int64_t falls = 0, equal = 0;
    for (P k = start[r] + 1; k < start[r + 1]; ++k) {
      falls += col[k] < col[k - 1];
      equal += col[k] == col[k - 1];
    }
    if (falls) lower_to(shortest, -std::int64_t{start[r + 1] - start[r]});
    if (!equal) return;
    lower_to(first, r);
    repeats.fetch_add(equal, std::memory_order_relaxed);
  });
  return {-shortest, repeats, first};
}

template <class C, class V>
void insertion_sort(C *col, V *value, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) {
    const C c = col[i];
    const V v = value[i];
    std::int64_t j = i;
    for (; j > 0 && col[j - 1] > c; --j) {
      col[j] = col[j - 1];
      value[j] = value[j - 1];
    }
    col[j] = c;
    value[j] = v;
  }
}

struct Key {
  std::int64_t col, at;
  bool operator<(const Key &other) const { return col < other.col || (col == other.col && at < other.at); }
};

// Keys carry the old position: equal columns keep their order, and the values can be gathered afterwards.
template <class C, class V>
void sort_long_row(C *col, V *value, std::int64_t n, Key *keys, V *old) {
  for (std::int64_t i = 0; i < n; ++i) keys[i] = {col[i], i};
  std::sort(keys, keys + n);
  std::copy(value, value + n, old);
  for (std::int64_t i = 0; i < n; ++i) {
    col[i] = static_cast<C>(keys[i].col);
    value[i] = old[keys[i].at];
  }
}

template <class C, class V>
void sort_row(C *col, V *value, std::int64_t n, Buffer &scratch) {
  if (std::is_sorted(col, col + n)) return;
  if (n <= kInsertionLimit) return insertion_sort(col, value, n);
  Key *keys = scratch.as<Key>();
  sort_long_row(col, value, n, keys, reinterpret_cast<V *>(keys + n));
}

template <class C, class P, class V>
void sort_all(CsrArrays &csr, std::int64_t longest, int threads, const Allocator &allocator) {
  // Fewer threads rather than more scratch than half the matrix.
  const std::int64_t each = longest > kInsertionLimit ? longest * std::int64_t{sizeof(Key) + sizeof(V)} : 0;
  const std::int64_t allowed = std::max<std::int64_t>(csr.nnz * std::int64_t{sizeof(C) + sizeof(V)} / 2, 1);
  const int fitting = each ? static_cast<int>(std::clamp<std::int64_t>(allowed / each, 1, 1 << 20)) : 1 << 20;
  const int team = std::min(useful_threads(threads, csr.nnz), fitting);
  std::vector<Buffer> scratch;
  for (int t = 0; t < team; ++t) scratch.emplace_back(static_cast<std::uint64_t>(each), allocator);
  const P *start = csr.row_ptr.as<P>();
  C *col = csr.col.as<C>();
  V *value = csr.values.as<V>();
  for_each_row(csr.rows, team, [&](std::int64_t r, int share) {
    sort_row(col + start[r], value + start[r], std::int64_t{start[r + 1] - start[r]},
             scratch[static_cast<std::size_t>(share)]);
  });
}

template <class C, class P>
Repeats sort_rows_of(CsrArrays &csr, int threads, const Allocator &allocator) {
  Inspection seen = inspect<C, P>(csr, threads);
  if (seen.longest_unsorted) {
    with_value_type(csr.value_type, [&](auto tag) {
      sort_all<C, P, typename decltype(tag)::type>(csr, seen.longest_unsorted, threads, allocator);
    });
    seen = inspect<C, P>(csr, threads);
  }
  if (!seen.repeats) return {};
  const C *row_cols = csr.col.as<C>() + csr.row_ptr.as<P>()[seen.first_repeat_row];
  while (row_cols[0] != row_cols[1]) ++row_cols;
  return {seen.repeats, seen.first_repeat_row, std::int64_t{*row_cols}};
}

// Row starts of the matrix without repeats.
template <class C, class P, class Q>
void unique_starts(const CsrArrays &csr, Q *start, int threads) {
  const P *old = csr.row_ptr.as<P>();
  const C *col = csr.col.as<C>();
  parallel_ranges(csr.rows, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      Q count = 0;
      for (P k = old[r]; k < old[r + 1]; ++k) count += k == old[r] || col[k] != col[k - 1];
      start[r + 1] = count;
    }
  });
  start[0] = 0;
  for (std::int64_t r = 0; r < csr.rows; ++r) start[r + 1] += start[r];
}

// Returns the first entry of `to` that is not finite, or to.nnz.
template <class C, class P, class Q, class V>
std::int64_t sum_into(const CsrArrays &from, CsrArrays &to, int threads) {
  const P *old = from.row_ptr.as<P>();
  const C *old_col = from.col.as<C>();
  const V *old_value = from.values.as<V>();
  const Q *start = to.row_ptr.as<Q>();
  C *col = to.col.as<C>();
  V *value = to.values.as<V>();
  parallel_ranges(from.rows, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      Q at = start[r];
      for (P k = old[r]; k < old[r + 1];) {
        // In input order; the first value starts the sum, so that a lone -0 stays -0.
        V sum = old_value[k];
        const C c = old_col[k];
        for (++k; k < old[r + 1] && old_col[k] == c; ++k) sum += old_value[k];
        col[at] = c;
        value[at++] = sum;
      }
    }
  });
  return first_match(to.nnz, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      if (!is_finite(value[k])) return k;
    return end;
  });
}

template <class C, class P, class Q>
void sum_of(CsrArrays &csr, std::int64_t repeats, bool check_finite, int threads, const Allocator &allocator) {
  CsrArrays out = make_csr(csr.rows, csr.cols, csr.nnz - repeats, csr.value_type, allocator);
  unique_starts<C, P>(csr, out.row_ptr.as<Q>(), threads);
  const std::int64_t bad = with_value_type(
      csr.value_type, [&](auto tag) { return sum_into<C, P, Q, typename decltype(tag)::type>(csr, out, threads); });
  if (check_finite && bad < out.nnz) {
    const Q *start = out.row_ptr.as<Q>();
    const std::int64_t row = std::upper_bound(start, start + out.rows + 1, static_cast<Q>(bad)) - start - 1;
    fail(SXT_E_NOT_FINITE, "the sum of the duplicate entries in row ", row, ", column ", out.col.as<C>()[bad],
         " (counting from 0) overflows ", value_name(out.value_type));
  }
  csr = std::move(out);
}

}  // namespace

Repeats sort_rows(CsrArrays &csr, int threads, const Allocator &allocator) {
  return with_index_type(csr.index_type, [&](auto index) {
    return with_index_type(csr.offset_type, [&](auto offset) {
      return sort_rows_of<typename decltype(index)::type, typename decltype(offset)::type>(csr, threads, allocator);
    });
  });
}

void sum_repeats(CsrArrays &csr, std::int64_t repeats, bool check_finite, int threads, const Allocator &allocator) {
  if (repeats == 0) return;
  with_index_type(csr.index_type, [&](auto index) {
    using C = typename decltype(index)::type;
    // Summing can bring the offsets back below 2^31.
    if (csr.offset_type == SXT_I32)
      sum_of<C, std::int32_t, std::int32_t>(csr, repeats, check_finite, threads, allocator);
    else if (smallest_index(csr.nnz - repeats) == SXT_I32)
      sum_of<C, std::int64_t, std::int32_t>(csr, repeats, check_finite, threads, allocator);
    else
      sum_of<C, std::int64_t, std::int64_t>(csr, repeats, check_finite, threads, allocator);
  });
}

}  // namespace sextant::detail
