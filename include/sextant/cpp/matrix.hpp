// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices from arrays and files. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_MATRIX_HPP
#define SEXTANT_CPP_MATRIX_HPP

#include "sextant/cpp/arrays.hpp"
#include "sextant/cpp/context.hpp"

namespace sextant {
inline namespace cpp {

class World;

/// How arrays or a file become a matrix: the members of sxt_matrix_options, set to their defaults. The types of arrays
/// are read off the arrays. value_type is for files (0, the default, keeps the file's) and for patterns without values
/// (0: SXT_F64).
struct MatrixOptions : sxt_matrix_options {
  MatrixOptions() {
    sxt_matrix_options_init(this, sizeof(sxt_matrix_options));
    value_type = 0;
  }
};

/// The canonical CSR of a matrix: zero-based, borrowed from it.
template <Value T, Index I, Index O>
struct CsrView {
  std::span<const O> row_ptr;  ///< rows + 1 offsets.
  std::span<const I> col;      ///< The column of each entry, ascending in a row.
  std::span<const T> values;   ///< Valid until the next update of values.
};

/// Names of all features that the loaded kernels offer. [any-thread]
inline std::vector<std::string_view> feature_names() {
  std::vector<std::string_view> names;
  while (const char *name = sxt_feature_name(static_cast<std::int64_t>(names.size()))) names.emplace_back(name);
  return names;
}

/// A sparse matrix. Arrays that it is made from are copied, unless options say SXT_ADOPT.
class Matrix : public detail::Object<sxt_matrix, sxt_matrix_destroy> {
 public:
  /// From the row, column and value of each entry, as sxt_matrix_from_coo. [any-thread]
  template <IndexArray R, IndexArray C, Array V>
  requires detail::SameValues<R, C>
  static Matrix from_coo(const Context &context, std::int64_t rows, std::int64_t cols, const R &row, const C &col,
                         const V &values, MatrixOptions options = {}) {
    return coo(context, rows, cols, row, col, given(values, options), options);
  }
  /// The same where every value is 1, of options.value_type.
  template <IndexArray R, IndexArray C>
  requires detail::SameValues<R, C>
  static Matrix from_coo(const Context &context, std::int64_t rows, std::int64_t cols, const R &row, const C &col,
                         MatrixOptions options = {}) {
    return coo(context, rows, cols, row, col, ones(options), options);
  }
  /// From rows + 1 pointers, and the column and value of each entry, as sxt_matrix_from_csr. [any-thread]
  template <IndexArray P, IndexArray C, Array V>
  static Matrix from_csr(const Context &context, std::int64_t rows, std::int64_t cols, const P &row_ptr, const C &col,
                         const V &values, MatrixOptions options = {}) {
    return lines(sxt_matrix_from_csr, {"row_ptr", "col", rows}, context, rows, cols, row_ptr, col,
                 given(values, options), options);
  }
  /// The same where every value is 1, of options.value_type.
  template <IndexArray P, IndexArray C>
  static Matrix from_csr(const Context &context, std::int64_t rows, std::int64_t cols, const P &row_ptr, const C &col,
                         MatrixOptions options = {}) {
    return lines(sxt_matrix_from_csr, {"row_ptr", "col", rows}, context, rows, cols, row_ptr, col, ones(options),
                 options);
  }
  /// From cols + 1 pointers, and the row and value of each entry, as sxt_matrix_from_csc. [any-thread]
  template <IndexArray P, IndexArray R, Array V>
  static Matrix from_csc(const Context &context, std::int64_t rows, std::int64_t cols, const P &col_ptr, const R &row,
                         const V &values, MatrixOptions options = {}) {
    return lines(sxt_matrix_from_csc, {"col_ptr", "row", cols}, context, rows, cols, col_ptr, row,
                 given(values, options), options);
  }
  /// The same where every value is 1, of options.value_type.
  template <IndexArray P, IndexArray R>
  static Matrix from_csc(const Context &context, std::int64_t rows, std::int64_t cols, const P &col_ptr, const R &row,
                         MatrixOptions options = {}) {
    return lines(sxt_matrix_from_csc, {"col_ptr", "row", cols}, context, rows, cols, col_ptr, row, ones(options),
                 options);
  }
  /// From a Matrix Market file, plain or gzip, as sxt_matrix_from_file. [any-thread]
  static Matrix from_file(const Context &context, const std::string &path, const MatrixOptions &options = {}) {
    return Matrix(context,
                  [&](sxt_matrix **made) { return sxt_matrix_from_file(context.get(), path.c_str(), &options, made); });
  }

  /// New values on the same pattern, in the order that options.keep_order promised, of the matrix's type. [exclusive]
  template <Array V>
  void update_values(const V &values) {
    detail::require_type("values", value_type_of<detail::element_of<V>>, info_.value_type);
    check(sxt_matrix_update_values(get(), detail::span_of(values).data(), detail::size_of(values)));
  }

  /// What is known of the matrix now. [any-thread]
  sxt_matrix_info info() const {
    sxt_matrix_info info{};
    info.struct_size = sizeof info;
    check(sxt_matrix_get_info(get(), &info));
    return info;
  }
  /// Number of rows. [any-thread]
  std::int64_t rows() const noexcept { return info_.rows; }
  /// Number of columns. [any-thread]
  std::int64_t cols() const noexcept { return info_.cols; }
  /// Number of entries; both triangles, duplicates summed. [any-thread]
  std::int64_t nnz() const noexcept { return info_.nnz; }
  /// SXT_F64 and the like. [any-thread]
  sxt_value_type value_type() const noexcept { return info_.value_type; }
  /// The canonical CSR in host memory, of the types that info() reports; other ones are SXT_E_TYPE. [any-thread]
  template <Value T, Index I = std::int32_t, Index O = I>
  CsrView<T, I, O> csr() const {
    detail::require_type("csr()", value_type_of<T>, info_.value_type);
    detail::require(index_type_of<I> == info_.index_type && index_type_of<O> == info_.offset_type, SXT_E_TYPE,
                    "csr(): indices have ", info_.index_type == SXT_I32 ? 32 : 64, " bits and offsets ",
                    info_.offset_type == SXT_I32 ? 32 : 64);
    const void *row_ptr = nullptr, *col = nullptr, *values = nullptr;
    check(sxt_matrix_get_csr(get(), &row_ptr, &col, &values));
    const auto nnz = static_cast<std::size_t>(info_.nnz);
    return {{static_cast<const O *>(row_ptr), static_cast<std::size_t>(info_.rows) + 1},
            {static_cast<const I *>(col), nnz},
            {static_cast<const T *>(values), nnz}};
  }
  /// A named number about the matrix, computed at the first request. [any-thread]
  double feature(const std::string &name) const {
    double value = 0;
    check(sxt_matrix_feature(get(), name.c_str(), &value));
    return value;
  }

 private:
  friend class World;
  // owner: a context, or a world.
  template <class Owner, class Make>
  Matrix(const Owner &owner, Make how) : Object(log_of(owner)), info_{} {
    make(how);
    info_ = info();
  }

  // The values of the entries; not given: each is 1.
  struct Values {
    const void *data = nullptr;
    std::int64_t size = 0;
    bool given = false;
    void check(std::int64_t nnz) const {
      if (given) detail::require_size("values", size, nnz, "one for each entry");
    }
  };
  template <Array V>
  static Values given(const V &values, MatrixOptions &options) {
    options.value_type = value_type_of<detail::element_of<V>>;
    return {detail::span_of(values).data(), detail::size_of(values), true};
  }
  static Values ones(MatrixOptions &options) {
    if (options.value_type == 0) options.value_type = SXT_F64;
    return {};
  }
  template <class R, class C>
  static Matrix coo(const Context &context, std::int64_t rows, std::int64_t cols, const R &row, const C &col,
                    Values values, MatrixOptions &options) {
    options.index_type = index_type_of<detail::element_of<C>>;
    const std::int64_t nnz = detail::size_of(col);
    detail::require_size("row", detail::size_of(row), nnz, "one for each entry of col");
    values.check(nnz);
    return Matrix(context, [&](sxt_matrix **made) {
      return sxt_matrix_from_coo(context.get(), rows, cols, nnz, detail::span_of(row).data(),
                                 detail::span_of(col).data(), values.data, &options, made);
    });
  }
  // What pointers are called, what the indices, and how many rows or columns the pointers are of.
  struct Lines {
    const char *pointers, *indices;
    std::int64_t count;
  };
  template <class Make, class P, class I>
  static Matrix lines(Make from, Lines line, const Context &context, std::int64_t rows, std::int64_t cols,
                      const P &pointers, const I &indices, Values values, MatrixOptions &options) {
    options.offset_type = index_type_of<detail::element_of<P>>;
    options.index_type = index_type_of<detail::element_of<I>>;
    detail::require(line.count >= 0, SXT_E_ARGUMENT, "a matrix cannot have ", rows, " x ", cols, " entries");
    detail::require_size(line.pointers, detail::size_of(pointers), line.count + 1, "where each begins, and the end");
    const auto view = detail::span_of(pointers);
    const std::int64_t nnz = static_cast<std::int64_t>(view.back()) - options.index_base;
    detail::require_size(line.indices, detail::size_of(indices), nnz, "the last pointer says so");
    values.check(nnz);
    return Matrix(context, [&](sxt_matrix **made) {
      return from(context.get(), rows, cols, view.data(), detail::span_of(indices).data(), values.data, &options, made);
    });
  }

  sxt_matrix_info info_;
};

}  // namespace cpp
}  // namespace sextant
#endif
