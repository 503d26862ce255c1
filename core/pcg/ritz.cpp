// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/ritz.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sextant {

namespace {

// A least Ritz value that fell by less than this factor over the last quarter of the steps counts as settled.
constexpr double settled_within = 1.05;
// A residual that falls by less than this factor over the second half of the steps says nothing about the rest.
constexpr double least_bound_fall = 1.01;
// One that falls by this factor over that half does.
constexpr double fall_that_tells = 1.5;
// A residual that has not begun to fall then is one of a harder problem than was assumed: so many times the iterations.
constexpr double harder = 4;

}  // namespace

void Ritz::add(double alpha, double beta, double residual) {
  diagonal_.push_back(1 / alpha + (last_alpha_ > 0 ? last_beta_ / last_alpha_ : 0));
  off_.push_back(std::sqrt(beta) / alpha);
  residuals_.push_back(residual);
  last_alpha_ = alpha;
  last_beta_ = beta;
}

// Eigenvalues of the leading matrix of this order that are less than bound (Sturm's sequence).
std::int64_t Ritz::below(double bound, std::int64_t order) const {
  std::int64_t count = 0;
  double pivot = 1;
  for (std::int64_t i = 0; i < order; ++i) {
    pivot = diagonal_[i] - bound - (i > 0 ? off_[i - 1] * off_[i - 1] / pivot : 0);
    if (pivot == 0) pivot = -std::numeric_limits<double>::min();
    count += pivot < 0;
  }
  return count;
}

// Bisection. The matrix is positive definite, so all lie between 0 and a bound of its rows.
double Ritz::value(std::int64_t which, std::int64_t order) const {
  if (order < 1) return 0;
  double high = 0;
  for (std::int64_t i = 0; i < order; ++i)
    high = std::max(high, diagonal_[i] + (i > 0 ? off_[i - 1] : 0) + (i + 1 < order ? off_[i] : 0));
  high *= 1.0001;
  double low = high * 1e-20;
  if (below(low, order) > which) return low;
  // Halving the exponent: ten digits of the least one, too.
  while (high > low * (1 + 1e-10)) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    if (middle <= low || middle >= high) break;
    (below(middle, order) > which ? high : low) = middle;
  }
  return high;
}

bool Ritz::settled() const {
  const std::int64_t before = steps() * 3 / 4;
  return before >= 4 && value(0, before) <= settled_within * least();
}

double Ritz::least_residual() const { return *std::min_element(residuals_.begin(), residuals_.end()); }

std::int64_t Ritz::reached(double residual) const {
  const auto at = std::find_if(residuals_.begin(), residuals_.end(), [&](double each) { return each <= residual; });
  return at - residuals_.begin();
}

bool Ritz::tells(double rtol) const {
  if (residual() <= rtol) return true;
  if (steps() < 8) return false;
  // Single residuals of conjugate gradients jump: means of an eighth of them.
  const std::size_t count = residuals_.size(), part = std::max<std::size_t>(2, count / 8);
  const auto mean = [&](std::size_t from) {
    double sum = 0;
    for (std::size_t i = from; i < from + part; ++i) sum += std::log(residuals_[i]);
    return sum / static_cast<double>(part);
  };
  const double now = mean(count - part), half = mean((count - part) / 2);
  return now <= std::log(0.5) && half - now >= std::log(fall_that_tells);
}

double Ritz::iterations(double rtol, double otherwise) const {
  const auto at = std::find_if(residuals_.begin(), residuals_.end(), [&](double each) { return each <= rtol; });
  if (at != residuals_.end()) return static_cast<double>(at - residuals_.begin());
  if (steps() < 2) return otherwise;
  // |x - x_k| falls by (sqrt(c) - 1) / (sqrt(c) + 1) an iteration, in A's norm.
  const double by_condition = 0.5 * std::sqrt(greatest() / least()) * std::log(2 / rtol);
  const std::int64_t half = steps() / 2;
  const double fall = residuals_[half] / residual(), count = static_cast<double>(steps());
  if (!(fall >= least_bound_fall)) return std::max(harder * otherwise, by_condition);
  const double rate = std::log(fall) / (count - static_cast<double>(half));
  const double by_rate = count + std::log(residual() / rtol) / rate;
  return settled() ? std::min(by_rate, std::max(count, by_condition)) : by_rate;
}

}  // namespace sextant
