// SPDX-License-Identifier: BSD-3-Clause
// Products, vector operations and reductions. All are [any-thread] in what they read and [exclusive] in what they
// write. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_OPERATIONS_HPP
#define SEXTANT_CPP_OPERATIONS_HPP

#include <cstring>

#include "sextant/cpp/matrix.hpp"
#include "sextant/cpp/vector.hpp"

namespace sextant {
inline namespace cpp {

/// A product y = alpha op(A) x + beta y: spmv(a, x, y, {.alpha = -1, .beta = 1}).
struct Product {
  sxt_op op = SXT_NO_TRANSPOSE;  ///< A, its transpose or its conjugate transpose.
  Scalar alpha = 1.0;            ///< Of A x.
  Scalar beta = 0.0;             ///< Of y, which is not read where this is 0.
};

namespace detail {

// A product's scalars as the C interface takes them: NULL for a beta of 0, so that y is not read.
class Factors {
 public:
  Factors(const Product &product, sxt_value_type type)
      : alpha_(product.alpha.as(type)), beta_(product.beta.as(type)), reads_y_(!product.beta.is_zero()) {}
  const void *alpha() const { return alpha_.bytes; }
  const void *beta() const { return reads_y_ ? beta_.bytes : nullptr; }

 private:
  Scalar::Stored alpha_, beta_;
  bool reads_y_;
};

inline std::int64_t rows_of(const Matrix &a, sxt_op op) { return op == SXT_NO_TRANSPOSE ? a.rows() : a.cols(); }
inline std::int64_t cols_of(const Matrix &a, sxt_op op) { return op == SXT_NO_TRANSPOSE ? a.cols() : a.rows(); }

}  // namespace detail

/// y = alpha op(A) x + beta y.
inline void spmv(const Matrix &a, const Vector &x, Vector &y, const Product &product = {}) {
  const detail::Factors factors(product, a.value_type());
  a.check(sxt_spmv(product.op, factors.alpha(), a.get(), x.get(), factors.beta(), y.get()));
}
/// The same on arrays, on the host or where the context's device reaches them.
template <Array X, WritableArray Y>
requires detail::SameValues<X, Y>
void spmv(const Matrix &a, const X &x, Y &&y, const Product &product = {}) {
  detail::require_type("x", value_type_of<detail::element_of<X>>, a.value_type());
  detail::require_size("x", detail::size_of(x), detail::cols_of(a, product.op), "op(A) has as many columns");
  detail::require_size("y", detail::size_of(y), detail::rows_of(a, product.op), "op(A) has as many rows");
  const detail::Factors factors(product, a.value_type());
  a.check(sxt_spmv_array(product.op, factors.alpha(), a.get(), detail::span_of(x).data(), factors.beta(),
                         detail::span_of(y).data()));
}
/// The same on several columns, up to 32 of them in one pass over A.
template <Block X, WritableBlock Y>
requires detail::SameBlocks<X, Y>
void spmv(const Matrix &a, const X &x_block, Y &&y_block, const Product &product = {}) {
  const auto x = detail::columns_of(x_block);
  const auto y = detail::columns_of(y_block);
  detail::require_type("x", value_type_of<typename decltype(x)::element_type>, a.value_type());
  detail::require_size("a column of x", x.rows(), detail::cols_of(a, product.op), "op(A) has as many columns");
  detail::require_size("a column of y", y.rows(), detail::rows_of(a, product.op), "op(A) has as many rows");
  detail::require(x.cols() == y.cols(), SXT_E_DIMENSION, "x has ", x.cols(), " columns, y ", y.cols());
  const detail::Factors factors(product, a.value_type());
  a.check(sxt_spmv_block(product.op, factors.alpha(), a.get(), x.cols(), x.data(), x.leading_dimension(),
                         factors.beta(), y.data(), y.leading_dimension()));
}

/// y = x
inline void copy(const Vector &x, Vector &y) { y.check(sxt_copy(x.get(), y.get())); }
/// y = alpha
inline void fill(Scalar alpha, Vector &y) { y.check(sxt_fill(alpha.as(y.value_type()).bytes, y.get())); }
/// y = alpha y
inline void scale(Scalar alpha, Vector &y) { y.check(sxt_scale(alpha.as(y.value_type()).bytes, y.get())); }
/// y += alpha x
inline void axpy(Scalar alpha, const Vector &x, Vector &y) {
  y.check(sxt_axpy(alpha.as(y.value_type()).bytes, x.get(), y.get()));
}
/// y = alpha x + beta y
inline void axpby(Scalar alpha, const Vector &x, Scalar beta, Vector &y) {
  const auto a = alpha.as(y.value_type()), b = beta.as(y.value_type());
  y.check(sxt_axpby(a.bytes, x.get(), b.bytes, y.get()));
}
/// w = alpha x + beta y
inline void waxpby(Scalar alpha, const Vector &x, Scalar beta, const Vector &y, Vector &w) {
  const auto a = alpha.as(w.value_type()), b = beta.as(w.value_type());
  w.check(sxt_waxpby(a.bytes, x.get(), b.bytes, y.get(), w.get()));
}
/// w[i] = x[i] y[i]
inline void multiply(const Vector &x, const Vector &y, Vector &w) { w.check(sxt_multiply(x.get(), y.get(), w.get())); }
/// y[i] = x[index[i]] for every i of y; index lies where the context's vectors do.
template <IndexArray I>
void gather(const Vector &x, const I &index, Vector &y) {
  detail::require_size("index", detail::size_of(index), y.size(), "one for each value of y");
  y.check(sxt_gather(x.get(), detail::span_of(index).data(), index_type_of<detail::element_of<I>>, y.get()));
}
/// y[index[i]] = x[i] for every i of x; the indices are distinct.
template <IndexArray I>
void scatter(const Vector &x, const I &index, Vector &y) {
  detail::require_size("index", detail::size_of(index), x.size(), "one for each value of x");
  y.check(sxt_scatter(x.get(), detail::span_of(index).data(), index_type_of<detail::element_of<I>>, y.get()));
}

namespace detail {

// Whether every value of the stored type is one of T.
template <Value T>
constexpr bool holds(sxt_value_type stored) {
  const bool wide = value_type_of<T> == SXT_F64 || value_type_of<T> == SXT_C128;
  const bool complex = value_type_of<T> == SXT_C64 || value_type_of<T> == SXT_C128;
  return (wide || stored == SXT_F32 || stored == SXT_C64) && (complex || stored == SXT_F32 || stored == SXT_F64);
}
template <class S, Value T>
T read_as(const unsigned char *bytes) {
  S stored;
  std::memcpy(&stored, bytes, sizeof stored);
  if constexpr (std::is_convertible_v<S, T> || std::is_constructible_v<T, S>) return T(stored);
  return T();
}
template <Value T>
T read_as(sxt_value_type stored, const unsigned char *bytes) {
  if (stored == SXT_F32) return read_as<float, T>(bytes);
  if (stored == SXT_F64) return read_as<double, T>(bytes);
  if (stored == SXT_C64) return read_as<std::complex<float>, T>(bytes);
  return read_as<std::complex<double>, T>(bytes);
}
inline sxt_value_type real_of(sxt_value_type type) {
  return type == SXT_C64 ? SXT_F32 : type == SXT_C128 ? SXT_F64 : type;
}
// The result of a reduction, which the library writes in the stored type.
template <Value T, class Reduce>
T reduced(const Vector &x, sxt_value_type stored, Reduce reduce) {
  require(holds<T>(stored), SXT_E_TYPE, "the result is of ", value_type_name(stored), ", which ",
          value_type_name(value_type_of<T>), " cannot hold: name the type, as in dot<std::complex<double>>(x, y)");
  Scalar::Stored result{};
  x.check(reduce(result.bytes));
  return read_as<T>(stored, result.bytes);
}

template <class Reduce>
double real_reduced(const Vector &x, Reduce reduce) {
  return reduced<double>(x, real_of(x.value_type()), reduce);
}

}  // namespace detail

/// The sum of x[i]. T holds every value of the vector's type: double for real ones, std::complex<double> for all;
/// another one is SXT_E_TYPE. The same for dot, dotc and multidot.
template <Value T = double>
T sum(const Vector &x) {
  return detail::reduced<T>(x, x.value_type(), [&](void *result) { return sxt_sum(x.get(), result); });
}
/// x . y, unconjugated.
template <Value T = double>
T dot(const Vector &x, const Vector &y) {
  return detail::reduced<T>(x, x.value_type(), [&](void *result) { return sxt_dot(x.get(), y.get(), result); });
}
/// conj(x) . y
template <Value T = double>
T dotc(const Vector &x, const Vector &y) {
  return detail::reduced<T>(x, x.value_type(), [&](void *result) { return sxt_dotc(x.get(), y.get(), result); });
}
/// The 2-norm.
inline double nrm2(const Vector &x) {
  return detail::real_reduced(x, [&](void *result) { return sxt_nrm2(x.get(), result); });
}
/// The sum of |re| + |im|.
inline double asum(const Vector &x) {
  return detail::real_reduced(x, [&](void *result) { return sxt_asum(x.get(), result); });
}
/// The largest |re| + |im|.
inline double amax(const Vector &x) {
  return detail::real_reduced(x, [&](void *result) { return sxt_amax(x.get(), result); });
}
/// Where the first of the largest is, from 0; -1 when x is empty.
inline std::int64_t iamax(const Vector &x) {
  std::int64_t index = -1;
  x.check(sxt_iamax(x.get(), &index));
  return index;
}
/// The least value; real types.
inline double min(const Vector &x) {
  return detail::real_reduced(x, [&](void *result) { return sxt_min(x.get(), result); });
}
/// The largest value; real types.
inline double max(const Vector &x) {
  return detail::real_reduced(x, [&](void *result) { return sxt_max(x.get(), result); });
}
/// conj(x[i]) . y[i] of up to 8 pairs of vectors, in one pass.
template <Value T = double>
std::vector<T> multidot(std::span<const Vector *const> x, std::span<const Vector *const> y) {
  detail::require(x.size() == y.size(), SXT_E_DIMENSION, "multidot: ", x.size(), " vectors x, but ", y.size(), " y");
  detail::require(x.size() <= 8, SXT_E_ARGUMENT, "multidot: ", x.size(), " pairs, but 8 at most");
  std::vector<T> results(x.size());
  if (x.empty()) return results;
  const sxt_vector *xs[8], *ys[8];
  for (std::size_t i = 0; i < x.size(); ++i) xs[i] = x[i]->get(), ys[i] = y[i]->get();
  const sxt_value_type stored = x[0]->value_type();
  alignas(16) unsigned char bytes[8 * sizeof(std::complex<double>)];
  detail::reduced<T>(*x[0], stored,
                     [&](void *) { return sxt_multidot(static_cast<std::int64_t>(x.size()), xs, ys, bytes); });
  const std::size_t step = stored == SXT_F32 ? 4 : stored == SXT_C128 ? 16 : 8;
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = detail::read_as<T>(stored, bytes + i * step);
  return results;
}

}  // namespace cpp
}  // namespace sextant
#endif
