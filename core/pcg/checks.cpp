// SPDX-License-Identifier: BSD-3-Clause
// What conjugate gradients demand of a matrix, as far as it can be seen without solving.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "core/base/types.hpp"
#include "core/matrix/assemble_internal.hpp"
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

// Entry k, of row i, and its mirror image, which the search found at `mirror`. Notes where they are not quite equal.
template <class T, class I, class O>
bool mirrored(const Rows<T, I, O> &a, std::int64_t k, std::int64_t mirror, bool &exact) {
  using Real = decltype(std::abs(T{}));
  const Real tolerance = static_cast<Real>(mirror_ulps) * std::numeric_limits<Real>::epsilon();
  const T other = conjugate(a.values[mirror]);
  if (a.values[k] == other) return true;
  exact = false;
  return std::abs(a.values[k] - other) <= tolerance * std::max(std::abs(a.values[k]), std::abs(other));
}

// Says which entry of row i has no mirror image, or another value there.
template <class T, class I, class O>
void blame(const Rows<T, I, O> &a, std::int64_t i) {
  bool exact = true;
  for (O k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
    const std::int64_t j = a.col[k], mirror = a.find(j, i);
    require(mirror >= 0, SXT_E_NOT_SYMMETRIC, "the matrix is not symmetric: entry (", i, ", ", j, ") is there but (", j,
            ", ", i, ") is not (counting from 0)");
    const bool equal = mirrored(a, k, mirror, exact);
    const char *kind = is_complex<T> ? "Hermitian" : "symmetric";
    require(equal || i != j, SXT_E_NOT_SYMMETRIC, "the matrix is not ", kind, ": entry (", i, ", ", j, ") is ",
            a.values[k], ", which is no real number (counting from 0)");
    require(equal, SXT_E_NOT_SYMMETRIC, "the matrix is not ", kind, ": entry (", i, ", ", j, ") is ", a.values[k],
            " but (", j, ", ", i, ") is ", a.values[mirror], " (counting from 0)");
  }
}

// On one thread: rows are visited in order, so each column's mirror images are met in order too and one cursor a row
// finds them all.
template <class T, class I, class O>
bool mirrored_in_order(const Rows<T, I, O> &a, Buffer &work, bool &exact) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(a.rows + 1) * sizeof(O);
  if (work.bytes() < bytes) work = Buffer(bytes, Allocator{});
  O *cursor = work.as<O>();
  std::copy(a.ptr, a.ptr + a.rows + 1, cursor);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (O k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const std::int64_t j = a.col[k];
      O &mirror = cursor[j];
      if (mirror >= a.ptr[j + 1] || a.col[mirror] != i || !mirrored(a, k, mirror, exact)) return false;
      ++mirror;
    }
  return true;
}

// Rows are shared out to threads, which search. Each entry above the diagonal must have its mirror image; where there
// are as many below it, these are all mirror images. Diagonal entries are their own.
template <class T, class I, class O>
bool mirrored_by_search(const Rows<T, I, O> &a, int threads, bool &exact) {
  std::atomic<std::int64_t> surplus{0};  // of entries below the diagonal
  std::atomic<bool> all_exact{true};
  const auto check = [&](std::int64_t begin, std::int64_t end) {
    std::int64_t below = 0;
    bool part_exact = true;
    for (std::int64_t i = begin; i < end; ++i)
      for (O k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
        const std::int64_t j = a.col[k];
        below += j < i ? 1 : j > i ? -1 : 0;
        if (j < i) continue;
        const std::int64_t mirror = j == i ? static_cast<std::int64_t>(k) : a.find(j, i);
        if (mirror < 0 || !mirrored(a, k, mirror, part_exact)) return i;
      }
    surplus += below;
    if (!part_exact) all_exact = false;
    return end;
  };
  const std::int64_t bad = detail::first_match(a.rows, threads, check, a.ptr[a.rows]);
  exact = all_exact;
  return bad == a.rows && surplus == 0;
}

template <class T, class I, class O>
bool check_mirror_images(const CsrArrays &csr, int threads, Buffer &work) {
  constexpr int worth_searching = 4;  // threads: a search costs about three times the walk
  const Rows<T, I, O> a(csr);
  bool exact = true;
  const bool walks = detail::useful_threads(threads, csr.nnz) < worth_searching;
  if (walks ? mirrored_in_order(a, work, exact) : mirrored_by_search(a, threads, exact)) return exact;
  for (std::int64_t i = 0; i < a.rows; ++i) blame(a, i);
  return false;
}

// Keeps the value that is better, as `better` says.
template <class Better>
void keep(std::atomic<double> &best, double value, Better &&better) {
  double known = best;
  while (better(value, known) && !best.compare_exchange_weak(known, value)) continue;
}

// The greatest entry over the least.
template <class T, class I, class O>
double check_positive_diagonal(const CsrArrays &csr, int threads) {
  const Rows<T, I, O> a(csr);
  if (a.rows == 0) return 1;
  std::atomic<double> least{HUGE_VAL}, greatest{0};
  const auto check = [&](std::int64_t begin, std::int64_t end) {
    double low = HUGE_VAL, high = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t at = a.find(i, i);
      const double value = at >= 0 && std::imag(a.values[at]) == 0 ? static_cast<double>(std::real(a.values[at])) : 0;
      if (!(value > 0)) return i;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    keep(least, low, std::less<>());
    keep(greatest, high, std::greater<>());
    return end;
  };
  const std::int64_t bad = detail::first_match(a.rows, threads, check);
  if (bad == a.rows) return greatest / least;
  const std::int64_t at = a.find(bad, bad);
  require(at >= 0, SXT_E_DIAGONAL, "row ", bad, " (counting from 0) has no diagonal entry");
  fail(SXT_E_DIAGONAL, "the diagonal entry of row ", bad, " (counting from 0) is ", a.values[at],
       "; a positive definite matrix has positive ones");
}

}  // namespace

bool check_hermitian(const CsrArrays &csr, int threads, Buffer &work) {
  return with_types(csr, [&](auto value, auto index, auto offset) {
    return check_mirror_images<typename decltype(value)::type, typename decltype(index)::type,
                               typename decltype(offset)::type>(csr, threads, work);
  });
}

double check_diagonal(const CsrArrays &csr, int threads) {
  return with_types(csr, [&](auto value, auto index, auto offset) {
    return check_positive_diagonal<typename decltype(value)::type, typename decltype(index)::type,
                                   typename decltype(offset)::type>(csr, threads);
  });
}

}  // namespace sextant
