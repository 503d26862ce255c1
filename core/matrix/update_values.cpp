// SPDX-License-Identifier: BSD-3-Clause
// New values for an assembled matrix. Where duplicates were summed, each thread owns a range of canonical places and
// walks all input entries in order, so the sums have the same bits as in assemble() on any number of threads.
#include <cmath>
#include <cstdint>

#include "core/matrix/assemble_internal.hpp"

namespace sextant {

namespace {

using detail::first_match;
using detail::mirror_value;
using detail::parallel_ranges;

template <class V>
void check_finite_input(const V *values, std::int64_t n, int threads) {
  const std::int64_t bad = first_match(n, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      if (!detail::is_finite(values[k])) return k;
    return end;
  });
  require(bad == n, SXT_E_NOT_FINITE, "new value ", bad, " (counting from 0) of ", n, " is NaN or infinite");
}

// Diagonal entries are those without a mirror image.
template <class V, class M>
void check_new_diagonal(const ValueOrder &order, const V *values, int threads) {
  const M *mirror = order.mirror.as<M>();
  const bool skew = order.symmetry == SXT_SKEW;
  const auto good = [&](V value) {
    if (skew) return value == V(0);
    if constexpr (is_complex<V>) return order.symmetry != SXT_HERMITIAN || value.imag() == 0;
    return true;
  };
  const std::int64_t bad = first_match(order.input_nnz, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      if (mirror[k] < 0 && !good(values[k])) return k;
    return end;
  });
  require(bad == order.input_nnz, SXT_E_ARGUMENT, "new value ", bad,
          " (counting from 0) is on the diagonal and must be ",
          skew ? "zero in a skew-symmetric matrix" : "real in a Hermitian matrix");
}

// Every place has one source: entries can be taken in any order.
template <class V, class M>
void place_values(const ValueOrder &order, const V *values, V *to, int threads) {
  const M *slot = order.slot.as<M>(), *mirror = order.mirror.as<M>();
  parallel_ranges(order.input_nnz, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      to[slot[k]] = values[k];
      if (mirror && mirror[k] >= 0) to[mirror[k]] = mirror_value(values[k], order.symmetry);
    }
  });
}

template <class V>
constexpr V additive_identity() {
  // -0 + x == x for every x, -0 included; +0 + -0 would lose the sign.
  if constexpr (is_complex<V>)
    return V(-0.0f, -0.0f);
  else
    return V(-0.0f);
}

template <class V, class M>
void sum_values(const ValueOrder &order, const V *values, V *to, std::int64_t nnz, int threads) {
  const M *slot = order.slot.as<M>(), *mirror = order.mirror.as<M>();
  parallel_ranges(nnz, std::min(threads, 8), [&](std::int64_t begin, std::int64_t end) {
    std::fill(to + begin, to + end, additive_identity<V>());
    for (std::int64_t k = 0; k < order.input_nnz; ++k) {
      if (slot[k] >= begin && slot[k] < end) to[slot[k]] += values[k];
      if (mirror && mirror[k] >= begin && mirror[k] < end) to[mirror[k]] += mirror_value(values[k], order.symmetry);
    }
  });
}

template <class V>
void check_sums(const V *values, std::int64_t nnz, int threads) {
  const std::int64_t bad = first_match(nnz, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k)
      if (!detail::is_finite(values[k])) return k;
    return end;
  });
  require(bad == nnz, SXT_E_NOT_FINITE, "the sum of duplicate new values at canonical place ", bad,
          " (counting from 0) overflows; update the values again before using the matrix");
}

template <class V, class M>
void update_mapped(CsrArrays &csr, const ValueOrder &order, const V *values, bool check_finite, int threads) {
  if (!order.mirror.empty()) check_new_diagonal<V, M>(order, values, threads);
  V *to = csr.values.as<V>();
  if (!order.summed) return place_values<V, M>(order, values, to, threads);
  sum_values<V, M>(order, values, to, csr.nnz, threads);
  if (check_finite) check_sums(to, csr.nnz, threads);
}

template <class V>
void update(CsrArrays &csr, const ValueOrder &order, const V *values, bool check_finite, int threads) {
  const bool mapped = order.kept && !order.identity;
  const std::int64_t n = mapped ? order.input_nnz : csr.nnz;
  if (check_finite) check_finite_input(values, n, threads);
  if (mapped && order.map_type == SXT_I32)
    return update_mapped<V, std::int32_t>(csr, order, values, check_finite, threads);
  if (mapped) return update_mapped<V, std::int64_t>(csr, order, values, check_finite, threads);
  V *to = csr.values.as<V>();
  parallel_ranges(n, threads,
                  [&](std::int64_t begin, std::int64_t end) { std::copy(values + begin, values + end, to + begin); });
}

}  // namespace

void update_values(CsrArrays &csr, const ValueOrder &order, const void *values, bool check_finite, int threads) {
  if (csr.nnz == 0 && order.input_nnz == 0) return;
  require(values != nullptr, SXT_E_ARGUMENT, "the array of new values is NULL");
  with_value_type(csr.value_type, [&](auto tag) {
    update(csr, order, static_cast<const typename decltype(tag)::type *>(values), check_finite, threads);
  });
}

}  // namespace sextant
