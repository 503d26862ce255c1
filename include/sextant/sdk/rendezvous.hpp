// SPDX-License-Identifier: BSD-3-Clause
// The scalar part of a STEP (plugin/kinds/rendezvous.h): what follows from the sums of all members. One piece for the
// host and for devices, so that both decide alike.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/rendezvous.h"

#ifdef __CUDACC__
#define SXT_HOST_DEVICE __host__ __device__
#else
#define SXT_HOST_DEVICE
#endif

namespace sextant::plugin::rendezvous {

// Of a step that ended, as they are here: p = u - p, and the next such step undoes it.
struct Coefficients {
  double alpha = 0, beta = -1;
};

SXT_HOST_DEVICE inline bool is_finite(double value) { return fabs(value) <= DBL_MAX; }

SXT_HOST_DEVICE inline std::int32_t usable(double value, double smallest, std::int32_t not_positive) {
  if (!is_finite(value)) return SXT_RENDEZVOUS_NOT_A_NUMBER;
  if (value <= 0) return not_positive;
  return value >= smallest ? SXT_RENDEZVOUS_RUNNING : SXT_RENDEZVOUS_BREAKDOWN;
}

// delta = (M r)'A M r, gamma = r'M r. p'A p comes from a difference; where most of it cancels the direction is begun
// anew.
SXT_HOST_DEVICE inline std::int32_t coefficients(sxt_rendezvous_control &c, double delta, double gamma, bool single,
                                                 Coefficients &out) {
  const double smallest = single ? static_cast<double>(FLT_MIN) : DBL_MIN;
  const double epsilon = single ? static_cast<double>(FLT_EPSILON) : DBL_EPSILON;
  if (const std::int32_t end = usable(gamma, smallest, SXT_RENDEZVOUS_M_INDEFINITE)) return end;
  if (const std::int32_t end = usable(delta, smallest, SXT_RENDEZVOUS_A_INDEFINITE)) return end;
  double beta = c.restart ? 0 : gamma / c.gamma;
  double p_a_p = c.restart ? delta : delta - beta * gamma / c.alpha;
  if (!(p_a_p > sqrt(epsilon) * delta)) beta = 0, p_a_p = delta;
  const double alpha = gamma / p_a_p;
  if (const std::int32_t end = usable(alpha, smallest, SXT_RENDEZVOUS_BREAKDOWN)) return end;
  c.gamma = gamma;
  c.alpha = alpha;
  out = {alpha, beta};
  return SXT_RENDEZVOUS_RUNNING;
}

// Judges iterate c.k by the sums over all members (delta, r'r, r'M r) and moves on. came: all members' numbers did.
SXT_HOST_DEVICE inline Coefficients step(sxt_rendezvous_control &c, const double (&sums)[SXT_RENDEZVOUS_SUMS],
                                         bool came, bool preconditioned, bool single) {
  Coefficients out;
  const double squared = sums[1];
  if (!came)
    c.ended = SXT_RENDEZVOUS_ALONE;
  else if (!is_finite(squared))
    c.ended = SXT_RENDEZVOUS_NOT_A_NUMBER;
  else if (squared <= c.tolerance_squared)
    c.ended = SXT_RENDEZVOUS_MET;
  else if (c.k >= c.last)
    c.ended = SXT_RENDEZVOUS_LAST;
  else
    c.ended = coefficients(c, sums[0], preconditioned ? sums[2] : squared, single, out);
  if (c.ended == SXT_RENDEZVOUS_RUNNING) ++c.k, c.restart = 0;
  return out;
}

SXT_HOST_DEVICE inline void begin(sxt_rendezvous_control &c, const sxt_rendezvous_args &args) {
  c.tolerance_squared = args.tolerance * args.tolerance;
  c.last = args.last;
  const bool keeps_direction = c.ended == SXT_RENDEZVOUS_RUNNING || c.ended == SXT_RENDEZVOUS_MET;
  c.restart = args.restart || c.restart || !keeps_direction;
  c.ended = SXT_RENDEZVOUS_RUNNING;
}

// A double in two packets of 8 bytes, each half beside the low half of its epoch: 8-byte stores arrive whole over every
// kind of link.
SXT_HOST_DEVICE inline std::uint64_t packet(std::uint64_t bits, int half, std::uint64_t epoch) {
  return (epoch << 32) | ((bits >> (32 * half)) & 0xffffffffu);
}
SXT_HOST_DEVICE inline bool is_of(std::uint64_t packet, std::uint64_t epoch) {
  return static_cast<std::uint32_t>(packet >> 32) == static_cast<std::uint32_t>(epoch);
}
// The place of one in a member's room.
SXT_HOST_DEVICE inline std::int64_t place(std::uint64_t epoch, int members, int from, int sum, int half) {
  return ((static_cast<std::int64_t>(epoch & 1) * members + from) * SXT_RENDEZVOUS_SUMS + sum) * 2 + half;
}

}  // namespace sextant::plugin::rendezvous
