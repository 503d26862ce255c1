// SPDX-License-Identifier: BSD-3-Clause
// Sets of small dense Hermitian systems. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_HERMITIAN_HPP
#define SEXTANT_CPP_HERMITIAN_HPP

#include <limits>
#include <vector>

#include "sextant/cpp/arrays.hpp"
#include "sextant/cpp/context.hpp"

namespace sextant {
inline namespace cpp {

/// What the sets of a solver are, and how they are solved: the members of sxt_hermitian_options, set to their defaults.
struct HermitianOptions : sxt_hermitian_options {
  HermitianOptions() { sxt_hermitian_options_init(this, sizeof(sxt_hermitian_options)); }
  /// The order of each system; empty: all have order n.
  std::span<const std::int32_t> orders;
  /// A + shifts[0] I is factored; a system that fails is tried again with each further one. Empty: A itself.
  std::span<const double> shifts;
};

/// One set: the arrays of a sxt_hermitian_set, whose comments say what each is. What is left empty is not given. Spans
/// may be of memory that only the device reaches. Lengths are checked by the call, except with leading dimensions of
/// their own.
template <Value T>
struct HermitianSet {
  // Each member has an initialiser, so that leaving it out brings no warning of a compiler.
  std::span<T> a{};                          ///< The matrices.
  std::int64_t lda = 0;                      ///< Of a and factor, in values; 0: n.
  std::int64_t stride_a = 0;                 ///< From one system to the next, in values; 0: lda n.
  std::span<T> b{};                          ///< Right-hand sides, and solutions unless x is given.
  std::int64_t ldb = 0;                      ///< Of b and x, in values; 0: n.
  std::int64_t stride_b = 0;                 ///< From one system to the next, in values; 0: ldb n_rhs.
  std::span<std::int32_t> info{};            ///< Required: how each system ended; 0 done.
  std::span<T> factor{};                     ///< Where factors go; empty: a.
  std::span<T> x{};                          ///< Where solutions go; empty: b.
  std::span<T *const> a_array{};             ///< With options.pointer_array, in place of a.
  std::span<T *const> factor_array{};        ///< Alike.
  std::span<T *const> b_array{};             ///< Alike.
  std::span<T *const> x_array{};             ///< Alike.
  std::span<const std::int64_t> lda_each{};  ///< With options.leading_vary.
  std::span<const std::int64_t> ldb_each{};  ///< With options.leading_vary.
  std::int64_t n_rhs = 0;                    ///< Of this call; 0: as described.
  std::span<const std::uint8_t> active{};    ///< Systems with 0 are left alone.
  std::span<std::uint8_t> active_out{};      ///< 1 where info is 0.
  std::span<std::int32_t> pivots{};          ///< Required unless sets are definite.
  std::int64_t stride_pivots = 0;            ///< 0: n.
  std::span<double> scale{};                 ///< n a system: what equilibrate chose.
  std::span<double> residual{};              ///< The backward error of each system.
  std::span<double> rcond{};                 ///< The reciprocal condition number of each.
  std::span<double> shift{};                 ///< The shift in force for each.
  std::span<std::int32_t> inertia{};         ///< Three numbers for each.
  void *stream = nullptr;                    ///< Of the device; NULL: the context's.
  std::span<std::uint8_t> shortcut{};        ///< 1 where a shortcut solved the system.
};

/// Factors and solves sets of dense Hermitian systems, column-major. How a system ended is in its info.
class Hermitian : public detail::Object<sxt_hermitian, sxt_hermitian_destroy> {
 public:
  /// Checks the description and chooses kernels, as sxt_hermitian_create. [any-thread]
  Hermitian(const Context &context, const HermitianOptions &options) : Object(log_of(context)), options_(options) {
    if (!options.orders.empty()) {
      detail::require_size("orders", detail::size_of(options.orders), options.batch, "one for each system");
      options_.orders = options.orders.data();
    }
    if (!options.shifts.empty()) {
      options_.shifts = options.shifts.data();
      options_.n_shifts = detail::size_of(options.shifts);
    }
    make([&](sxt_hermitian **made) { return sxt_hermitian_create(context.get(), &options_, made); });
  }

  /// Factors a set. [any-thread]
  template <Value T>
  void factor(const HermitianSet<T> &set) const {
    const sxt_hermitian_set c = checked(set);
    check(sxt_hermitian_factor(get(), &c));
  }
  /// Solves with factors that stand in set.factor, else in set.a. [any-thread]
  template <Value T>
  void solve(const HermitianSet<T> &set) const {
    const sxt_hermitian_set c = checked(set);
    check(sxt_hermitian_solve(get(), &c));
  }
  /// Factors and solves. [any-thread]
  template <Value T>
  void factor_solve(const HermitianSet<T> &set) const {
    const sxt_hermitian_set c = checked(set);
    check(sxt_hermitian_factor_solve(get(), &c));
  }
  /// Factors and solves systems that lie one after the other in memory of the host, definite ones, and returns the info
  /// of each. [any-thread]
  template <WritableArray A, WritableArray B>
  requires detail::SameValues<A, B> std::vector<std::int32_t> factor_solve(A &&a, B &&b)
  const {
    std::vector<std::int32_t> info(static_cast<std::size_t>(std::max<std::int64_t>(0, options_.batch)));
    HermitianSet<detail::element_of<A>> set;
    set.a = detail::span_of(a);
    set.b = detail::span_of(b);
    set.info = info;
    factor_solve(set);
    return info;
  }

  /// What was chosen and predicted, and what calls asked for so far. [any-thread]
  sxt_hermitian_report report() const {
    sxt_hermitian_report report{};
    report.struct_size = sizeof report;
    check(sxt_hermitian_get_report(get(), &report));
    return report;
  }
  /// The kernels considered for each phase. form: SXT_TEXT, SXT_JSON. [any-thread]
  std::string explain(std::int32_t form = SXT_TEXT) const {
    return detail::checked_text([&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_hermitian_explain(get(), form, buffer, capacity, length);
    });
  }

 private:
  template <class T>
  void require_length(const char *name, std::span<T> given, std::int64_t each) const {
    const std::int64_t wanted = product(each, options_.batch);
    detail::require(given.empty() || detail::size_of(given) >= wanted, SXT_E_DIMENSION, name, " has ", given.size(),
                    " values, but ", options_.batch, " systems need ", wanted);
  }
  // Columns of every system, ld and stride as the library takes them where they are 0.
  template <class T>
  void require_block(const char *name, std::span<T> given, std::int64_t ld, std::int64_t stride,
                     std::int64_t cols) const {
    if (given.empty() || options_.batch < 1 || cols < 1 || options_.leading_vary) return;
    const std::int64_t leading = ld == 0 ? options_.n : ld;
    const std::int64_t step = stride == 0 ? product(leading, cols) : stride;
    const std::int64_t wanted = sum(product(step, options_.batch - 1), sum(product(leading, cols - 1), options_.n));
    detail::require(detail::size_of(given) >= wanted, SXT_E_DIMENSION, name, " has ", given.size(), " values, but ",
                    options_.batch, " systems need ", wanted);
  }
  // What no 64-bit number counts is more than any array has.
  static std::int64_t product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
  }
  static std::int64_t sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
  }

  template <Value T>
  void check_lengths(const HermitianSet<T> &set) const {
    const std::int64_t n_rhs = set.n_rhs == 0 ? options_.n_rhs : set.n_rhs;
    const std::int64_t pivots = set.stride_pivots == 0 ? options_.n : set.stride_pivots;
    require_block("a", set.a, set.lda, set.stride_a, options_.n);
    require_block("factor", set.factor, set.lda, set.stride_a, options_.n);
    require_block("b", set.b, set.ldb, set.stride_b, n_rhs);
    require_block("x", set.x, set.ldb, set.stride_b, n_rhs);
    require_length("a_array", set.a_array, 1);
    require_length("factor_array", set.factor_array, 1);
    require_length("b_array", set.b_array, 1);
    require_length("x_array", set.x_array, 1);
    require_length("lda_each", set.lda_each, 1);
    require_length("ldb_each", set.ldb_each, 1);
    require_length("info", set.info, 1);
    require_length("active", set.active, 1);
    require_length("active_out", set.active_out, 1);
    require_length("shortcut", set.shortcut, 1);
    require_length("pivots", set.pivots, pivots);
    require_length("scale", set.scale, options_.n);
    require_length("residual", set.residual, 1);
    require_length("rcond", set.rcond, 1);
    require_length("shift", set.shift, 1);
    require_length("inertia", set.inertia, 3);
  }
  template <class T>
  static void *const *pointers(std::span<T *const> array) {
    return reinterpret_cast<void *const *>(array.data());
  }
  template <Value T>
  sxt_hermitian_set checked(const HermitianSet<T> &set) const {
    detail::require_type("the set", value_type_of<T>, options_.value_type);
    check_lengths(set);
    sxt_hermitian_set c;
    sxt_hermitian_set_init(&c, sizeof c);
    c.a = set.a.data(), c.lda = set.lda, c.stride_a = set.stride_a;
    c.b = set.b.data(), c.ldb = set.ldb, c.stride_b = set.stride_b;
    c.factor = set.factor.data(), c.x = set.x.data();
    c.a_array = pointers(set.a_array), c.factor_array = pointers(set.factor_array);
    c.b_array = pointers(set.b_array), c.x_array = pointers(set.x_array);
    c.lda_each = set.lda_each.data(), c.ldb_each = set.ldb_each.data();
    c.n_rhs = set.n_rhs;
    c.active = set.active.data(), c.active_out = set.active_out.data(), c.shortcut = set.shortcut.data();
    c.info = set.info.data(), c.inertia = set.inertia.data();
    c.pivots = set.pivots.data(), c.stride_pivots = set.stride_pivots;
    c.scale = set.scale.data(), c.residual = set.residual.data();
    c.rcond = set.rcond.data(), c.shift = set.shift.data();
    c.stream = set.stream;
    return c;
  }

  sxt_hermitian_options options_;  // its pointers are not used beyond the constructor
};

}  // namespace cpp
}  // namespace sextant
#endif
