// SPDX-License-Identifier: BSD-3-Clause
// read_matrix and read_vector: header, entries, assembly, and how files that contradict themselves are understood.
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>

#include "core/io/matrix_market.hpp"

#include "core/io/mm_entries.hpp"

namespace sextant::io {

namespace {

using namespace detail;           // the reader's stages
using namespace sextant::detail;  // those of assembly

// What one read carries through its stages.
struct Reading {
  const std::string &path;
  const ReadOptions &options;
  const Allocator &allocator;
  Header header;
  ParsedEntries parsed;
};

sxt_value_type choose_value_type(const Reading &r) {
  const sxt_value_type asked = r.options.value_type;
  const bool complex_file = r.header.field == Field::complex;
  if (asked == 0) return complex_file ? SXT_C128 : SXT_F64;
  with_value_type(asked, [](auto) {});
  require(!complex_file || asked == SXT_C64 || asked == SXT_C128, SXT_E_TYPE, r.path,
          ": the file holds complex values, which ", value_name(asked), " cannot hold; ask for c64 or c128");
  return asked;
}

// A few bytes must not cost gigabytes: every row and column has a place in some array, whether or not it has entries.
void check_sizes(const Reading &r, std::uint64_t bytes, std::uint64_t offset) {
  constexpr std::int64_t harmless = std::int64_t{1} << 20;
  const bool by_rows = r.header.rows >= r.header.cols;
  const std::int64_t size = std::max(r.header.rows, r.header.cols);
  const double most = r.options.most_rows_per_byte;
  if (most <= 0 || size <= harmless || static_cast<double>(size) <= most * static_cast<double>(bytes)) return;
  throw Fault{SXT_E_FILE_FORMAT, offset,
              text("the size line promises ", size, by_rows ? " rows" : " columns", ", but the file has ", bytes,
                   " bytes: more than ", most, " for each byte are refused, unless most_rows_per_byte allows them")};
}

void read_entries(Reading &r) {
  const std::unique_ptr<TextSource> source = open_text(r.path, r.allocator);
  LineReader lines(*source);
  r.header = read_header(lines);
  check_sizes(r, source->file_bytes(), lines.offset());
  r.parsed = parse_entries(*source, lines, r.path, r.header, choose_value_type(r), r.options, r.allocator);
}

// f(), with faults turned into "path:line: message", and the file named where memory runs out.
template <class F>
auto with_lines(const std::string &path, const Allocator &allocator, F &&f) {
  try {
    return f();
  } catch (const Fault &fault) {
    fail(fault.status, path, ":", line_of_offset(path, fault.offset, allocator), ": ", fault.message);
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_MEMORY || std::string_view(problem.what()).starts_with(path)) throw;
    fail(SXT_E_MEMORY, path, ": ", problem.what());
  } catch (const std::bad_alloc &) {
    fail(SXT_E_MEMORY, path, ": ", status_sentence(SXT_E_MEMORY));
  }
}

EntryArrays view_of(const OwnedEntries &owned) {
  EntryArrays view;
  view.rows = owned.rows, view.cols = owned.cols, view.nnz = owned.nnz;
  view.index_type = owned.index_type, view.value_type = owned.value_type;
  view.row = owned.row.data(), view.col = owned.col.data(), view.values = owned.values.data();
  return view;
}

AssemblyOptions assembly_options(const Reading &r, sxt_symmetry symmetry) {
  AssemblyOptions options;
  options.index_base = 1;
  options.symmetry = symmetry;
  // Any triangle but the full matrix: every off-diagonal entry stands for two, wherever it lies.
  options.triangle = symmetry == SXT_GENERAL ? SXT_FULL : SXT_LOWER;
  options.threads = r.options.threads;
  return options;
}

// Sums what occurs twice, or refuses it naming the lines.
void settle_repeats(const Reading &r, CsrArrays &csr, const Repeats &repeats, bool mirrored) {
  if (repeats.count == 0) return;
  if (r.options.sum_duplicates) try {
      return sum_repeats(csr, repeats.count, r.options.check_finite, r.options.threads, r.allocator);
    } catch (const Error &error) {
      fail(error.status(), r.path, ": ", error.what());
    }
  const LinePair lines = lines_of_place(r.path, r.header, repeats.row + 1, repeats.col + 1, mirrored, r.allocator);
  fail(SXT_E_DUPLICATE, r.path, ":", lines.second, ": row ", lines.row, ", column ", lines.col,
       " has an entry already, in line ", lines.first, ", and duplicates are refused");
}

// Whether a matrix without repeats equals its transpose in the sense of `symmetry`; where its values are sums, which
// may have been taken in another order, but for rounding, and the upper triangle then becomes the lower one's mirror.
template <class C, class P, class V>
bool agrees_with_mirror(CsrArrays &csr, sxt_symmetry symmetry, bool sums) {
  using R = decltype(std::abs(V()));
  const R rounding = sums ? 64 * std::numeric_limits<R>::epsilon() : 0;
  const P *start = csr.row_ptr.as<P>();
  const C *col = csr.col.as<C>();
  V *value = csr.values.as<V>();
  for (std::int64_t r = 0; r < csr.rows; ++r)
    for (P k = start[r]; k < start[r + 1]; ++k) {
      const C *begin = col + start[col[k]], *end = col + start[col[k] + 1];
      const C *found = std::lower_bound(begin, end, static_cast<C>(r));
      if (found == end || *found != r) return false;
      V &mirror = value[found - col];
      const V wanted = sextant::detail::mirror_value(value[k], symmetry);
      if (mirror == wanted) continue;
      if (!(std::abs(mirror - wanted) <= rounding * std::abs(wanted))) return false;
      if (col[k] < r) mirror = wanted;
    }
  return true;
}

bool agrees_with_mirror(CsrArrays &csr, sxt_symmetry symmetry, bool sums) {
  return with_index_type(csr.index_type, [&](auto index) {
    return with_index_type(csr.offset_type, [&](auto offset) {
      return with_value_type(csr.value_type, [&](auto value) {
        return agrees_with_mirror<typename decltype(index)::type, typename decltype(offset)::type,
                                  typename decltype(value)::type>(csr, symmetry, sums);
      });
    });
  });
}

// Entries on both sides of the diagonal: the file may store the whole matrix although its header says one triangle.
// Then nothing may be mirrored, or every off-diagonal value would double.
bool read_as_whole(Reading &r, MatrixMarketMatrix &out) {
  const AssemblyOptions options = assembly_options(r, SXT_GENERAL);
  CsrArrays csr = scatter_entries(view_of(r.parsed.entries), options, r.allocator);
  const Repeats repeats = sort_rows(csr, options.threads, r.allocator);
  if (repeats.count && !r.options.sum_duplicates) return false;  // refused below, with both lines
  settle_repeats(r, csr, repeats, false);
  if (!agrees_with_mirror(csr, r.header.symmetry, repeats.count > 0)) return false;
  out.csr = std::move(csr);
  out.note = text(r.path, ": the header says ", r.header.symmetry_name,
                  ", but both triangles are stored and agree; the entries were read as they stand");
  return true;
}

void assemble_symmetric(Reading &r, MatrixMarketMatrix &out) {
  if (r.parsed.lower && r.parsed.upper) {
    if (read_as_whole(r, out)) return;
    out.note = text(r.path, ": the header says ", r.header.symmetry_name,
                    ", but entries lie on both sides of the diagonal; each was mirrored");
  }
  const AssemblyOptions options = assembly_options(r, r.header.symmetry);
  out.csr = scatter_entries(view_of(r.parsed.entries), options, r.allocator);
  // The file's entries are in the matrix now; only then is there room to sort and sum.
  r.parsed.entries = {};
  settle_repeats(r, out.csr, sort_rows(out.csr, options.threads, r.allocator), true);
}

void assemble_general(Reading &r, MatrixMarketMatrix &out) {
  out.csr = scatter_owned(r.parsed.entries, 1, r.options.threads, r.allocator);
  settle_repeats(r, out.csr, sort_rows(out.csr, r.options.threads, r.allocator), false);
}

bool is_complex_type(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128; }

// Array files do not say which entry is on the diagonal while they are parsed: look at the result.
bool has_odd_diagonal(const CsrArrays &csr, sxt_symmetry symmetry) {
  if (symmetry != SXT_HERMITIAN || !is_complex_type(csr.value_type)) return false;
  return with_value_type(csr.value_type, [&](auto tag) {
    using V = typename decltype(tag)::type;
    if constexpr (is_complex<V>)
      for (std::int64_t i = 0; i < csr.rows; ++i)
        if (csr.values.as<V>()[i * (csr.cols + 1)].imag() != 0) return true;
    return false;
  });
}

// What the entries are, which the header may contradict.
void settle_symmetry(const Reading &r, MatrixMarketMatrix &out) {
  const Header &h = r.header;
  const bool odd = r.parsed.odd_diagonal || (!h.coordinate && has_odd_diagonal(out.csr, h.symmetry));
  out.symmetry = h.symmetry;
  // A Hermitian matrix of real values is a symmetric one.
  if (h.symmetry == SXT_HERMITIAN && h.field != Field::complex) out.symmetry = SXT_SYMMETRIC;
  if (!odd) return;
  out.symmetry = SXT_GENERAL;
  const std::int64_t line = h.coordinate ? line_of_odd_diagonal(r.path, h, r.allocator) : 0;
  const std::string where = line ? text(r.path, ":", line) : r.path;
  out.note = text(where, ": a diagonal entry is not ", h.symmetry == SXT_SKEW ? "zero" : "real",
                  ", so the matrix is not ", h.symmetry_name, " as its header says; it was read as a general matrix");
}

MatrixMarketInfo info_of(const Header &h) {
  MatrixMarketInfo info;
  info.coordinate = h.coordinate;
  info.field = h.field_name;
  info.symmetry = h.symmetry_name;
  info.rows = h.rows, info.cols = h.cols, info.stored = h.stored;
  return info;
}

// Element i of the vector is row i, or column i of a single row.
template <class I, class V>
void scatter_vector(const OwnedEntries &entries, MatrixMarketVector &out) {
  const I *row = entries.row.as<I>(), *col = entries.col.as<I>();
  const V *values = entries.values.as<V>();
  V *to = out.values.as<V>();
  std::fill(to, to + out.n, V(0));
  for (std::int64_t k = 0; k < entries.nnz; ++k) to[std::max(row[k], col[k]) - 1] += values ? values[k] : V(1);
}

// For duplicates in a vector: a second entry for one element.
void refuse_repeats(const Reading &r, std::int64_t n) {
  Buffer seen(static_cast<std::uint64_t>(n), r.allocator);
  char *mark = seen.as<char>();
  std::fill(mark, mark + n, char{0});
  with_index_type(r.parsed.entries.index_type, [&](auto tag) {
    using I = typename decltype(tag)::type;
    const I *row = r.parsed.entries.row.as<I>(), *col = r.parsed.entries.col.as<I>();
    for (std::int64_t k = 0; k < r.parsed.entries.nnz; ++k) {
      if (mark[std::max(row[k], col[k]) - 1]++ == 0) continue;
      const LinePair lines = lines_of_place(r.path, r.header, row[k], col[k], false, r.allocator);
      fail(SXT_E_DUPLICATE, r.path, ":", lines.second, ": element ", std::max(row[k], col[k]),
           " has an entry already, in line ", lines.first, ", and duplicates are refused");
    }
  });
}

}  // namespace

MatrixMarketMatrix read_matrix(const std::string &path, const ReadOptions &options, const Allocator &allocator) {
  return with_lines(path, allocator, [&] {
    Reading r{path, options, allocator, {}, {}};
    read_entries(r);
    MatrixMarketMatrix out;
    out.info = info_of(r.header);
    if (!r.header.coordinate)
      out.csr = array_to_csr(r.parsed.entries, r.header.symmetry, options.threads, allocator);
    else if (r.header.symmetry == SXT_GENERAL)
      assemble_general(r, out);
    else
      assemble_symmetric(r, out);
    settle_symmetry(r, out);
    return out;
  });
}

MatrixMarketVector read_vector(const std::string &path, const ReadOptions &options, const Allocator &allocator) {
  return with_lines(path, allocator, [&] {
    Reading r{path, options, allocator, {}, {}};
    read_entries(r);
    const Header &h = r.header;
    require(h.cols == 1 || h.rows == 1, SXT_E_DIMENSION, path, ": holds a ", h.rows, " x ", h.cols,
            " matrix; a vector has one column or one row");
    MatrixMarketVector out;
    OwnedEntries &entries = r.parsed.entries;
    out.n = h.cols == 1 ? h.rows : h.cols;
    out.value_type = entries.value_type;
    if (!h.coordinate && h.symmetry != SXT_SKEW) {
      // The file holds the elements in order.
      out.values = std::move(entries.values);
      return out;
    }
    if (!options.sum_duplicates && h.coordinate) refuse_repeats(r, out.n);
    out.values = Buffer(static_cast<std::uint64_t>(out.n * value_bytes(out.value_type)), allocator);
    with_index_type(entries.index_type, [&](auto index) {
      with_value_type(out.value_type, [&](auto value) {
        scatter_vector<typename decltype(index)::type, typename decltype(value)::type>(entries, out);
      });
    });
    return out;
  });
}

}  // namespace sextant::io
