// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/single_values.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>

#include "core/base/types.hpp"
#include "core/cholesky/parallel.hpp"

namespace sextant::cholesky {

namespace {

// Powers of two between the least and the largest number of S. A residual that is scaled for the largest one keeps its
// digits below that, too.
constexpr int widest_scale = 64;

template <class T>
struct SingleOf;
template <>
struct SingleOf<double> {
  using type = float;
};
template <>
struct SingleOf<c128> {
  using type = c64;
};

// f(Tag of the type of values, offsets, columns) of a matrix in f64 or c128.
template <class F>
auto with_arrays(const CsrArrays &csr, F &&f) {
  return with_index_type(csr.offset_type, [&](auto offset) {
    return with_index_type(csr.index_type, [&](auto index) {
      const auto *ptr = csr.row_ptr.as<typename decltype(offset)::type>();
      const auto *col = csr.col.as<typename decltype(index)::type>();
      return csr.value_type == SXT_F64 ? f(Tag<double>{}, ptr, col) : f(Tag<c128>{}, ptr, col);
    });
  });
}

bool fits(float x) { return std::isfinite(x); }
bool fits(c64 x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

}  // namespace

SingleValues::SingleValues(const CsrArrays &pattern, const Allocator &allocator)
    : values_(static_cast<std::uint64_t>(pattern.nnz * (pattern.value_type == SXT_F64 ? 4 : 8)), allocator),
      diagonal_(static_cast<std::size_t>(pattern.rows), -1),
      scale_(diagonal_.size()),
      exponents_(diagonal_.size()) {
  with_arrays(pattern, [&](auto, const auto *ptr, const auto *col) {
    for (std::int64_t i = 0; i < pattern.rows; ++i) {
      const auto *const end = col + ptr[i + 1];
      const auto *const at = std::lower_bound(col + ptr[i], end, i);
      if (at != end && *at == i) diagonal_[static_cast<std::size_t>(i)] = at - col;
    }
    return true;
  });
}

bool SingleValues::find_scale(const CsrArrays &matrix) {
  int least = std::numeric_limits<int>::max(), largest = std::numeric_limits<int>::min();
  for (std::size_t i = 0; i < diagonal_.size(); ++i) {
    if (diagonal_[i] < 0) return false;
    const double size = matrix.value_type == SXT_F64 ? std::fabs(matrix.values.as<double>()[diagonal_[i]])
                                                     : std::abs(matrix.values.as<c128>()[diagonal_[i]]);
    if (!(size > 0) || !std::isfinite(size)) return false;
    const int exponent = -(std::ilogb(size) >> 1);
    exponents_[i] = static_cast<std::int16_t>(exponent);
    least = std::min(least, exponent), largest = std::max(largest, exponent);
  }
  if (diagonal_.empty()) largest = least = 0;
  least_ = least, largest_ = largest;
  for (std::size_t i = 0; i < scale_.size(); ++i) scale_[i] = std::ldexp(1.0, exponents_[i] - largest);
  return spread() <= widest_scale;
}

bool SingleValues::take(const CsrArrays &matrix, int threads) {
  if (!find_scale(matrix)) return false;
  std::atomic<bool> all_fit{true};
  const double whole = std::ldexp(1.0, largest_);
  with_arrays(matrix, [&](auto tag, const auto *ptr, const auto *col) {
    using T = typename decltype(tag)::type;
    using Single = typename SingleOf<T>::type;
    const T *const from = matrix.values.as<T>();
    Single *const to = values_.as<Single>();
    for_ranges(matrix.rows, threads, [&](std::int64_t begin, std::int64_t end) {
      bool fit = true;
      for (std::int64_t i = begin; i < end; ++i) {
        const double own = whole * scale_[static_cast<std::size_t>(i)];
        for (auto k = ptr[i]; k < ptr[i + 1]; ++k) {
          to[k] = static_cast<Single>(from[k] * own * (whole * scale_[static_cast<std::size_t>(col[k])]));
          fit = fit && fits(to[k]);
        }
      }
      if (!fit) all_fit.store(false, std::memory_order_relaxed);
    });
    return true;
  });
  return all_fit.load(std::memory_order_relaxed);
}

}  // namespace sextant::cholesky
