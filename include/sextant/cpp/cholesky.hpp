// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky factorisation. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_CHOLESKY_HPP
#define SEXTANT_CPP_CHOLESKY_HPP

#include <vector>

#include "sextant/cpp/matrix.hpp"

namespace sextant {
inline namespace cpp {

/// How a pattern is analysed, and how its values will be factored: the members of sxt_analysis_options, set to their
/// defaults.
struct AnalysisOptions : sxt_analysis_options {
  AnalysisOptions() { sxt_analysis_options_init(this, sizeof(sxt_analysis_options)); }
  /// permutation[k] is the row eliminated k-th, counted as A's indices are; empty: none given.
  std::span<const std::int64_t> permutation;
  /// Rows left unfactored, distinct, counted as A's indices are.
  std::span<const std::int64_t> schur_rows;
};

/// The order of elimination and the structure of L, of one pattern.
class Analysis : public detail::Object<sxt_analysis, sxt_analysis_destroy> {
 public:
  /// Chooses an order and finds the structure of L, as sxt_analysis_create. [any-thread]
  explicit Analysis(const Matrix &a, const AnalysisOptions &options = {})
      : Analysis(a, options, [&](const sxt_analysis_options &c, sxt_analysis **made) {
          return sxt_analysis_create(a.get(), &c, made);
        }) {}
  /// From a file that save() wrote, without the search for an order. [any-thread]
  static Analysis load(const Matrix &a, const std::string &path, const AnalysisOptions &options = {}) {
    return Analysis(a, options, [&](const sxt_analysis_options &c, sxt_analysis **made) {
      return sxt_analysis_load(a.get(), path.c_str(), &c, made);
    });
  }

  /// Writes the order and the widths, under the pattern's hash. [any-thread]
  void save(const std::string &path) const { check(sxt_analysis_save(get(), path.c_str())); }
  /// What it found and predicts. [any-thread]
  sxt_analysis_info info() const {
    sxt_analysis_info info{};
    info.struct_size = sizeof info;
    check(sxt_analysis_get_info(get(), &info));
    return info;
  }
  /// The rows in the order of elimination, counted as A's indices are. [any-thread]
  std::vector<std::int64_t> order() const {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n_));
    check(sxt_analysis_get_order(get(), n_, rows.data()));
    return rows;
  }
  /// The name of the method that found the order. [any-thread]
  std::string method() const {
    return detail::checked_text([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_analysis_get_method(get(), buffer, capacity, length);
    });
  }
  /// Orders and schedulers that were considered. form: SXT_TEXT, SXT_JSON. [any-thread]
  std::string explain(std::int32_t form = SXT_TEXT) const {
    return detail::checked_text([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_analysis_explain(get(), form, buffer, capacity, length);
    });
  }
  /// Rows of A. [any-thread]
  std::int64_t rows() const noexcept { return n_; }
  /// Type of A's values. [any-thread]
  sxt_value_type value_type() const noexcept { return type_; }
  /// Rows that are left unfactored. [any-thread]
  std::int64_t schur_size() const noexcept { return schur_; }

 private:
  template <class Make>
  Analysis(const Matrix &a, const AnalysisOptions &options, Make how)
      : Object(log_of(a)), n_(a.rows()), type_(a.value_type()) {
    sxt_analysis_options c = options;
    if (!options.permutation.empty()) {
      detail::require_size("permutation", detail::size_of(options.permutation), n_, "one for each row");
      c.permutation = options.permutation.data();
    }
    if (!options.schur_rows.empty()) {
      c.schur_rows = options.schur_rows.data();
      c.n_schur = detail::size_of(options.schur_rows);
    }
    schur_ = c.n_schur;
    make([&](sxt_analysis **made) { return how(c, made); });
  }

  std::int64_t n_;
  sxt_value_type type_;
  std::int64_t schur_ = 0;
};

/// What may differ from factorisation to factorisation: the members of sxt_factor_options, set to their defaults.
struct FactorOptions : sxt_factor_options {
  FactorOptions() { sxt_factor_options_init(this, sizeof(sxt_factor_options)); }
};
/// What may differ from solve to solve: the members of sxt_cholesky_solve_options, set to their defaults.
struct CholeskySolveOptions : sxt_cholesky_solve_options {
  CholeskySolveOptions() { sxt_cholesky_solve_options_init(this, sizeof(sxt_cholesky_solve_options)); }
};

/// One factor. A call that was cancelled throws an error with status SXT_NOT_CONVERGED.
class Cholesky : public detail::Object<sxt_cholesky, sxt_cholesky_destroy> {
 public:
  /// Memory for one factor. [any-thread]
  explicit Cholesky(const Analysis &analysis)
      : Object(log_of(analysis)), shape_{analysis.rows(), analysis.value_type()}, schur_(analysis.schur_size()) {
    make([&](sxt_cholesky **made) { return sxt_cholesky_create(analysis.get(), made); });
  }

  /// Factors the present values of the analysis's matrix, as sxt_cholesky_factor. [exclusive]
  void factor(const FactorOptions &options = {}) { check(sxt_cholesky_factor(get(), nullptr, &options)); }
  /// Factors another matrix of the same pattern, type and context. [exclusive]
  void factor(const Matrix &a, const FactorOptions &options = {}) {
    check(sxt_cholesky_factor(get(), detail::needed("a", a), &options));
  }

  /// Solves A x = b on arrays, on the host or where the context's device reaches them; b may be x. [any-thread]
  template <Array B, WritableArray X>
  requires detail::SameValues<B, X> sxt_cholesky_solve_report solve(const B &b, X &&x,
                                                                    const CholeskySolveOptions &options = {})
  const { return solve(columns(b, detail::size_of(b), 1), columns(x, detail::size_of(x), 1), options); }
  /// The same on several columns. [any-thread]
  template <Block B, WritableBlock X>
  requires detail::SameBlocks<B, X> sxt_cholesky_solve_report solve(const B &b_block, X &&x_block,
                                                                    const CholeskySolveOptions &options = {})
  const {
    const auto b = detail::columns_of(b_block);
    const auto x = detail::columns_of(x_block);
    shape_.require(b, x);
    sxt_cholesky_solve_report report{};
    report.struct_size = sizeof report;
    check(sxt_cholesky_solve(get(), shape_.rows, b.cols(), b.data(), b.leading_dimension(), x.data(),
                             x.leading_dimension(), &options, &report));
    return report;
  }

  /// What the factor says of itself, and how the last factorisation ended. [any-thread]
  sxt_cholesky_info info() const {
    sxt_cholesky_info info{};
    info.struct_size = sizeof info;
    check(sxt_cholesky_get_info(get(), &info));
    return info;
  }
  /// Rows whose pivots the policy changed, 1024 at most; info().changed_pivots says how many there are. [any-thread]
  std::vector<std::int64_t> changed_pivots() const {
    std::vector<std::int64_t> rows(1024);
    std::int64_t count = 0;
    check(sxt_cholesky_changed_pivots(get(), detail::size_of(rows), rows.data(), &count));
    rows.resize(static_cast<std::size_t>(std::min<std::int64_t>(count, detail::size_of(rows))));
    return rows;
  }
  /// Pivots by A's rows: of D, or squares of the diagonal of L. [any-thread]
  std::vector<double> diagonal() const {
    std::vector<double> pivots(static_cast<std::size_t>(shape_.rows));
    check(sxt_cholesky_diagonal(get(), shape_.rows, pivots.data()));
    return pivots;
  }
  /// 1 / (|A|_1 |A^-1|_1), estimated. [any-thread]
  double rcond() const {
    double rcond = 0;
    check(sxt_cholesky_rcond(get(), &rcond));
    return rcond;
  }
  /// The Schur complement of the rows that were left, in the order they were given; both triangles. [any-thread]
  template <WritableBlock S>
  void schur(S &&block) const {
    const auto s = detail::columns_of(block);
    detail::require_type("schur", value_type_of<typename decltype(s)::element_type>, shape_.type);
    detail::require(s.rows() == schur_ && s.cols() == schur_, SXT_E_DIMENSION, "schur is ", s.rows(), " x ", s.cols(),
                    ", but ", schur_, " rows were left unfactored");
    check(sxt_cholesky_schur(get(), schur_, s.data(), s.leading_dimension()));
  }
  /// Entries (rows[k], cols[k]) of A^-1 in values[k], as sxt_cholesky_inverse. [any-thread]
  template <WritableArray V>
  void inverse(std::span<const std::int64_t> rows, std::span<const std::int64_t> cols, V &&values) const {
    detail::require_type("values", value_type_of<detail::element_of<V>>, shape_.type);
    const std::int64_t count = detail::size_of(rows);
    detail::require_size("cols", detail::size_of(cols), count, "one for each of rows");
    detail::require_size("values", detail::size_of(values), count, "one for each of rows");
    check(sxt_cholesky_inverse(get(), count, rows.data(), cols.data(), detail::span_of(values).data()));
  }

 private:
  detail::SystemShape shape_;
  std::int64_t schur_;
};

}  // namespace cpp
}  // namespace sextant
#endif
