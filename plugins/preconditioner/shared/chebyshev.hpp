// SPDX-License-Identifier: BSD-3-Clause
// The device-independent part of Chebyshev polynomials as preconditioners: degree, interval, the coefficients of the
// recurrence, and the extreme eigenvalues of a Lanczos probe's small matrix.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/preconditioner/shared/preconditioner.hpp"

namespace sextant::plugin::precondition {

// The degree of the residual polynomial 1 - x p(x). Odd ones only: then p is positive on all of (0, infinity), so M is
// positive definite even where the probe missed the largest eigenvalue.
inline constexpr Method chebyshev{"chebyshev", "degree", 3, 15, true, 0.24};
inline constexpr int chebyshev_degrees[] = {3, 5, 7, 9};
inline constexpr int lanczos_steps = 12;

inline sxt_status check_degree(const sxt_preconditioner_query &query, sxt_message *reason) {
  const double degree = number_or(query, chebyshev, 3);
  if (static_cast<int>(degree) % 2 == 1) return SXT_OK;
  return refuse(reason,
                "\"%.24s\": the degree is even; only odd ones give a positive definite polynomial for every spectrum",
                query.method);
}

// The degree with the least time to a solution: an iteration costs `other` seconds and `product` for A and for each of
// the degree - 1 steps of the polynomial; iterations fall as degree^-0.89, the median
// over the matrices of docs/measurements/preconditioners.md.
inline int choose_degree(double product, double other) {
  const auto total = [&](int degree) { return (other + degree * product) / std::pow(degree, 0.89); };
  return *std::min_element(std::begin(chebyshev_degrees), std::end(chebyshev_degrees),
                           [&](int a, int b) { return total(a) < total(b); });
}

// ---- the spectrum of D^-1 A ----------------------------------------------------------------------------------------

// A Lanczos probe: the tridiagonal matrix with diagonal alpha and off-diagonal beta; beta[steps - 1] is the remainder.
struct Lanczos {
  std::array<double, lanczos_steps> alpha{}, beta{};
  int steps = 0;

  // Eigenvalues below x: the negative pivots of T - x I (Sturm).
  int below(double x) const {
    int count = 0;
    double pivot = 1;
    for (int i = 0; i < steps; ++i) {
      const double off = i ? beta[i - 1] * beta[i - 1] / pivot : 0;
      pivot = alpha[i] - x - off;
      if (pivot == 0) pivot = -1e-300;
      count += pivot < 0;
    }
    return count;
  }
  // The k-th smallest eigenvalue, by bisection in the Gershgorin interval.
  double eigenvalue(int k) const {
    double low = alpha[0], high = alpha[0];
    for (int i = 0; i < steps; ++i) {
      const double radius = (i ? beta[i - 1] : 0) + (i + 1 < steps ? beta[i] : 0);
      low = std::min(low, alpha[i] - radius);
      high = std::max(high, alpha[i] + radius);
    }
    for (int i = 0; i < 60; ++i) (below((low + high) / 2) > k ? high : low) = (low + high) / 2;
    return (low + high) / 2;
  }
};

struct Interval {
  double low, high;
};

// The interval on which the polynomial is small. high: no eigenvalue is above the largest row sum of |D^-1 A|, and the
// probe's largest value plus its remainder mostly suffices. low: below it the polynomial only has to be positive; a
// small part of the spectrum there costs fewer iterations than a polynomial stretched to the smallest eigenvalue.
inline Interval chebyshev_interval(const Lanczos &probe, double row_sum, int degree) {
  const double largest = probe.eigenvalue(probe.steps - 1), smallest = probe.eigenvalue(0);
  const double high = std::min(row_sum, largest + probe.beta[probe.steps - 1] * 0.5);
  const double low = std::max(smallest, high / (1.5 * degree * degree));
  return {std::min(low, 0.9 * high), high};
}

// ---- the recurrence (Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1) -----------------------------

// d = first D^-1 r; then, degree - 1 times: r -= A d, d = keep d + take D^-1 r; z is the sum of all d.
class ChebyshevSteps {
 public:
  explicit ChebyshevSteps(const Interval &interval)
      : theta_((interval.high + interval.low) / 2), delta_((interval.high - interval.low) / 2), rho_(delta_ / theta_) {}
  double first() const { return 1 / theta_; }
  struct Step {
    double keep, take;
  };
  Step next() {
    const double rho = 1 / (2 * theta_ / delta_ - rho_);
    const Step step{rho * rho_, 2 * rho / delta_};
    rho_ = rho;
    return step;
  }

 private:
  double theta_, delta_, rho_;
};

}  // namespace sextant::plugin::precondition
