// SPDX-License-Identifier: BSD-3-Clause
// Arrays as calls take them, with the value or index type read off: contiguous ranges (std::vector, std::array,
// std::span), views of columns, and arrays of other libraries by an adaptor. Nothing here copies a value. Part of
// sextant/sextant.hpp.
#ifndef SEXTANT_CPP_ARRAYS_HPP
#define SEXTANT_CPP_ARRAYS_HPP

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "sextant/cpp/errors.hpp"

namespace sextant {
inline namespace cpp {
namespace detail {

template <class T>
inline constexpr sxt_value_type value_code = 0;
template <>
inline constexpr sxt_value_type value_code<float> = SXT_F32;
template <>
inline constexpr sxt_value_type value_code<double> = SXT_F64;
template <>
inline constexpr sxt_value_type value_code<std::complex<float>> = SXT_C64;
template <>
inline constexpr sxt_value_type value_code<std::complex<double>> = SXT_C128;

}  // namespace detail

/// A value type of the library: float, double, std::complex of them, const or not.
template <class T>
concept Value = detail::value_code<std::remove_cv_t<T>>
!= 0;
/// An index type of the library: a signed integer of 32 or 64 bits, const or not.
template <class I>
concept Index = std::signed_integral<std::remove_cv_t<I>> &&(sizeof(I) == 4 || sizeof(I) == 8);

/// SXT_F32, SXT_F64, SXT_C64 or SXT_C128.
template <Value T>
inline constexpr sxt_value_type value_type_of = detail::value_code<std::remove_cv_t<T>>;
/// SXT_I32 or SXT_I64.
template <Index I>
inline constexpr sxt_index_type index_type_of = sizeof(I) == 4 ? SXT_I32 : SXT_I64;

/// "f64" and the like; "an unknown type" for another number.
inline std::string_view value_type_name(sxt_value_type type) noexcept {
#define SXT_X(name, value, text, bytes) \
  if (type == name) return text;
  SXT_VALUE_TABLE(SXT_X)
#undef SXT_X
  return "an unknown type";
}

template <Value T>
class columns;

/// How an array of another library is seen. Specialise it with a static function span(array) that returns std::span for
/// an array of one dimension, or columns(array) that returns sextant::columns for one of two; sextant/eigen.hpp does.
template <class A>
struct array_adaptor {};

namespace detail {

template <class A>
using adaptor_of = array_adaptor<std::remove_cvref_t<A>>;
template <class A>
concept AdaptedArray = requires(A &array) {
  adaptor_of<A>::span(array);
};
template <class A>
concept AdaptedBlock = requires(A &array) {
  adaptor_of<A>::columns(array);
};
// std::mdspan, and others of its shape.
template <class M>
concept Mdspan = requires(const M &view) {
  typename M::element_type;
  view.data_handle();
  view.extent(0);
  view.stride(0);
  requires M::rank()
  == 2;
};

template <class A>
requires AdaptedArray<A> ||(std::ranges::contiguous_range<A &> &&std::ranges::sized_range<A &>)auto span_of(A &array) {
  if constexpr (AdaptedArray<A>) {
    return adaptor_of<A>::span(array);
  } else {
    return std::span(std::ranges::data(array), std::ranges::size(array));
  }
}

template <class A>
using element_of = typename decltype(span_of(std::declval<A &>()))::element_type;
template <class A>
using value_of = std::remove_cv_t<element_of<A>>;

template <class A>
std::int64_t size_of(A &array) {
  return static_cast<std::int64_t>(span_of(array).size());
}

}  // namespace detail

/// Values in one piece of memory, for reading.
template <class A>
concept Array = requires(A &array) {
  detail::span_of(array);
}
&&Value<detail::element_of<A>>;
/// Values in one piece of memory, for writing.
template <class A>
concept WritableArray = Array<A> && !std::is_const_v<detail::element_of<A>>;
/// Indices in one piece of memory.
template <class A>
concept IndexArray = requires(A &array) {
  detail::span_of(array);
}
&&Index<detail::element_of<A>>;

/// Columns of equal length in memory, one after the other: column j begins at data() + j * leading_dimension(). It
/// looks at memory of the caller's and owns none. Any-thread as a pointer is.
template <Value T>
class columns {
 public:
  using element_type = T;  ///< const for columns that are read.

  /// rows x cols values; leading: the distance of columns in values, 0: rows. SXT_E_DIMENSION where that is less than
  /// rows.
  columns(T *data, std::int64_t rows, std::int64_t cols, std::int64_t leading = 0)
      : data_(data), rows_(rows), cols_(cols), leading_(leading == 0 ? rows : leading) {
    detail::require(rows >= 0 && cols >= 0, SXT_E_DIMENSION, "columns: ", rows, " x ", cols, " is no size");
    detail::require(leading_ >= rows, SXT_E_DIMENSION, "columns: the leading dimension ", leading, " is less than ",
                    rows, " rows");
  }
  /// The same of an array, whose size is checked: SXT_E_DIMENSION.
  template <Array A>
  requires std::convertible_to < detail::element_of<A>(*)
  [], T (*)[] > columns(A &&array, std::int64_t rows, std::int64_t cols, std::int64_t leading = 0)
      : columns(detail::span_of(array).data(), rows, cols, leading) {
    const std::int64_t size = detail::size_of(array);
    detail::require(size >= rows_ && (cols_ < 2 || (size - rows_) / (cols_ - 1) >= leading_), SXT_E_DIMENSION,
                    "columns: ", size, " values hold no ", rows_, " x ", cols_, " with leading dimension ", leading_);
  }
  /// From std::mdspan of two dimensions, or what has its members. Rows must lie next to each other (layout_left, or
  /// layout_stride with stride(0) == 1): SXT_E_ARGUMENT.
  template <detail::Mdspan M>
  requires std::convertible_to<typename M::element_type (*)[], T (*)[]> columns(const M &view)
      : columns(view.data_handle(), static_cast<std::int64_t>(view.extent(0)),
                static_cast<std::int64_t>(view.extent(1)),
                std::max(static_cast<std::int64_t>(view.extent(0)), static_cast<std::int64_t>(view.stride(1)))) {
    detail::require(rows_ < 2 || view.stride(0) == 1, SXT_E_ARGUMENT, "columns: stride(0) of the view is ",
                    view.stride(0), ", but the rows of a column must lie next to each other");
    detail::require(cols_ < 2 || static_cast<std::int64_t>(view.stride(1)) >= rows_, SXT_E_ARGUMENT,
                    "columns: stride(1) of the view is ", view.stride(1), ", less than its ", rows_, " rows");
  }
  /// Columns for reading from columns for writing.
  template <std::same_as<std::remove_const_t<T>> U>
  requires std::is_const_v<T> columns(const columns<U> &other)
      : columns(other.data(), other.rows(), other.cols(), other.leading_dimension()) {}

  /// Where the first column begins.
  T *data() const noexcept { return data_; }
  /// Values of a column.
  std::int64_t rows() const noexcept { return rows_; }
  /// How many columns there are.
  std::int64_t cols() const noexcept { return cols_; }
  /// From the begin of a column to that of the next, in values.
  std::int64_t leading_dimension() const noexcept { return leading_; }
  /// Column j, from 0; not checked.
  std::span<T> operator[](std::int64_t j) const { return {data_ + j * leading_, static_cast<std::size_t>(rows_)}; }

 private:
  T *data_;
  std::int64_t rows_, cols_, leading_;
};

template <Array A>
columns(A &&, std::int64_t, std::int64_t, std::int64_t = 0) -> columns<detail::element_of<A>>;
template <detail::Mdspan M>
columns(const M &) -> columns<typename M::element_type>;

namespace detail {

template <Value T>
columns<T> columns_of(const columns<T> &block) {
  return block;
}
template <Mdspan M>
auto columns_of(const M &view) {
  return columns(view);
}
template <AdaptedBlock A>
auto columns_of(A &&array) {
  return adaptor_of<A>::columns(array);
}
template <class A>
using block_element_of = typename decltype(columns_of(std::declval<A &>()))::element_type;

}  // namespace detail

/// Several columns of values, for reading: sextant::columns, std::mdspan, an adapted array of two dimensions.
template <class A>
concept Block = requires(A &block) {
  detail::columns_of(block);
};
/// The same for writing.
template <class A>
concept WritableBlock = Block<A> && !std::is_const_v<detail::block_element_of<A>>;

namespace detail {

template <class A, class B>
concept SameValues = std::same_as<value_of<A>, value_of<B>>;
template <class A, class B>
concept SameBlocks = std::same_as<std::remove_cv_t<block_element_of<A>>, std::remove_cv_t<block_element_of<B>>>;

// That values of one type are what an object works with.
inline void require_type(const char *name, sxt_value_type given, sxt_value_type wanted) {
  require(given == wanted, SXT_E_TYPE, name, " is of ", value_type_name(given), ", but ", value_type_name(wanted),
          " is expected here");
}
inline void require_size(const char *name, std::int64_t given, std::int64_t wanted, const char *why) {
  require(given == wanted, SXT_E_DIMENSION, name, " has ", given, " values, but ", wanted, " are expected: ", why);
}

// What right-hand sides and solutions of a matrix are like: its rows, and its type.
struct SystemShape {
  std::int64_t rows = 0;
  sxt_value_type type = SXT_F64;

  void require(const char *name, sxt_value_type its_type, std::int64_t size) const {
    require_type(name, its_type, type);
    require_size(name, size, rows, "the matrix has as many rows");
  }
  // Of two `columns`.
  template <class B, class X>
  void require(const B &b, const X &x) const {
    require("a column of b", value_type_of<typename B::element_type>, b.rows());
    require("a column of x", value_type_of<typename X::element_type>, x.rows());
    detail::require(b.cols() == x.cols(), SXT_E_DIMENSION, "b has ", b.cols(), " columns, x ", x.cols());
  }
};

}  // namespace detail
}  // namespace cpp
}  // namespace sextant
#endif
