// SPDX-License-Identifier: BSD-3-Clause
// What conjugate gradients demand of a matrix, as far as it can be seen without solving.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/types.hpp"
#include "core/matrix/assemble_internal.hpp"
#include "core/matrix/checks.hpp"
#include "core/matrix/symmetric_enough.hpp"

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

// The rows of a matrix with the types of its arrays.
template <class T, class I, class O>
struct Rows {
  explicit Rows(const CsrArrays &csr)
      : ptr(csr.row_ptr.as<O>()), col(csr.col.as<I>()), values(csr.values.as<T>()), rows(csr.rows) {}
  // Where entry (i, j) stands; -1: nowhere. Columns ascend; short rows are walked, which costs less than halving them.
  std::int64_t find(std::int64_t i, std::int64_t j) const {
    const I *at = col + ptr[i], *end = col + ptr[i + 1];
    if (end - at > 32) at = std::lower_bound(at, end, static_cast<I>(j));
    while (at != end && *at < j) ++at;
    return at != end && *at == j ? at - col : -1;
  }
  const O *ptr;
  const I *col;
  const T *values;
  std::int64_t rows;
};

template <class T, class I, class O>
bool equal(const Rows<T, I, O> &a, std::int64_t k, std::int64_t mirror, sxt_symmetry symmetry = SXT_HERMITIAN) {
  const T image = a.values[mirror];
  return a.values[k] == (symmetry == SXT_HERMITIAN ? conjugate(image) : symmetry == SXT_SKEW ? -image : image);
}

// On one thread: rows are visited in order, so each column's mirror images are met in order too and one cursor a row
// finds them all.
template <class T, class I, class O>
bool equal_in_order(const Rows<T, I, O> &a, Buffer &work) {
  O *cursor = work.as<O>();
  std::copy(a.ptr, a.ptr + a.rows + 1, cursor);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (O k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const std::int64_t j = a.col[k];
      O &mirror = cursor[j];
      if (mirror >= a.ptr[j + 1] || a.col[mirror] != i || !equal(a, k, mirror)) return false;
      ++mirror;
    }
  return true;
}

// Rows are shared out to threads, which search. Each entry above the diagonal must have its mirror image; where there
// are as many below it, these are all mirror images. Diagonal entries are their own.
template <class T, class I, class O>
bool equal_by_search(const Rows<T, I, O> &a, int threads, sxt_symmetry symmetry = SXT_HERMITIAN) {
  std::atomic<std::int64_t> surplus{0};  // of entries below the diagonal
  const auto check = [&](std::int64_t begin, std::int64_t end) {
    std::int64_t below = 0;
    for (std::int64_t i = begin; i < end; ++i)
      for (O k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
        const std::int64_t j = a.col[k];
        below += j < i ? 1 : j > i ? -1 : 0;
        if (j < i) continue;
        const std::int64_t mirror = j == i ? static_cast<std::int64_t>(k) : a.find(j, i);
        if (mirror < 0 || !equal(a, k, mirror, symmetry)) return i;
      }
    surplus += below;
    return end;
  };
  const std::int64_t bad = detail::first_match(a.rows, threads, check, a.ptr[a.rows]);
  return bad == a.rows && surplus == 0;
}

// The first entry without an equal mirror image, in words; "": there is none.
template <class T, class I, class O>
std::string blame_image(const Rows<T, I, O> &a, sxt_symmetry symmetry) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (O k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const std::int64_t j = a.col[k], mirror = a.find(j, i);
      if (mirror >= 0 && equal(a, k, mirror, symmetry)) continue;
      return text("the entry at row ", i, " and column ", j, " (counting from 0) is ", all_digits(a.values[k]),
                  ", the one at row ", j, " and column ", i, " is ",
                  mirror < 0 ? "not there" : all_digits(a.values[mirror]));
    }
  return {};
}

// What differences are held against, of each row: the root of the diagonal entry, and the sum of magnitudes.
struct RowSizes {
  double root, sum;
};

// Where mirror images differ: by rounding, or by more. An entry without a mirror image differs from 0.
template <class T, class I, class O>
class Differences {
 public:
  Differences(const Rows<T, I, O> &a, int threads, const SymmetryTolerance &tolerance)
      : a_(a), tolerance_(tolerance), memory_(static_cast<std::uint64_t>(a.rows) * sizeof(RowSizes), Allocator{}) {
    RowSizes *const sizes = memory_.as<RowSizes>();
    detail::parallel_ranges(a.rows, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        sizes[i] = {0, 0};
        for (O k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
          sizes[i].sum += magnitude(a.values[k]);
          if (a.col[k] == i) sizes[i].root = std::sqrt(std::fabs(static_cast<double>(std::real(a.values[k]))));
        }
      }
    });
  }

  // Throws, naming the first entry that differs by more than is allowed.
  void check(int threads) const {
    const auto good = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        for (O k = a_.ptr[i]; k < a_.ptr[i + 1]; ++k)
          if (!allowed(i, k, a_.find(a_.col[k], i))) return i;
      return end;
    };
    const std::int64_t bad = detail::first_match(a_.rows, threads, good, a_.ptr[a_.rows]);
    if (bad < a_.rows) blame(bad);
  }

 private:
  static double magnitude(T value) {
    return std::fabs(static_cast<double>(std::real(value))) + std::fabs(static_cast<double>(std::imag(value)));
  }
  double difference(std::int64_t k, std::int64_t mirror) const {
    return static_cast<double>(std::abs(a_.values[k] - (mirror >= 0 ? conjugate(a_.values[mirror]) : T{})));
  }
  double scale(std::int64_t i, std::int64_t k, std::int64_t mirror) const {
    const RowSizes *const sizes = memory_.as<RowSizes>();
    const double roots = sizes[i].root * sizes[a_.col[k]].root;
    if (mirror < 0) return roots;
    return std::max(
        {roots, static_cast<double>(std::abs(a_.values[k])), static_cast<double>(std::abs(a_.values[mirror]))});
  }
  bool allowed(std::int64_t i, std::int64_t k, std::int64_t mirror) const {
    if (mirror >= 0 && equal(a_, k, mirror)) return true;
    const RowSizes *const sizes = memory_.as<RowSizes>();
    const double apart = difference(k, mirror);
    return std::isfinite(apart) &&
           tolerance_.allows(apart, scale(i, k, mirror), std::min(sizes[i].sum, sizes[a_.col[k]].sum));
  }

  // Nothing compares with a NaN, and nothing is measured by an infinity.
  void blame_not_finite(std::int64_t i, std::int64_t j, std::int64_t k) const {
    require(k < 0 || std::isfinite(magnitude(a_.values[k])), SXT_E_NOT_FINITE, "entry (", i, ", ", j,
            ") of the matrix is ", all_digits(a_.values[k < 0 ? 0 : k]), " (counting from 0)");
  }

  [[noreturn]] void blame(std::int64_t i) const {
    for (O k = a_.ptr[i]; k < a_.ptr[i + 1]; ++k) {
      blame_not_finite(i, a_.col[k], k);
      blame_not_finite(a_.col[k], i, a_.find(a_.col[k], i));
      blame_not_finite(a_.col[k], a_.col[k], a_.find(a_.col[k], a_.col[k]));  // by which they are measured
    }
    const char *kind = is_complex<T> ? "Hermitian" : "symmetric";
    for (O k = a_.ptr[i]; k < a_.ptr[i + 1]; ++k) {
      const std::int64_t j = a_.col[k], mirror = a_.find(j, i);
      if (allowed(i, k, mirror)) continue;
      const std::string value = all_digits(a_.values[k]);
      require(mirror >= 0, SXT_E_NOT_SYMMETRIC, "the matrix is not ", kind, ": entry (", i, ", ", j, ") is there but (",
              j, ", ", i, ") is not (counting from 0); it is ", value);
      require(i != j, SXT_E_NOT_SYMMETRIC, "the matrix is not ", kind, ": entry (", i, ", ", j, ") is ", value,
              ", which is no real number (counting from 0)");
      fail(SXT_E_NOT_SYMMETRIC, "the matrix is not ", kind, ": entry (", i, ", ", j, ") is ", value, " but (", j, ", ",
           i, ") is ", all_digits(a_.values[mirror]), " (counting from 0); they differ by ", difference(k, mirror),
           ", and symmetry_tolerance allows ", tolerance_.relative() * scale(i, k, mirror));
    }
    fail(SXT_E_INTERNAL, "an entry without its mirror image was not found again");
  }

  const Rows<T, I, O> &a_;
  const SymmetryTolerance &tolerance_;
  Buffer memory_;
};

// Rather than a search, which costs about three times as much and goes on many threads.
bool walks(const CsrArrays &csr, int threads) {
  constexpr int worth_searching = 4;
  return detail::useful_threads(threads, csr.nnz) < worth_searching;
}

template <class T, class I, class O>
bool check_mirror_images(const CsrArrays &csr, int threads, Buffer &work, const SymmetryTolerance &tolerance) {
  const Rows<T, I, O> a(csr);
  reserve_for_check(csr, threads, work);
  if (walks(csr, threads) ? equal_in_order(a, work) : equal_by_search(a, threads)) return true;
  Differences<T, I, O>(a, threads, tolerance).check(threads);
  return false;
}

// Keeps the value that is better, as `better` says.
template <class Better>
void keep(std::atomic<double> &best, double value, Better &&better) {
  double known = best;
  while (better(value, known) && !best.compare_exchange_weak(known, value)) continue;
}

// Whether the imaginary part of entry k, on the diagonal of row i, is rounding.
template <class T, class I, class O>
bool nearly_real(const Rows<T, I, O> &a, std::int64_t i, std::int64_t k, const SymmetryTolerance &tolerance) {
  double sum = 0;
  for (O at = a.ptr[i]; at < a.ptr[i + 1]; ++at) sum += static_cast<double>(std::abs(a.values[at]));
  const double apart = 2 * std::fabs(static_cast<double>(std::imag(a.values[k])));
  return tolerance.allows(apart, static_cast<double>(std::abs(a.values[k])), sum);
}

template <class T, class I, class O>
[[noreturn]] void blame_diagonal(const Rows<T, I, O> &a, std::int64_t i) {
  const std::int64_t at = a.find(i, i);
  require(at >= 0, SXT_E_DIAGONAL, "row ", i, " (counting from 0) has no diagonal entry");
  const std::string value = all_digits(a.values[at]);
  require(!(std::real(a.values[at]) > 0), SXT_E_DIAGONAL, "the diagonal entry of row ", i, " (counting from 0) is ",
          value, "; a Hermitian matrix has real ones");
  fail(SXT_E_DIAGONAL, "the diagonal entry of row ", i, " (counting from 0) is ", value,
       "; a positive definite matrix has positive ones");
}

template <class T, class I, class O>
DiagonalRange check_positive_diagonal(const CsrArrays &csr, int threads, const SymmetryTolerance &tolerance) {
  const Rows<T, I, O> a(csr);
  if (a.rows == 0) return {};
  std::atomic<double> least{HUGE_VAL}, greatest{0};
  std::atomic<bool> real{true};
  const auto check = [&](std::int64_t begin, std::int64_t end) {
    double low = HUGE_VAL, high = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t at = a.find(i, i);
      const double value = at >= 0 ? static_cast<double>(std::real(a.values[at])) : 0;
      if (!(value > 0)) return i;
      if (std::imag(a.values[at]) != 0) {
        if (!nearly_real(a, i, at, tolerance)) return i;
        real = false;
      }
      low = std::min(low, value);
      high = std::max(high, value);
    }
    keep(least, low, std::less<>());
    keep(greatest, high, std::greater<>());
    return end;
  };
  const std::int64_t bad = detail::first_match(a.rows, threads, check);
  if (bad < a.rows) blame_diagonal(a, bad);
  return {least, greatest, real};
}

}  // namespace

void reserve_for_check(const CsrArrays &csr, int threads, Buffer &work) {
  const auto each = static_cast<std::uint64_t>(csr.offset_type == SXT_I64 ? 8 : 4);
  const std::uint64_t bytes = walks(csr, threads) ? static_cast<std::uint64_t>(csr.rows + 1) * each : 0;
  if (work.bytes() < bytes) work = Buffer(bytes, Allocator{});
}

std::string unequal_image(const CsrArrays &csr, sxt_symmetry symmetry, int threads) {
  return with_types(csr, [&](auto value, auto index, auto offset) -> std::string {
    const Rows<typename decltype(value)::type, typename decltype(index)::type, typename decltype(offset)::type> a(csr);
    return equal_by_search(a, threads, symmetry) ? std::string() : blame_image(a, symmetry);
  });
}

bool check_hermitian(const CsrArrays &csr, int threads, Buffer &work, const SymmetryTolerance &tolerance) {
  return with_types(csr, [&](auto value, auto index, auto offset) {
    return check_mirror_images<typename decltype(value)::type, typename decltype(index)::type,
                               typename decltype(offset)::type>(csr, threads, work, tolerance);
  });
}

DiagonalRange check_diagonal(const CsrArrays &csr, int threads, const SymmetryTolerance &tolerance) {
  return with_types(csr, [&](auto value, auto index, auto offset) {
    return check_positive_diagonal<typename decltype(value)::type, typename decltype(index)::type,
                                   typename decltype(offset)::type>(csr, threads, tolerance);
  });
}

}  // namespace sextant
