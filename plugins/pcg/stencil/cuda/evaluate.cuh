// SPDX-License-Identifier: BSD-3-Clause
// From the inner products of an iterate: whether it ends the block, and alpha and beta of the next step. One thread of
// the block that has the sums of all others.
#pragma once

#include <cstdint>

#include "layout.hpp"
#include "plugins/pcg/shared/cuda/tests.hpp"
#include "sextant/sdk/cuda/order.hpp"

namespace stencil {

// A direction is recovered from p and r only where beta has left it enough digits.
constexpr double least_beta = 1.0 / 64;

// alpha and beta of the step from an iterate with these inner products, or why there is none.
__device__ inline pcg::Ended next_step(double p_q, double r_q, double q_q, double gamma, const pcg::Limits &limits,
                                       Control &c) {
  pcg::Ended ended = pcg::usable(p_q, pcg::Ended::a_indefinite, limits);
  if (ended == pcg::Ended::running) ended = pcg::step_length(gamma, p_q, limits, &c.alpha);
  if (ended != pcg::Ended::running) return ended;
  c.beta = sextant::plugin::cuda::order::predicted_square(gamma, c.alpha, r_q, q_q, limits.epsilon) / gamma;
  return ended;
}

// The present iterate has these inner products; its vectors are those that were written last.
__device__ inline void evaluate(const double (&v)[4], const pcg::Limits &limits, Control &c) {
  const double p_q = v[0], r_q = v[1], q_q = v[2], gamma = v[3];
  const bool stepped = c.begin == begin_step, left_x = stepped && c.leaves_x;
  const std::int64_t k = stepped ? c.k + 1 : c.k;
  c.k = k;
  c.deferred_alpha = left_x ? c.alpha : 0;
  c.deferred = left_x ? c.alpha / c.beta : 0;
  c.from ^= 1;
  c.begin = begin_step;
  c.ended = pcg::judge(c, k, gamma, limits);
  c.pending = next_step(p_q, r_q, q_q, gamma, limits, c);
  c.leaves_x = !left_x && c.beta >= least_beta;
  if (c.ended == pcg::Ended::running) c.ended = c.pending;
}

}  // namespace stencil
