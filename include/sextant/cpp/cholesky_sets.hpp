// SPDX-License-Identifier: BSD-3-Clause
// Many systems of one pattern. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_CHOLESKY_SETS_HPP
#define SEXTANT_CPP_CHOLESKY_SETS_HPP

#include <vector>

#include "sextant/cholesky_sets.h"
#include "sextant/cpp/cholesky.hpp"

namespace sextant {
inline namespace cpp {

/// What may differ from call to call: the members of sxt_cholesky_sets_options, set to their defaults.
struct CholeskySetsOptions : sxt_cholesky_sets_options {
  CholeskySetsOptions() { sxt_cholesky_sets_options_init(this, sizeof(sxt_cholesky_sets_options)); }
};

/// How the last factorisation of each set ended, and what the factors say of themselves: one element for each set, as
/// in sxt_cholesky_sets_outcomes.
struct CholeskySetsOutcomes {
  std::vector<sxt_status> status;            ///< SXT_OK: the set has a factor.
  std::vector<std::int64_t> failed_row;      ///< Counted as A's indices are; -1: none did.
  std::vector<double> failed_pivot;          ///< Of that row.
  std::vector<std::int64_t> changed_pivots;  ///< By the pivot policy.
  std::vector<double> log_determinant;       ///< Of |det A|; NaN without a factor.
  std::vector<std::int32_t> sign;            ///< Of det A; 0 without a factor.
  std::vector<std::int64_t> positive;        ///< Eigenvalues of A above 0.
  std::vector<std::int64_t> negative;        ///< Eigenvalues of A below 0.
  std::vector<std::int64_t> zero;            ///< Eigenvalues of A that are 0.
  std::vector<double> least_pivot;           ///< By size; NaN without a factor.
  std::vector<double> largest_pivot;         ///< By size; NaN without a factor.
};

/// Factors of many sets of values on one pattern. A call that was cancelled throws an error with status
/// SXT_NOT_CONVERGED.
class CholeskySets : public detail::Object<sxt_cholesky_sets, sxt_cholesky_sets_destroy> {
 public:
  /// Memory for `count` factors, 1 or more, as sxt_cholesky_sets_create. [any-thread]
  CholeskySets(const Analysis &analysis, std::int64_t count)
      : Object(log_of(analysis)), shape_{analysis.rows(), analysis.value_type()}, count_(count) {
    make([&](sxt_cholesky_sets **made) { return sxt_cholesky_sets_create(analysis.get(), count, made); });
  }
  /// Sets. [any-thread]
  std::int64_t count() const noexcept { return count_; }

  /// Factors all sets: their values one after the other, each as Matrix::update_values takes them. Throws where a set
  /// fails, and the others have their factors: see outcomes(). [exclusive]
  template <Array V>
  void factor(const V &values, const CholeskySetsOptions &options = {}) {
    factor(0, count_, values, options);
  }
  /// The same for sets first .. first + sets - 1 alone. [exclusive]
  template <Array V>
  void factor(std::int64_t first, std::int64_t sets, const V &values, const CholeskySetsOptions &options = {}) {
    detail::require_type("values", value_type_of<detail::value_of<const V>>, shape_.type);
    const std::int64_t size = detail::size_of(values), nnz = sets > 0 ? size / sets : 0;
    detail::require(sets < 1 || size % sets == 0, SXT_E_DIMENSION, "values has ", size, " numbers, which are no ", sets,
                    " sets of one size");
    check(sxt_cholesky_sets_factor(get(), first, sets, nnz, detail::span_of(values).data(), nnz, &options));
  }

  /// Solves with the factor of each set for as many right-hand sides as b has of each, those of a set one after the
  /// other; on the host or where the context's device reaches them; b may be x. Solutions of sets without a factor are
  /// NaN. [any-thread]
  template <Array B, WritableArray X>
  requires detail::SameValues<B, X>
  void solve(const B &b, X &&x, const CholeskySetsOptions &options = {}) const { solve(0, count_, b, x, options); }
  /// The same for sets first .. first + sets - 1 alone. [any-thread]
  template <Array B, WritableArray X>
  requires detail::SameValues<B, X>
  void solve(std::int64_t first, std::int64_t sets, const B &b, X &&x, const CholeskySetsOptions &options = {}) const {
    detail::require_type("b", value_type_of<detail::value_of<const B>>, shape_.type);
    const std::int64_t size = detail::size_of(b), n = shape_.rows;
    detail::require_size("x", detail::size_of(x), size, "b has as many");
    const std::int64_t n_rhs = sets > 0 && n > 0 ? size / sets / n : 0;
    detail::require(size == n_rhs * sets * n || n == 0, SXT_E_DIMENSION, "b has ", size,
                    " values, which are no columns of ", n, " for each of ", sets, " sets");
    check(sxt_cholesky_sets_solve(get(), first, sets, n, n_rhs, detail::span_of(b).data(), n, n * n_rhs,
                                  detail::span_of(x).data(), n, n * n_rhs, &options));
  }

  /// How each set stands. [any-thread]
  CholeskySetsOutcomes outcomes() const {
    CholeskySetsOutcomes told;
    sxt_cholesky_sets_outcomes to;
    sxt_cholesky_sets_outcomes_init(&to, sizeof to);
    const auto room = [&](auto &of) {
      of.resize(static_cast<std::size_t>(count_));
      return of.data();
    };
    to.status = room(told.status);
    to.failed_row = room(told.failed_row), to.failed_pivot = room(told.failed_pivot);
    to.changed_pivots = room(told.changed_pivots);
    to.log_determinant = room(told.log_determinant), to.sign = room(told.sign);
    to.positive = room(told.positive), to.negative = room(told.negative), to.zero = room(told.zero);
    to.least_pivot = room(told.least_pivot), to.largest_pivot = room(told.largest_pivot);
    check(sxt_cholesky_sets_get_outcomes(get(), 0, count_, &to));
    return told;
  }
  /// Bytes and seconds. [any-thread]
  sxt_cholesky_sets_info info() const {
    sxt_cholesky_sets_info info{};
    info.struct_size = sizeof info;
    check(sxt_cholesky_sets_get_info(get(), &info));
    return info;
  }
  /// Schedulers that were considered, and how the chosen one works. form: SXT_TEXT, SXT_JSON. [any-thread]
  std::string explain(std::int32_t form = SXT_TEXT) const {
    return detail::checked_text([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_cholesky_sets_explain(get(), form, buffer, capacity, length);
    });
  }

 private:
  detail::SystemShape shape_;
  std::int64_t count_;
};

}  // namespace cpp
}  // namespace sextant
#endif
