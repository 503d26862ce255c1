// SPDX-License-Identifier: BSD-3-Clause
// What conjugate gradients demand of a matrix, as far as it can be seen without solving.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/types.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

template <class T>
T conjugate(T value) {
  if constexpr (is_complex<T>)
    return std::conj(value);
  else
    return value;
}

template <class F>
decltype(auto) with_types(const CsrArrays &csr, F &&f) {
  return with_value_type(csr.value_type, [&](auto value) {
    return with_index_type(csr.index_type, [&](auto index) {
      return with_index_type(csr.offset_type, [&](auto offset) { return f(value, index, offset); });
    });
  });
}

// Mirror images that differ by less than so many units of rounding count as equal: files print 6 to 17 digits, and
// assembly sums in different orders.
constexpr double mirror_ulps = 64;

template <class T, class I, class O>
void check_mirror_images(const CsrArrays &csr) {
  const O *ptr = csr.row_ptr.as<O>();
  const I *col = csr.col.as<I>();
  const T *values = csr.values.as<T>();
  using Real = decltype(std::abs(T{}));
  const Real tolerance = static_cast<Real>(mirror_ulps) * std::numeric_limits<Real>::epsilon();
  // Rows are visited in order, so each column's mirror entries are met in order too: one cursor a row suffices.
  Buffer cursor_memory(csr.row_ptr.bytes(), Allocator{});
  O *cursor = cursor_memory.as<O>();
  std::copy(ptr, ptr + csr.rows + 1, cursor);
  for (std::int64_t i = 0; i < csr.rows; ++i) {
    for (O k = ptr[i]; k < ptr[i + 1]; ++k) {
      const std::int64_t j = col[k];
      O &mirror = cursor[j];
      const bool there = mirror < ptr[j + 1] && col[mirror] == i;
      require(there, SXT_E_NOT_SYMMETRIC, "the matrix is not symmetric: entry (", i, ", ", j, ") is there but (", j,
              ", ", i, ") is not (counting from 0)");
      const T other = conjugate(values[mirror++]);
      const Real scale = std::max(std::abs(values[k]), std::abs(other));
      require(std::abs(values[k] - other) <= tolerance * scale, SXT_E_NOT_SYMMETRIC, "the matrix is not ",
              is_complex<T> ? "Hermitian" : "symmetric", ": entry (", i, ", ", j, ") is ", values[k], " but (", j, ", ",
              i, ") is ", conjugate(other), " (counting from 0)");
    }
  }
}

template <class T, class I, class O>
bool check_positive_diagonal(const CsrArrays &csr) {
  const O *ptr = csr.row_ptr.as<O>();
  const I *col = csr.col.as<I>();
  const T *values = csr.values.as<T>();
  bool constant = true;
  double first = 0;
  for (std::int64_t i = 0; i < csr.rows; ++i) {
    const I *at = std::lower_bound(col + ptr[i], col + ptr[i + 1], static_cast<I>(i));
    require(at != col + ptr[i + 1] && *at == i, SXT_E_DIAGONAL, "row ", i, " (counting from 0) has no diagonal entry");
    const T value = values[at - col];
    require(std::real(value) > 0 && std::imag(value) == 0, SXT_E_DIAGONAL, "the diagonal entry of row ", i,
            " (counting from 0) is ", value, "; a positive definite matrix has positive ones");
    if (i == 0) first = std::real(value);
    constant = constant && std::real(value) == first;
  }
  return constant;
}

}  // namespace

void check_hermitian(const CsrArrays &csr) {
  with_types(csr, [&](auto value, auto index, auto offset) {
    check_mirror_images<typename decltype(value)::type, typename decltype(index)::type,
                        typename decltype(offset)::type>(csr);
  });
}

bool check_diagonal(const CsrArrays &csr) {
  return with_types(csr, [&](auto value, auto index, auto offset) {
    return check_positive_diagonal<typename decltype(value)::type, typename decltype(index)::type,
                                   typename decltype(offset)::type>(csr);
  });
}

}  // namespace sextant
