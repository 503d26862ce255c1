// SPDX-License-Identifier: BSD-3-Clause
// Helpers for CPU kernels of kind sxt.hermitian/1: one system of a set as pointers and sizes, checks before anything is
// computed, and the flops and bytes that models count.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>

#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/hermitian_pivots.hpp"
#include "sextant/sdk/hermitian_query.hpp"

namespace sextant::plugin {

// System s of a set. b is NULL when the phase has no right-hand sides.
template <class T>
struct HermitianSystem {
  T *a = nullptr, *b = nullptr;
  std::int64_t n = 0, lda = 0, ldb = 0, n_rhs = 0;
  std::int32_t *pivots = nullptr;
};

template <class T>
HermitianSystem<T> system_of(const sxt_hermitian_args &args, std::int64_t s) {
  HermitianSystem<T> system;
  system.n = args.orders ? args.orders[s] : args.n_max;
  system.lda = args.lda_each ? args.lda_each[s] : args.lda;
  system.a = args.a_array ? static_cast<T *>(args.a_array[s]) : static_cast<T *>(args.a) + s * args.stride_a;
  if (args.pivots) system.pivots = args.pivots + s * args.stride_pivots;
  if (!solves(args.phase)) return system;
  system.ldb = args.ldb_each ? args.ldb_each[s] : args.ldb;
  system.n_rhs = args.n_rhs;
  system.b = args.b_array ? static_cast<T *>(args.b_array[s]) : static_cast<T *>(args.b) + s * args.stride_b;
  return system;
}

// Of the stated triangle; the imaginary part of a diagonal does not count.
template <class T>
bool all_finite(const HermitianSystem<T> &system, sxt_triangle triangle) {
  for (std::int64_t j = 0; j < system.n; ++j) {
    const T *column = system.a + j * system.lda;
    const std::int64_t begin = triangle == SXT_LOWER ? j + 1 : 0, end = triangle == SXT_LOWER ? system.n : j;
    bool finite = std::isfinite(std::real(column[j]));
    for (std::int64_t i = begin; i < end; ++i)  // without a branch, so that it is done by vectors
      finite &= std::isfinite(std::real(column[i])) & std::isfinite(std::imag(column[i]));
    if (!finite) return false;
  }
  return true;
}

// The info of a definite factorisation that gave 0, the 1-based column whose pivot is not positive, or minus that of
// one that is not finite. In a definite matrix |a(i, j)|^2 < a(i, i) a(j, j), and nothing leaves the range on the way:
// a pivot that does, of entries that are finite, is not positive.
inline std::int32_t definite_verdict(std::int32_t pivot, bool finite_entries) {
  return pivot >= 0 ? pivot : finite_entries ? -pivot : SXT_HERMITIAN_NOT_FINITE;
}

// Whether L D L^H in LAPACK's layout can be solved with: its numbers are finite, and so are the inverses of its pivots.
template <class T>
bool is_usable_factor(const HermitianSystem<T> &system, sxt_triangle triangle) {
  if (!all_finite(system, triangle)) return false;
  for (std::int64_t j = 0; j < system.n; ++j)
    if (system.pivots[j] > 0 && !std::isfinite(1 / std::real(system.a[j + j * system.lda]))) return false;
  return true;
}

// Whether T values may lie there. A complex number is aligned as its parts are, which the CPU is content with.
template <class T>
bool may_lie_at(const T *memory) {
  return memory && reinterpret_cast<std::uintptr_t>(memory) % alignof(T) == 0;
}

// 0, or the code why this system must not be touched. An empty system needs no memory.
template <class T>
std::int32_t system_problem(const HermitianSystem<T> &system, std::int32_t phase) {
  if (system.n == 0) return 0;
  const bool rhs = solves(phase) && system.n_rhs > 0;
  if (!may_lie_at(system.a) || (rhs && !may_lie_at(system.b))) return SXT_HERMITIAN_NO_MEMORY_AT;
  if (system.lda < system.n || (rhs && system.ldb < system.n)) return SXT_HERMITIAN_SHORT_LD;
  return 0;
}

// Whether system s is to be worked on; writes the info of one that is not.
template <class T>
bool takes_part(const sxt_hermitian_args &args, std::int64_t s, const HermitianSystem<T> &system) {
  std::int32_t &info = args.info[s];
  const bool active = !args.active || args.active[s];
  if (!factors(args.phase)) {  // a solve skips systems that were not factored
    if (!active || info != 0) return false;
  } else {
    info = active ? 0 : SXT_HERMITIAN_NOT_ACTIVE;
    if (!active) return false;
  }
  info = system_problem(system, args.phase);
  const bool follows = !factors(args.phase) && args.definiteness == SXT_HERMITIAN_INDEFINITE;
  if (info == 0 && follows && first_wrong_pivot(system.pivots, system.n, args.triangle) >= 0)
    info = SXT_HERMITIAN_WRONG_PIVOTS;
  return info == 0;
}

// Busiest thread over mean thread when whole systems are dealt out: with few systems some threads stay idle.
inline double hermitian_imbalance(std::int64_t batch, int threads) {
  const double rounds = static_cast<double>((batch + threads - 1) / threads);
  return batch > 0 ? rounds * threads / static_cast<double>(batch) : 1;
}

// Calls f(item, share) for every item, each by the thread of a team that is free next; at one time a share below `team`
// is one thread's. f must not throw.
template <class F>
void for_each_claimed(std::int64_t items, int team, F &&f) {
  std::atomic<std::int64_t> next{0};
  const int shares = static_cast<int>(std::clamp<std::int64_t>(items, 1, std::max(team, 1)));
  for_each_part(shares, shares, [&](int share) {
    for (std::int64_t item = next++; item < items; item = next++) f(item, share);
  });
}

}  // namespace sextant::plugin
