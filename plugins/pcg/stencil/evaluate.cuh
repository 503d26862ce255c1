// SPDX-License-Identifier: BSD-3-Clause
// What the inner products of an iterate mean: whether it ends the block, and alpha and beta of the next step. One
// thread of the block in which the sums of all others have met.
#pragma once

#include <cfloat>
#include <cstdint>

#include "layout.hpp"
#include "sextant/plugin_pcg_blocks.hpp"

namespace stencil {

namespace pcg = sextant::plugin::pcg;

__device__ inline bool is_finite(double value) { return fabs(value) <= DBL_MAX; }

struct Limits {
  double smallest, largest, epsilon;  // of the vectors' type
};
template <class V>
__device__ Limits limits_of() {
  return sizeof(V) == 8 ? Limits{DBL_MIN, DBL_MAX, DBL_EPSILON} : Limits{FLT_MIN, FLT_MAX, FLT_EPSILON};
}

// Tests of iterate k by its r'r, before anything of the coming step.
__device__ inline std::int32_t judge(const Control &c, std::int64_t k, double squared, const Limits &limits) {
  const auto because = [](pcg::Ended ended) { return static_cast<std::int32_t>(ended); };
  if (!is_finite(squared)) return because(pcg::Ended::not_a_number);
  if (squared <= c.tolerance_squared && (k > c.first || c.test_first)) return because(pcg::Ended::met);
  if (k == c.first && c.replaced_from >= 0 &&
      fabs(sqrt(squared) - c.replaced_from) > pcg::near_enough * c.replaced_from)
    return because(pcg::Ended::far);
  if (k >= c.last) return because(pcg::Ended::at_last);
  return squared < limits.smallest ? because(pcg::Ended::breakdown) : running;
}

// A direction is had back from p and r only where beta has not taken its digits.
constexpr double least_beta = 1.0 / 64;

// alpha and beta of the step from an iterate with these inner products, or why there is none.
__device__ inline std::int32_t next_step(double p_q, double r_q, double q_q, double gamma, const Limits &limits,
                                         Control &c) {
  const auto because = [](pcg::Ended ended) { return static_cast<std::int32_t>(ended); };
  if (!is_finite(p_q)) return because(pcg::Ended::not_a_number);
  if (p_q <= 0) return because(pcg::Ended::a_indefinite);
  const double alpha = gamma / p_q;
  if (p_q < limits.smallest || !(alpha >= limits.smallest && alpha <= limits.largest))
    return because(pcg::Ended::breakdown);
  c.alpha = alpha;
  // ||r - alpha q||^2. Where everything cancels it has no digits; r is then so much shorter that p = r will do.
  const double next = gamma - 2 * alpha * r_q + alpha * alpha * q_q;
  c.beta = next > 256 * limits.epsilon * gamma && next <= DBL_MAX ? next / gamma : 0;
  return running;
}

// The present iterate has these inner products; its vectors are those that were written last.
__device__ inline void evaluate(const double (&v)[4], const Limits &limits, Control &c) {
  const double p_q = v[0], r_q = v[1], q_q = v[2], gamma = v[3];
  const bool stepped = c.begin == begin_step, left_x = stepped && c.leaves_x;
  const std::int64_t k = stepped ? c.k + 1 : c.k;
  c.k = k;
  c.owed_alpha = left_x ? c.alpha : 0;
  c.owed = left_x ? c.alpha / c.beta : 0;
  c.from ^= 1;
  c.begin = begin_step;
  c.ended = judge(c, k, gamma, limits);
  c.pending = next_step(p_q, r_q, q_q, gamma, limits, c);
  c.leaves_x = !left_x && c.beta >= least_beta;
  if (c.ended == running) c.ended = c.pending;
}

}  // namespace stencil
