// SPDX-License-Identifier: BSD-3-Clause
// assemble(): the stages in order, and the short way for entries that are in canonical order already.
#include "core/matrix/assemble.hpp"

#include <cstdint>
#include <cstring>

#include "core/base/finite.hpp"
#include "core/matrix/assemble_internal.hpp"

namespace sextant {

namespace detail {

namespace {

// Sorted COO without repeats, all indices in range.
template <class I>
bool entries_increase(const EntryArrays &e, const AssemblyOptions &o) {
  return first_match(e.nnz, o.threads, [&](std::int64_t begin, std::int64_t end) {
           // Start one entry early, so that the pair across two threads' parts is seen too.
           std::int64_t row = -1, col = -1;
           return scan_entries<I>(e, o.index_base, std::max<std::int64_t>(begin - 1, 0), end,
                                  [&](std::int64_t, std::int64_t r, std::int64_t c) {
                                    const bool after = r > row || (r == row && c > col);
                                    row = r, col = c;
                                    return after && r >= 0 && r < e.rows && c >= 0 && c < e.cols;
                                  });
         }) == e.nnz;
}

// CSR: where columns increase, the first and the last of a row tell whether all are in range.
template <class I>
bool rows_increase(const EntryArrays &e, const AssemblyOptions &o) {
  const I *col = static_cast<const I *>(e.col);
  const auto increases = [&](std::int64_t r) {
    const std::int64_t begin = pointer_at(e, r, o.index_base), end = pointer_at(e, r + 1, o.index_base);
    if (begin == end) return true;
    bool falls = false;
    for (std::int64_t k = begin + 1; k < end; ++k) falls |= col[k] <= col[k - 1];
    // Compared as they were given: one far below the base would wrap around.
    return !falls && col[begin] >= o.index_base && from_base(col[end - 1], o.index_base) < e.cols;
  };
  return first_match(
             e.rows, o.threads,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t r = begin; r < end; ++r)
                 if (!increases(r)) return r;
               return end;
             },
             e.nnz) == e.rows;
}

template <class I, class P>
void copy_row_ptr(const EntryArrays &e, const AssemblyOptions &o, P *start) {
  if (e.layout == EntryArrays::Layout::csr) {
    parallel_ranges(e.rows + 1, o.threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) start[r] = static_cast<P>(pointer_at(e, r, o.index_base));
    });
    return;
  }
  // Sorted COO: the start of row r is the first entry whose row is not smaller.
  const I *row = static_cast<const I *>(e.row);
  std::int64_t k = 0;
  for (std::int64_t r = 0; r <= e.rows; ++r) {
    while (k < e.nnz && from_base(row[k], o.index_base) < r) ++k;
    start[r] = static_cast<P>(k);
  }
}

template <class I, class C>
void copy_columns(const EntryArrays &e, const AssemblyOptions &o, C *to) {
  const I *from = static_cast<const I *>(e.col);
  parallel_ranges(e.nnz, o.threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) to[k] = static_cast<C>(from_base(from[k], o.index_base));
  });
}

// False: some value is not finite, and the rest may be missing.
bool copy_values(const EntryArrays &e, int threads, bool check, CsrArrays &csr) {
  const auto element = static_cast<std::int64_t>(value_bytes(e.value_type)),
             block = std::int64_t{cached_block} / element;
  const char *from = static_cast<const char *>(e.values);
  char *to = csr.values.as<char>();
  return first_match(e.nnz, threads, [&](std::int64_t begin, std::int64_t end) {
           for (std::int64_t k = begin; k < end; k += block) {
             const auto bytes = static_cast<std::uint64_t>(std::min(block, end - k) * element);
             if (check && !all_finite(e.value_type, from + k * element, bytes)) return k;
             std::memcpy(to + k * element, from + k * element, bytes);
           }
           return end;
         }) == e.nnz;
}

void fill_with_ones(std::int64_t nnz, int threads, CsrArrays &csr) {
  with_value_type(csr.value_type, [&](auto tag) {
    using V = typename decltype(tag)::type;
    V *to = csr.values.as<V>();
    parallel_ranges(nnz, threads, [&](std::int64_t begin, std::int64_t end) { std::fill(to + begin, to + end, V(1)); });
  });
}

// Names the first two input entries at the repeated place, which may be the mirror image of where they stand.
[[noreturn]] void fail_repeated(const EntryArrays &e, const AssemblyOptions &o, const Repeats &at) {
  const int base = o.index_base;
  std::int64_t first = -1;
  with_index_type(e.index_type, [&](auto tag) {
    scan_entries<typename decltype(tag)::type>(e, base, 0, e.nnz, [&](std::int64_t k, std::int64_t r, std::int64_t c) {
      const bool here = (r == at.row && c == at.col) || (is_mirrored(o) && r == at.col && c == at.row);
      if (here && first >= 0)
        fail(SXT_E_DUPLICATE, "entries ", first + base, " and ", k + base, " (counting from ", base,
             ") are at the same place, row ", r + base, ", column ", c + base, ", and duplicates are refused");
      if (here) first = k;
      return true;
    });
  });
  fail(SXT_E_INTERNAL, "a repeated entry was not found again");
}

}  // namespace

bool is_canonical(const EntryArrays &e, const AssemblyOptions &o) {
  if (e.layout == EntryArrays::Layout::csc || is_mirrored(o)) return false;
  return with_index_type(e.index_type, [&](auto tag) {
    using I = typename decltype(tag)::type;
    return e.layout == EntryArrays::Layout::csr ? rows_increase<I>(e, o) : entries_increase<I>(e, o);
  });
}

CsrArrays copy_canonical(const EntryArrays &e, const AssemblyOptions &o, bool check_values,
                         const Allocator &allocator) {
  CsrArrays csr = make_csr(e.rows, e.cols, e.nnz, e.value_type, allocator);
  with_index_type(e.index_type, [&](auto index) {
    using I = typename decltype(index)::type;
    with_index_type(csr.offset_type,
                    [&](auto offset) { copy_row_ptr<I>(e, o, csr.row_ptr.as<typename decltype(offset)::type>()); });
    with_index_type(csr.index_type,
                    [&](auto column) { copy_columns<I>(e, o, csr.col.as<typename decltype(column)::type>()); });
  });
  if (!e.values)
    fill_with_ones(e.nnz, o.threads, csr);
  else if (!copy_values(e, o.threads, check_values, csr))
    check_finite_values(e, o);
  return csr;
}

}  // namespace detail

Assembled adopt(const EntryArrays &entries, const AssemblyOptions &options, const Allocator &allocator) {
  const SymmetryTolerance valid(options.symmetry_tolerance, entries.value_type);
  require(entries.layout == EntryArrays::Layout::csr && entries.values && options.index_base == 0 &&
              options.triangle == SXT_FULL,
          SXT_E_NOT_SUPPORTED, "only zero-based CSR arrays with values and both triangles can be adopted");
  const detail::Checked checked = detail::check_entries(entries, options);
  const bool off = checked.diagonal_off;
  require(checked.canonical, SXT_E_ARGUMENT,
          "adopted arrays must be canonical: columns strictly increasing within each row");
  Assembled out;
  CsrArrays &csr = out.csr;
  csr.rows = entries.rows, csr.cols = entries.cols, csr.nnz = entries.nnz;
  csr.value_type = entries.value_type;
  csr.index_type = detail::smallest_index(csr.cols);
  csr.offset_type = detail::smallest_index(csr.nnz);
  require(csr.index_type == entries.index_type && csr.offset_type == entries.offset_type, SXT_E_NOT_SUPPORTED,
          "adopted arrays must hold ", index_name(csr.index_type), " columns and ", index_name(csr.offset_type),
          " pointers");
  const auto bytes = [](std::int64_t count, std::int64_t each) { return static_cast<std::uint64_t>(count * each); };
  csr.row_ptr = Buffer::borrow(entries.row, bytes(csr.rows + 1, index_bytes(csr.offset_type)));
  csr.col = Buffer::borrow(entries.col, bytes(csr.nnz, index_bytes(csr.index_type)));
  csr.values = Buffer::borrow(entries.values, bytes(csr.nnz, value_bytes(csr.value_type)));
  if (off) {  // the caller's values stay as they are
    Buffer own(csr.values.bytes(), allocator);
    std::memcpy(own.data(), entries.values, csr.values.bytes());
    csr.values = std::move(own);
    detail::put_diagonal_right(csr, options.symmetry, options.threads);
  }
  out.order.input_nnz = entries.nnz;
  out.order.kept = out.order.identity = true;
  out.order.symmetry = options.symmetry;
  out.order.diagonal_put_right = off;
  out.order.symmetry_tolerance = options.symmetry_tolerance;
  out.order.mirrored = detail::is_mirrored(options);
  return out;
}

namespace {

Assembled assemble_checked(const EntryArrays &entries, const AssemblyOptions &options, const detail::Checked &checked,
                           const Allocator &allocator) {
  Assembled out;
  if (checked.canonical) {
    out.csr = detail::copy_canonical(entries, options, !checked.finite, allocator);
    out.order.input_nnz = entries.nnz;
    out.order.kept = out.order.identity = true;
    out.order.symmetry = options.symmetry;
    return out;
  }
  out.csr = detail::scatter_entries(entries, options, allocator);
  const detail::Repeats repeats = detail::sort_rows(out.csr, options.threads, allocator);
  if (repeats.count && !options.sum_duplicates) detail::fail_repeated(entries, options, repeats);
  detail::sum_repeats(out.csr, repeats.count, options.check_finite, options.threads, allocator);
  out.order = detail::make_order(entries, options, out.csr, repeats.count, allocator);
  return out;
}

}  // namespace

Assembled assemble(const EntryArrays &entries, const AssemblyOptions &options, const Allocator &allocator) {
  const SymmetryTolerance valid(options.symmetry_tolerance, entries.value_type);
  const detail::Checked checked = detail::check_entries(entries, options, true);
  Assembled out = assemble_checked(entries, options, checked, allocator);
  const bool off = checked.diagonal_off;
  if (off) detail::put_diagonal_right(out.csr, options.symmetry, options.threads);
  out.order.diagonal_put_right = off;
  out.order.symmetry_tolerance = options.symmetry_tolerance;
  out.order.mirrored = detail::is_mirrored(options);
  return out;
}

}  // namespace sextant
