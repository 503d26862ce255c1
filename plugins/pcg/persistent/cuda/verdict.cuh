// SPDX-License-Identifier: BSD-3-Clause
// From an iteration's sums: alpha and beta, or the reason why the launch ends.
#pragma once

#include <cfloat>

#include "exchange.cuh"
#include "plugins/pcg/shared/cuda/tests.hpp"

namespace persistent {

// measure: r'r of the next iterate must be summed, its prediction cancelled.
template <class V>
struct Verdict {
  V alpha, beta;
  pcg::Ended ended;
  bool measure;
};

// The error of the predicted r'r is a few roundings of r'r; below this part of it, it has no digits left.
template <class V>
constexpr double vanished = 256 * (sizeof(V) == 8 ? DBL_EPSILON : FLT_EPSILON);

// Whether a positive number of V's normal range, by its exponent alone: this is on the critical path of every
// iteration.
template <class V>
__device__ bool is_normal(double value) {
  const auto high = static_cast<std::uint32_t>(__double2hiint(value));
  constexpr std::uint32_t least = sizeof(V) == 8 ? 0x00100000u : 0x38100000u;
  constexpr std::uint32_t beyond = sizeof(V) == 8 ? 0x7ff00000u : 0x47f00000u;
  return high - least < beyond - least;
}

// Whether the coming iteration needs no further test, as in almost all of them.
__device__ inline bool is_plain(const Run &run, std::int64_t k, double p_q, double gamma) {
  return is_divisor(p_q) & is_divisor(gamma) & (gamma > run.tolerance_squared) & (k < run.last) & (k != run.first);
}

// Iterate k where it is not plain: why it is the last of this launch, if it is. Kept apart, so that the code of every
// iteration is contiguous.
template <class V>
__device__ __noinline__ pcg::Ended judge(const Run &run, std::int64_t k, double p_q, double gamma) {
  constexpr pcg::Limits limits = pcg::limits_of<V>();
  const pcg::Ended ended = pcg::judge(run, k, gamma, limits);
  return ended == pcg::Ended::running ? pcg::usable(p_q, pcg::Ended::a_indefinite, limits) : ended;
}
__device__ __noinline__ inline double divide(double a, double b) { return a / b; }

// Iterate k by its sums p'q, r'q, q'q, r'r. speaker: stores r'r.
template <class V>
__device__ Verdict<V> decide(const Run &run, const Work &work, bool speaker, std::int64_t k,
                             const double (&total)[sums]) {
  const double p_q = total[0], r_q = total[1], q_q = total[2], gamma = total[3];
  if (speaker) work.squared_residuals[k - run.first] = gamma;
  double alpha = gamma * reciprocal(p_q), inverse = reciprocal(gamma);  // at the same time
  Verdict<V> out{};
  out.ended = pcg::Ended::running;
  if (!is_plain(run, k, p_q, gamma)) {
    out.ended = judge<V>(run, k, p_q, gamma);
    alpha = divide(gamma, p_q);
    inverse = divide(1, gamma);
  }
  if (out.ended == pcg::Ended::running && !is_normal<V>(alpha)) out.ended = pcg::Ended::breakdown;
  out.alpha = static_cast<V>(alpha);
  // ||r - alpha q||^2 without another exchange.
  const double next = fma(alpha, fma(alpha, q_q, -2 * r_q), gamma);
  out.measure = !(next > vanished<V> * gamma && is_normal<double>(next));
  out.beta = static_cast<V>(next * inverse);
  return out;
}

}  // namespace persistent
