// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/null_space.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/base/aligned.hpp"
#include "core/base/types.hpp"
#include "core/context/context.hpp"

namespace sextant {

namespace {

// Once leaves what rounding makes of the first time.
constexpr int passes = 2;

template <class T>
c128 wide(T value) {
  return {static_cast<double>(std::real(value)), static_cast<double>(std::imag(value))};
}

template <class T>
T narrow(c128 value) {
  if constexpr (is_complex<T>)
    return {static_cast<decltype(T{}.real())>(value.real()), static_cast<decltype(T{}.real())>(value.imag())};
  else
    return static_cast<T>(value.real());
}

template <class T>
double length(const T *v, std::int64_t n) {
  double largest = 0, sum = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(wide(v[i])));
  if (largest == 0) return 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::norm(wide(v[i]) / largest);
  return largest * std::sqrt(sum);
}

// Takes out of v what lies along the unit vector u.
template <class T>
void make_orthogonal(const T *u, T *v, std::int64_t n) {
  c128 along = 0;
  for (std::int64_t i = 0; i < n; ++i) along += std::conj(wide(u[i])) * wide(v[i]);
  for (std::int64_t i = 0; i < n; ++i) v[i] = narrow<T>(wide(v[i]) - along * wide(u[i]));
}

// Modified Gram-Schmidt, twice, in place.
template <class T>
void make_orthonormal(T *vectors, std::int64_t n, std::int64_t count) {
  const double rounding = std::sqrt(static_cast<double>(std::numeric_limits<decltype(std::abs(T{}))>::epsilon()));
  for (std::int64_t j = 0; j < count; ++j) {
    T *const v = vectors + j * n;
    for (std::int64_t i = 0; i < n; ++i)
      require(std::isfinite(std::real(v[i])) && std::isfinite(std::imag(v[i])), SXT_E_NOT_FINITE,
              "options->null_space: value ", i, " of vector ", j, " (counting from 0) is ", v[i]);
    double before = length(v, n);
    for (int pass = 0; pass < passes; ++pass) {
      for (std::int64_t i = 0; i < j; ++i) make_orthogonal(vectors + i * n, v, n);
      const double left = length(v, n);
      require(left > rounding * before, SXT_E_ARGUMENT, "options->null_space: vector ", j, " (counting from 0) is ",
              before == 0 ? "zero" : "a combination of those before it");
      for (std::int64_t i = 0; i < n; ++i) v[i] = narrow<T>(wide(v[i]) / left);
      before = 1;
    }
  }
}

// Rounding of the entries of A and of v leaves this much of what is added up in a row.
template <class T, class I, class O>
void check_products(const CsrArrays &csr, const T *vectors, std::int64_t count) {
  using Real = decltype(std::abs(T{}));
  const double tolerance = std::sqrt(static_cast<double>(std::numeric_limits<Real>::epsilon()));
  const O *ptr = csr.row_ptr.as<O>();
  const I *col = csr.col.as<I>();
  const T *values = csr.values.as<T>();
  for (std::int64_t j = 0; j < count; ++j) {
    const T *const v = vectors + j * csr.rows;
    double most = 0, worst = -1;
    std::int64_t worst_row = 0;
    for (std::int64_t i = 0; i < csr.rows; ++i) {
      c128 sum = 0;
      double size = 0;
      for (O k = ptr[i]; k < ptr[i + 1]; ++k) {
        const c128 term = wide(values[k]) * wide(v[col[k]]);
        sum += term;
        size += std::abs(term);
      }
      most = std::max(most, size);
      if (std::abs(sum) > worst) worst = std::abs(sum), worst_row = i;
    }
    require(worst <= tolerance * most, SXT_E_ARGUMENT, "options->null_space: A times vector ", j,
            " (counting from 0), made a unit vector, is ", worst, " in row ", worst_row, ", not 0");
  }
}

}  // namespace

NullSpace::NullSpace(Matrix &matrix, const void *vectors, std::int64_t count) : type_(matrix.value_type()) {
  require(count >= 0 && count <= most_vectors, SXT_E_ARGUMENT, "options->null_space_size is ", count, ", not 0 to ",
          most_vectors);
  require(count <= 1 || vectors, SXT_E_ARGUMENT, "options->null_space is NULL, which stands for one vector, not for ",
          count);
  require(count > 0 || !vectors, SXT_E_ARGUMENT, "options->null_space is given, but null_space_size is 0");
  require_aligned(vectors, value_alignment(type_), "options->null_space");
  if (count == 0 || matrix.rows() == 0) return;
  n_ = matrix.rows();
  require(count <= n_, SXT_E_ARGUMENT, "options->null_space_size is ", count, ", the matrix has ", n_, " rows");
  Context &context = matrix.context();
  const std::uint64_t bytes = static_cast<std::uint64_t>(count * n_ * value_bytes(type_));
  vectors_ = Buffer(bytes, context.allocator());
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (vectors)
      std::memcpy(vectors_.data(), vectors, bytes);
    else
      std::fill_n(vectors_.as<T>(), n_, T{1});
    make_orthonormal(vectors_.as<T>(), n_, count);
  });
  count_ = count;
  check(matrix.csr());
  if (context.device().on_host()) return;
  reached_ = DeviceBuffer(context.device(), bytes);
  context.device().copy(reached_.data(), vectors_.data(), bytes);
}

void NullSpace::check(const CsrArrays &csr) const {
  with_value_type(type_, [&](auto value) {
    with_index_type(csr.index_type, [&](auto index) {
      with_index_type(csr.offset_type, [&](auto offset) {
        using T = typename decltype(value)::type;
        check_products<T, typename decltype(index)::type, typename decltype(offset)::type>(csr, vectors_.as<T>(),
                                                                                           count_);
      });
    });
  });
}

void NullSpace::remove_from(Operations &operations, void *vector) const {
  with_value_type(type_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *const first = reached_.data() ? reached_.as<T>() : vectors_.as<T>();
    for (int pass = 0; pass < passes; ++pass)
      for (std::int64_t j = 0; j < count_; ++j) {
        T along{};
        operations.reduce(SXT_REDUCTION_DOTC, type_, n_, first + j * n_, vector, &along);
        along = -along;
        operations.vector(
            {.operation = SXT_VECTOR_AXPY, .type = type_, .n = n_, .alpha = &along, .x = first + j * n_, .y = vector});
      }
  });
}

}  // namespace sextant
