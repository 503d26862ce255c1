// SPDX-License-Identifier: BSD-3-Clause
// Checks a caller's entries before anything is built from them. A parallel scan finds the first bad entry; only then
// is its message put together, so the scan itself stays short.
#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix/assemble_internal.hpp"

namespace sextant::detail {

namespace {

using Layout = EntryArrays::Layout;

void check_sizes(const EntryArrays &e) {
  require(e.rows >= 0 && e.cols >= 0 && e.nnz >= 0, SXT_E_ARGUMENT, "a matrix of ", e.rows, " x ", e.cols, " with ",
          e.nnz, " entries: sizes must not be negative");
  require(e.rows < kLargestSize && e.cols < kLargestSize && e.nnz < kLargestSize, SXT_E_OVERFLOW, "a matrix of ",
          e.rows, " x ", e.cols, " with ", e.nnz, " entries is too large: sizes must be below 2^58");
  with_value_type(e.value_type, [](auto) {});
  with_index_type(e.index_type, [](auto) {});
  if (e.layout != Layout::coo) with_index_type(e.offset_type, [](auto) {});
}

void check_options(const EntryArrays &e, const AssemblyOptions &o) {
  require(o.index_base == 0 || o.index_base == 1, SXT_E_ARGUMENT, "index base ", o.index_base, " is not 0 or 1");
  require(o.symmetry >= SXT_GENERAL && o.symmetry <= SXT_SKEW, SXT_E_ARGUMENT, "symmetry ", o.symmetry,
          " is not general (0), symmetric (1), Hermitian (2) or skew (3)");
  require(o.triangle >= SXT_FULL && o.triangle <= SXT_UPPER, SXT_E_ARGUMENT, "triangle ", o.triangle,
          " is not full (0), lower (1) or upper (2)");
  require(o.symmetry != SXT_GENERAL || o.triangle == SXT_FULL, SXT_E_ARGUMENT,
          "one triangle is said to be stored, but the matrix is general: give its symmetry or triangle full (0)");
  require(o.symmetry == SXT_GENERAL || e.rows == e.cols, SXT_E_NOT_SQUARE, "a ", e.rows, " x ", e.cols,
          " matrix cannot be symmetric, Hermitian or skew: it is not square");
}

void check_arrays_given(const EntryArrays &e) {
  const bool row_needed = e.layout == Layout::csr || e.nnz > 0, col_needed = e.layout == Layout::csc || e.nnz > 0;
  require(e.row || !row_needed, SXT_E_ARGUMENT, e.layout == Layout::csr ? "row_ptr" : "row", " is NULL");
  require(e.col || !col_needed, SXT_E_ARGUMENT, e.layout == Layout::csc ? "col_ptr" : "col", " is NULL");
}

// Pointers must start at the base, never fall, and end at base + nnz.
void check_pointers(const EntryArrays &e, int base, int threads) {
  const std::int64_t majors = e.layout == Layout::csr ? e.rows : e.cols;
  const char *name = e.layout == Layout::csr ? "row pointer " : "column pointer ";
  const auto at = [&](std::int64_t i) { return pointer_at(e, i, base); };
  require(at(0) == 0, SXT_E_ARGUMENT, name, base, " (the first) is ", at(0) + base, ", expected the index base ", base);
  const std::int64_t fall = first_match(majors, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if (at(i + 1) < at(i)) return i;
    return end;
  });
  if (fall < majors)
    fail(SXT_E_ARGUMENT, name, fall + 1 + base, " (counting from ", base, ") is ", at(fall + 1) + base,
         ", less than the one before, ", at(fall) + base);
  require(at(majors) == e.nnz, SXT_E_ARGUMENT, name, majors + base, " (the last, counting from ", base, ") is ",
          at(majors) + base, ", expected ", e.nnz + base, " for ", e.nnz, " entries");
}

bool outside_triangle(std::int64_t r, std::int64_t c, sxt_triangle triangle) {
  return triangle == SXT_LOWER ? c > r : triangle == SXT_UPPER && c < r;
}

// "entry 4 (counting from 1), row 9, column 2"
std::string entry_text(std::int64_t k, std::int64_t r, std::int64_t c, int base) {
  const auto raw = [base](std::int64_t i) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(i) + base); };
  return text("entry ", k + base, " (counting from ", base, "), row ", raw(r), ", column ", raw(c));
}

// Says what is wrong with an entry whose indices the scan refused.
[[noreturn]] void fail_index(const EntryArrays &e, const AssemblyOptions &o, std::int64_t k, std::int64_t r,
                             std::int64_t c) {
  const int base = o.index_base;
  const std::string entry = entry_text(k, r, c, base);
  if (r < 0 || r >= e.rows) fail(SXT_E_INDEX, entry, ": the row is outside ", base, "..", e.rows - 1 + base);
  if (c < 0 || c >= e.cols) fail(SXT_E_INDEX, entry, ": the column is outside ", base, "..", e.cols - 1 + base);
  fail(SXT_E_ARGUMENT, entry, ": it lies ", c > r ? "above" : "below", " the diagonal, but only the ",
       o.triangle == SXT_LOWER ? "lower" : "upper", " triangle is said to be stored");
}

void check_indices(const EntryArrays &e, const AssemblyOptions &o) {
  with_index_type(e.index_type, [&](auto tag) {
    using I = typename decltype(tag)::type;
    const auto good = [&](std::int64_t, std::int64_t r, std::int64_t c) {
      return r >= 0 && r < e.rows && c >= 0 && c < e.cols && !outside_triangle(r, c, o.triangle);
    };
    const std::int64_t bad = first_match(e.nnz, o.threads, [&](std::int64_t begin, std::int64_t end) {
      return scan_entries<I>(e, o.index_base, begin, end, good);
    });
    if (bad < e.nnz)
      scan_entries<I>(e, o.index_base, bad, bad + 1,
                      [&](std::int64_t k, std::int64_t r, std::int64_t c) -> bool { fail_index(e, o, k, r, c); });
  });
}

// Value k whatever its type: for diagonal checks and messages, not for loops over all entries.
c128 value_at(const EntryArrays &e, std::int64_t k) {
  if (!e.values) return 1.0;
  return with_value_type(
      e.value_type, [&](auto tag) -> c128 { return static_cast<const typename decltype(tag)::type *>(e.values)[k]; });
}

// Entries that are off may sum to what they must, or be off by rounding: the sums of each row's.
std::vector<DiagonalSum> sum_diagonal(const EntryArrays &e, const AssemblyOptions &o) {
  std::vector<DiagonalSum> sums(static_cast<std::size_t>(e.rows));
  const bool mirrored = is_mirrored(o);
  with_index_type(e.index_type, [&](auto tag) {
    scan_entries<typename decltype(tag)::type>(e, o.index_base, 0, e.nnz,
                                               [&](std::int64_t k, std::int64_t r, std::int64_t c) {
                                                 const c128 value = value_at(e, k);
                                                 sums[r].row += std::abs(value);
                                                 if (r == c)
                                                   sums[r].add(value);
                                                 else if (mirrored)
                                                   sums[c].row += std::abs(value);
                                                 return true;
                                               });
  });
  return sums;
}

[[noreturn]] void fail_diagonal(const EntryArrays &e, const AssemblyOptions &o, std::int64_t k, std::int64_t r,
                                const DiagonalSum &sum) {
  const bool alone = sum.value == value_at(e, k);
  fail(SXT_E_ARGUMENT, entry_text(k, r, r, o.index_base), ": a diagonal entry of a ",
       o.symmetry == SXT_SKEW ? "skew-symmetric matrix must be zero" : "Hermitian matrix must be real", "; it is ",
       all_digits(value_at(e, k)), alone ? "" : ", in all that stands there " + all_digits(sum.value));
}

// a_ii = -a_ii leaves only zero, a_ii = conj(a_ii) only real values.
bool check_diagonal(const EntryArrays &e, const AssemblyOptions &o) {
  return with_index_type(e.index_type, [&](auto tag) {
    using I = typename decltype(tag)::type;
    const auto first_bad = [&](auto &&good) {
      return first_match(e.nnz, o.threads, [&](std::int64_t begin, std::int64_t end) {
        return scan_entries<I>(e, o.index_base, begin, end, [&](std::int64_t k, std::int64_t r, std::int64_t c) {
          return r != c || diagonal_fits(value_at(e, k), o.symmetry) || good(r);
        });
      });
    };
    if (first_bad([](std::int64_t) { return false; }) == e.nnz) return false;
    const std::vector<DiagonalSum> sums = sum_diagonal(e, o);
    const SymmetryTolerance tolerance(o.symmetry_tolerance, e.value_type);
    const std::int64_t bad = first_bad([&](std::int64_t r) { return sums[r].fits(o.symmetry, tolerance); });
    if (bad < e.nnz)
      scan_entries<I>(e, o.index_base, bad, bad + 1, [&](std::int64_t k, std::int64_t r, std::int64_t) -> bool {
        fail_diagonal(e, o, k, r, sums[r]);
      });
    return true;
  });
}

}  // namespace

std::int64_t major_of(const EntryArrays &entries, std::int64_t k, int base) {
  // Last major index whose pointer is <= k and whose next pointer is > k.
  std::int64_t low = 0, high = entries.layout == Layout::csr ? entries.rows : entries.cols;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (pointer_at(entries, middle, base) <= k ? low : high) = middle;
  }
  return low;
}

void check_finite_values(const EntryArrays &e, const AssemblyOptions &o) {
  const std::int64_t bad = with_value_type(e.value_type, [&](auto tag) {
    const auto *values = static_cast<const typename decltype(tag)::type *>(e.values);
    return first_match(e.nnz, o.threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k)
        if (!is_finite(values[k])) return k;
      return end;
    });
  });
  if (bad == e.nnz) return;
  with_index_type(e.index_type, [&](auto tag) {
    scan_entries<typename decltype(tag)::type>(
        e, o.index_base, bad, bad + 1, [&](std::int64_t k, std::int64_t r, std::int64_t c) -> bool {
          fail(SXT_E_NOT_FINITE, entry_text(k, r, c, o.index_base), ": the value is ",
               std::isnan(value_at(e, k).real() + value_at(e, k).imag()) ? "NaN" : "infinite");
        });
  });
}

Checked check_entries(const EntryArrays &entries, const AssemblyOptions &options, bool leave_values) {
  check_sizes(entries);
  check_options(entries, options);
  check_arrays_given(entries);
  if (entries.layout != Layout::coo) check_pointers(entries, options.index_base, options.threads);
  Checked checked;
  checked.canonical = is_canonical(entries, options);
  if (!checked.canonical) check_indices(entries, options);
  // Real matrices are Hermitian when they are symmetric: no extra condition.
  const bool complex_values = entries.value_type == SXT_C64 || entries.value_type == SXT_C128;
  const bool demands = options.symmetry == SXT_SKEW || (options.symmetry == SXT_HERMITIAN && complex_values);
  checked.finite = !options.check_finite || !entries.values;
  if (!checked.finite && (demands || !checked.canonical || !leave_values)) {
    check_finite_values(entries, options);
    checked.finite = true;
  }
  checked.diagonal_off = demands && check_diagonal(entries, options);
  return checked;
}

void put_diagonal_right(CsrArrays &csr, sxt_symmetry symmetry, int threads) {
  with_value_type(csr.value_type, [&](auto value) {
    with_index_type(csr.index_type, [&](auto index) {
      with_index_type(csr.offset_type, [&](auto offset) {
        using V = typename decltype(value)::type;
        using C = typename decltype(index)::type;
        using P = typename decltype(offset)::type;
        const P *start = csr.row_ptr.as<P>();
        const C *col = csr.col.as<C>();
        V *const values = csr.values.as<V>();
        parallel_ranges(csr.rows, threads, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            const C *at = std::lower_bound(col + start[r], col + start[r + 1], static_cast<C>(r));
            if (at == col + start[r + 1] || *at != r) continue;
            V &entry = values[at - col];
            entry = symmetry == SXT_SKEW ? V(0) : V(std::real(entry));
          }
        });
      });
    });
  });
}

}  // namespace sextant::detail
