// SPDX-License-Identifier: BSD-3-Clause
// The residual of one system on one thread, column by column: each entry of the triangle is read once, in order, and
// serves its own row and its mirror image's. The shared step reads row by row, which is right for a group of lanes.
#pragma once

#include <cmath>
#include <cstdint>

#include "plugins/hermitian/shared/steps.hpp"

namespace sextant::hermitian_steps_cpu {

namespace steps = plugin::hermitian_steps;

// Doubles of work memory for order n.
inline std::int64_t residual_work(std::int64_t n) { return 3 * n; }

template <class T>
class ColumnResidual {
 public:
  ColumnResidual(const sxt_hermitian_step_args &args, std::int64_t s, double *work)
      : args_(args),
        s_(s),
        n_(args.orders_device ? args.orders_device[s] : args.n_max),
        a_(steps::part_of_block<T>(args.a, s)),
        b_(steps::part_of_block<T>(args.b, s)),
        c_(steps::part_of_block<T>(args.c, s)),
        re_(work),
        im_(work + n_),
        row_(work + 2 * n_) {}

  // False when sizes of rows are beyond double precision: the shared step then does it.
  bool run() {
    double worst = 0;
    const double shift = args_.numbers_in ? args_.numbers_in[s_] : 0;
    for (std::int64_t r = 0; r < args_.n_rhs; ++r) {
      subtract_products(r, shift, r == 0);
      if (r == 0) norm_ = largest(row_);
      if (!std::isfinite(norm_)) return false;
      const double error = finish(r);  // every residual is computed, independent of the others
      if (!std::isnan(worst)) worst = larger(worst, error);
    }
    args_.numbers[s_] = worst;
    return true;
  }

 private:
  double largest(const double *values) const {
    double most = 0;
    for (std::int64_t i = 0; i < n_; ++i) most = values[i] <= most ? most : values[i];
    return most;
  }
  static double larger(double a, double b) { return b <= a ? a : b; }

  // (re, im) = c - (a + shift I) b for right-hand side r; row sums too when requested.
  void subtract_products(std::int64_t r, double shift, bool rows) {
    for (std::int64_t i = 0; i < n_; ++i) {
      re_[i] = steps::re(c_.at(i, r));
      im_[i] = steps::im(c_.at(i, r));
      if (rows) row_[i] = std::abs(steps::re(a_.at(i, i)) + shift);
    }
    for (std::int64_t j = 0; j < n_; ++j) {
      const double x_re = steps::re(b_.at(j, r)), x_im = steps::im(b_.at(j, r));
      const double diagonal = steps::re(a_.at(j, j)) + shift;
      double sum_re = re_[j] - diagonal * x_re, sum_im = im_[j] - diagonal * x_im, sum_row = 0;
      const bool lower = args_.triangle == SXT_LOWER;
      for (std::int64_t i = lower ? j + 1 : 0; i < (lower ? n_ : j); ++i) {
        const T v = a_.at(i, j), y = b_.at(i, r);
        const double v_re = steps::re(v), v_im = steps::im(v), y_re = steps::re(y), y_im = steps::im(y);
        re_[i] -= v_re * x_re - v_im * x_im;
        im_[i] -= v_re * x_im + v_im * x_re;
        sum_re -= v_re * y_re + v_im * y_im;
        sum_im -= v_re * y_im - v_im * y_re;
        if (!rows) continue;
        const double size = std::sqrt(v_re * v_re + v_im * v_im);
        row_[i] += size;
        sum_row += size;
      }
      re_[j] = sum_re;
      im_[j] = sum_im;
      if (rows) row_[j] += sum_row;
    }
  }

  // Writes the residual and returns the backward error of right-hand side r.
  double finish(std::int64_t r) {
    double x_most = 0, b_most = 0, r_most = 0;
    bool finite = true;
    for (std::int64_t i = 0; i < n_; ++i) {
      finite = finite && std::isfinite(re_[i]) && std::isfinite(im_[i]);
      x_most = larger(x_most, steps::size(b_.at(i, r)));
      b_most = larger(b_most, steps::size(c_.at(i, r)));
      r_most = larger(r_most, std::hypot(re_[i], im_[i]));
      c_.at(i, r) = steps::from<T>(re_[i], im_[i]);
    }
    const double scale = norm_ * x_most + b_most;
    return !finite || !std::isfinite(scale) ? NAN : r_most > 0 ? r_most / scale : 0;
  }

  const sxt_hermitian_step_args &args_;
  std::int64_t s_, n_;
  steps::Part<T> a_, b_, c_;
  double *re_, *im_, *row_;
  double norm_ = 0;
};

}  // namespace sextant::hermitian_steps_cpu
