// SPDX-License-Identifier: BSD-3-Clause
// read_matrix and read_vector: header, entries, assembly, and how files that contradict themselves are understood.
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

#include "core/io/matrix_market.hpp"

#include "core/base/shortage.hpp"
#include "core/io/harwell_boeing.hpp"
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
  bool by_columns = false;  // a Harwell-Boeing file: its entries stand on no lines of their own
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
  if (is_boeing_name(r.path)) {
    BoeingReader reader(lines, source->text_limit());
    r.header = reader.header();
    r.by_columns = true;
    check_sizes(r, source->file_bytes(), reader.sizes_offset());
    r.parsed = reader.entries(choose_value_type(r), r.options.check_finite, r.allocator);
    return;
  }
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
    if (!out_of_memory(problem) || std::string_view(problem.what()).starts_with(path)) throw;
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
  require(!r.by_columns, SXT_E_DUPLICATE, r.path, ": row ", repeats.row + 1, ", column ", repeats.col + 1,
          " has two entries, and duplicates are refused");
  const LinePair lines = lines_of_place(r.path, r.header, repeats.row + 1, repeats.col + 1, mirrored, r.allocator);
  fail(SXT_E_DUPLICATE, r.path, ":", lines.second, ": row ", lines.row, ", column ", lines.col,
       " has an entry already, in line ", lines.first, ", and duplicates are refused");
}

enum class Agree { no, but_for_rounding, yes };

// Whether a matrix without repeats equals its transpose in the sense of `symmetry`. Where the two differ by rounding
// their mean takes the place of both.
template <class C, class P, class V>
class Mirrors {
 public:
  Mirrors(CsrArrays &csr, sxt_symmetry symmetry)
      : start_(csr.row_ptr.as<P>()),
        col_(csr.col.as<C>()),
        value_(csr.values.as<V>()),
        rows_(csr.rows),
        symmetry_(symmetry) {}

  Agree agree(const SymmetryTolerance &tolerance) {
    std::vector<double> root, sum;
    bool equal = true;
    for (std::int64_t r = 0; r < rows_; ++r)
      for (P k = start_[r]; k < start_[r + 1]; ++k) {
        const P mirror = find(col_[k], r);
        if (mirror < 0) return Agree::no;
        const V wanted = mirror_value(value_[mirror], symmetry_);
        if (value_[k] == wanted) continue;
        if (equal) measure(root, sum);
        equal = false;
        const std::int64_t c = col_[k];
        const double scale = std::max({root[r] * root[c], size(value_[k]), size(wanted)});
        if (!tolerance.allows(size(value_[k] - wanted), scale, std::min(sum[r], sum[c]))) return Agree::no;
      }
    if (!equal) average();
    return equal ? Agree::yes : Agree::but_for_rounding;
  }

 private:
  static double size(V value) { return static_cast<double>(std::abs(value)); }
  P find(std::int64_t r, std::int64_t c) const {
    const C *end = col_ + start_[r + 1], *at = std::lower_bound(col_ + start_[r], end, static_cast<C>(c));
    return at == end || *at != c ? P{-1} : static_cast<P>(at - col_);
  }
  void measure(std::vector<double> &root, std::vector<double> &sum) const {
    root.assign(static_cast<std::size_t>(rows_), 0);
    sum = root;
    for (std::int64_t r = 0; r < rows_; ++r)
      for (P k = start_[r]; k < start_[r + 1]; ++k) {
        sum[r] += size(value_[k]);
        if (col_[k] == r) root[r] = std::sqrt(size(value_[k]));
      }
  }
  void average() {
    constexpr auto half = static_cast<decltype(std::abs(V()))>(0.5);
    for (std::int64_t r = 0; r < rows_; ++r)
      for (P k = start_[r]; k < start_[r + 1] && col_[k] <= r; ++k) {
        V &mirror = value_[find(col_[k], r)];
        value_[k] = half * value_[k] + half * mirror_value(mirror, symmetry_);
        mirror = mirror_value(value_[k], symmetry_);
      }
  }

  const P *start_;
  const C *col_;
  V *value_;
  std::int64_t rows_;
  sxt_symmetry symmetry_;
};

Agree agrees_with_mirror(CsrArrays &csr, sxt_symmetry symmetry, const SymmetryTolerance &tolerance) {
  return with_index_type(csr.index_type, [&](auto index) {
    return with_index_type(csr.offset_type, [&](auto offset) {
      return with_value_type(csr.value_type, [&](auto value) {
        return Mirrors<typename decltype(index)::type, typename decltype(offset)::type, typename decltype(value)::type>(
                   csr, symmetry)
            .agree(tolerance);
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
  const SymmetryTolerance tolerance(r.options.symmetry_tolerance, csr.value_type);
  const Agree agree = agrees_with_mirror(csr, r.header.symmetry, tolerance);
  if (agree == Agree::no) return false;
  out.csr = std::move(csr);
  out.note =
      text(r.path, ": the header says ", r.header.symmetry_name,
           agree == Agree::yes ? ", but both triangles are stored and agree; the entries were read as they stand"
                               : ", but both triangles are stored and agree but for rounding; their mean was taken");
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

enum class Diagonal { fits, off_by_rounding, off };

// Of the result: array files do not say which entry is on the diagonal while they are parsed, and entries at one place
// may sum to what each of them is not.
Diagonal diagonal_of(const CsrArrays &csr, sxt_symmetry symmetry, const SymmetryTolerance &tolerance) {
  if (symmetry != SXT_SKEW && (symmetry != SXT_HERMITIAN || !is_complex_type(csr.value_type))) return Diagonal::fits;
  return with_index_type(csr.index_type, [&](auto index) {
    return with_index_type(csr.offset_type, [&](auto offset) {
      return with_value_type(csr.value_type, [&](auto value) {
        const auto *start = csr.row_ptr.as<typename decltype(offset)::type>();
        const auto *col = csr.col.as<typename decltype(index)::type>();
        const auto *values = csr.values.as<typename decltype(value)::type>();
        Diagonal found = Diagonal::fits;
        for (std::int64_t i = 0; i < csr.rows; ++i) {
          DiagonalSum sum;
          bool fits = true;
          for (auto k = start[i]; k < start[i + 1]; ++k) {
            sum.row += std::abs(static_cast<c128>(values[k]));
            if (col[k] != i) continue;
            sum.add(static_cast<c128>(values[k]));
            fits = diagonal_fits(values[k], symmetry);
          }
          if (fits) continue;
          if (!sum.fits(symmetry, tolerance)) return Diagonal::off;
          found = Diagonal::off_by_rounding;
        }
        return found;
      });
    });
  });
}

// What the entries are, which the header may contradict.
void settle_symmetry(const Reading &r, MatrixMarketMatrix &out) {
  const Header &h = r.header;
  out.symmetry = h.symmetry;
  // A Hermitian matrix of real values is a symmetric one.
  if (h.symmetry == SXT_HERMITIAN && h.field != Field::complex) out.symmetry = SXT_SYMMETRIC;
  if (h.coordinate && !r.parsed.odd_diagonal) return;
  const Diagonal found =
      diagonal_of(out.csr, h.symmetry, SymmetryTolerance(r.options.symmetry_tolerance, out.csr.value_type));
  if (found == Diagonal::off_by_rounding) put_diagonal_right(out.csr, h.symmetry, r.options.threads);
  if (found != Diagonal::off) return;
  out.symmetry = SXT_GENERAL;
  const std::int64_t line = h.coordinate && !r.by_columns ? line_of_odd_diagonal(r.path, h, r.allocator) : 0;
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
