// SPDX-License-Identifier: BSD-3-Clause
// The steps of kind sxt.hermitian_step/1 on one system, by a group of lanes that share the loops: one lane on the CPU,
// a thread block on a GPU. A group offers lane(), lanes(), barrier(), and sum(), most(): results that all lanes get.
// Compiles as C++ and as CUDA.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "plugins/hermitian/shared/numbers.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/hermitian_step.h"

namespace sextant::plugin::hermitian_steps {

inline SXT_LANES bool is_narrow(std::int32_t step) {
  return step >= SXT_HERMITIAN_NARROW && step <= SXT_HERMITIAN_WIDEN_RHS;
}

// Block s of an array of matrices or right-hand sides.
template <class T>
struct Part {
  T *data;
  std::int64_t ld;
  SXT_LANES T &at(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }
};
template <class T>
SXT_LANES Part<T> part_of_block(const sxt_hermitian_block &block, std::int64_t s) {
  T *data = static_cast<T *>(block.array ? block.array[s] : block.data);
  if (data && !block.array) data += s * block.stride;
  return {data, block.ld_each ? block.ld_each[s] : block.ld};
}
SXT_LANES inline bool is_there(const sxt_hermitian_block &block) { return block.data || block.array; }

// 0, or the code of an error in the memory of a required block.
template <class T>
SXT_LANES std::int32_t memory_problem(const sxt_hermitian_block &block, std::int64_t s, std::int64_t n) {
  if (!is_there(block) || n == 0) return 0;
  const Part<T> part = part_of_block<T>(block, s);
#ifdef __CUDA_ARCH__
  constexpr std::uintptr_t alignment = sizeof(T);
#else
  constexpr std::uintptr_t alignment = alignof(T);
#endif
  if (!part.data || reinterpret_cast<std::uintptr_t>(part.data) % alignment) return SXT_HERMITIAN_NO_MEMORY_AT;
  return part.ld < n ? SXT_HERMITIAN_SHORT_LD : 0;
}

// The data of one system for a step.
template <class T, class Group>
struct Step {
  const sxt_hermitian_step_args &args;
  std::int64_t s, n;
  Part<T> a, b, c;
  Group &group;

  SXT_LANES bool lower() const { return args.triangle == SXT_LOWER; }
  // Calls f(i, j) for the triangle, a column's rows shared among the lanes.
  template <class F>
  SXT_LANES void triangle(F &&f) const {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t begin = lower() ? j : 0, end = lower() ? n : j + 1;
      for (std::int64_t i = begin + group.lane(); i < end; i += group.lanes()) f(i, j);
    }
  }
  template <class F>
  SXT_LANES void rows(F &&f) const {
    for (std::int64_t i = group.lane(); i < n; i += group.lanes()) f(i);
  }
  // Entry (i, j) of the whole matrix a.
  SXT_LANES T entry(std::int64_t i, std::int64_t j) const {
    const bool held = lower() ? i >= j : i <= j;
    const T v = held ? a.at(i, j) : a.at(j, i);
    return from<T>(re(v), i == j ? 0 : held ? im(v) : -im(v));
  }
};

template <class T, class Group>
SXT_LANES void shift(const Step<T, Group> &step) {
  double by = step.args.value;
  if (step.args.variant == 1) {
    double trace = 0;
    step.rows([&](std::int64_t i) { trace += re(step.a.at(i, i)); });
    trace = step.group.sum(trace);
    double mean = step.n ? trace / static_cast<double>(step.n) : 0;
    if (!is_finite(mean)) {  // the sum left the range, which the mean does not
      mean = 0;
      step.rows([&](std::int64_t i) { mean += re(step.a.at(i, i)) / static_cast<double>(step.n); });
      mean = step.group.sum(mean);
    }
    by *= mean;
  }
  step.rows([&](std::int64_t i) { step.a.at(i, i) = from<T>(re(step.a.at(i, i)) + by, 0); });
  if (step.group.lane() == 0) step.args.numbers[step.s] = by;
}

// v times two powers of two, whose product may leave the range where the result does not.
template <class T>
SXT_LANES T between(T v, double left, double right) {
  const double by = left * right;
  return is_finite(by) ? from<T>(re(v) * by, im(v) * by) : from<T>(re(v) * left * right, im(v) * left * right);
}

// Where an entry beside small diagonal ones would leave the range, rows are scaled down alone.
template <class T, class Group>
SXT_LANES void equilibrate(const Step<T, Group> &step) {
  double *scale = step.args.scale + step.s * step.args.stride_scale;
  step.rows([&](std::int64_t i) {
    const double diagonal = fabs(re(step.a.at(i, i)));
    const bool usable = diagonal > 0 && diagonal <= 1.7976931348623157e308;
    scale[i] = usable ? exp2(rint(-0.5 * log2(diagonal))) : 1;
  });
  step.group.barrier();
  bool beyond = false;
  step.triangle([&](std::int64_t i, std::int64_t j) {
    const T v = step.a.at(i, j);
    beyond = beyond || (is_finite(v) && !is_finite(between(v, scale[i], scale[j])));
  });
  if (step.group.most(beyond ? 1.0 : 0.0) > 0) {
    step.rows([&](std::int64_t i) { scale[i] = fmin(scale[i], 1.0); });
    step.group.barrier();
  }
  step.triangle([&](std::int64_t i, std::int64_t j) {
    T &v = step.a.at(i, j);
    v = between(v, scale[i], scale[j]);
  });
}

// The largest row sum of |a + by I|, for entries of any size.
template <class T, class Group>
SXT_LANES double row_norm(const Step<T, Group> &step, double by) {
  double most = 0;
  step.rows([&](std::int64_t i) {
    double row = 0;
    for (std::int64_t j = 0; j < step.n; ++j) {
      const T v = step.entry(i, j);
      row += i == j ? fabs(re(v) + by) : size(v);
    }
    most = fmax(most, row);
  });
  return step.group.most(most);
}

template <class T, class Group>
SXT_LANES void norm(const Step<T, Group> &step) {
  const double most = row_norm(step, 0);
  if (step.group.lane() == 0) step.args.numbers[step.s] = most;
}

// Pivot k is what a_kk has more than the row's squares, with their signs: a row that is long beside it has cancelled.
template <class T, class Group>
SXT_LANES void cancelled(const Step<T, Group> &step) {
  double most = 1;
  step.rows([&](std::int64_t k) {
    double row = 0;
    for (std::int64_t j = 0; j <= k; ++j) {
      const T v = step.entry(k, j);
      row += re(v) * re(v) + im(v) * im(v);
    }
    const double diagonal = re(step.entry(k, k));
    most = fmax(most, row / (diagonal * diagonal));
  });
  most = step.group.most(most);
  if (step.group.lane() == 0) step.args.numbers[step.s] = most;
}

// |v| in single precision, which is enough for sums of many; infinite where its square is too large. Without branches,
// so that it does not delay a GPU's loads around it.
template <class T>
SXT_LANES double rough_size(double re, double im) {
  if constexpr (!is_complex<T>) return fabs(re);
  const auto square = static_cast<float>(re * re + im * im);
#ifdef __CUDA_ARCH__
  const float root = square * rsqrtf(square);
#else
  const float root = sqrtf(square);
#endif
  return square == 0 ? 0 : square <= 3.4e38f ? root : INFINITY;
}

// Row i of (a + by I) b, and the sum of the row's sizes where requested.
struct RowSum {
  double re = 0, im = 0, size = 0;
};
template <bool sizes, class T, class Group>
SXT_LANES RowSum product_of_row(const Step<T, Group> &step, std::int64_t i, std::int64_t r, double by) {
  RowSum row;
  for (std::int64_t j = 0; j < step.n; ++j) {
    const T v = step.entry(i, j), x = step.b.at(j, r);
    const double v_re = re(v) + (i == j ? by : 0), v_im = im(v);
    row.re += v_re * re(x) - v_im * im(x);
    row.im += v_re * im(x) + v_im * re(x);
    if constexpr (sizes) row.size += rough_size<T>(v_re, v_im);
  }
  return row;
}

// The components of the backward error of one right-hand side.
struct ResidualError {
  double x_most = 0, b_most = 0, r_most = 0;
  bool finite = true;

  // Row i, whose product is known, which leaves its residual in c.
  template <class T, class Group>
  SXT_LANES void take(const Step<T, Group> &step, std::int64_t i, std::int64_t r, const RowSum &row) {
    const T before = step.c.at(i, r);
    const double sum_re = re(before) - row.re, sum_im = im(before) - row.im;
    x_most = fmax(x_most, size(step.b.at(i, r)));
    b_most = fmax(b_most, size(before));
    r_most = fmax(r_most, hypot(sum_re, sum_im));
    finite = finite && sum_re - sum_re == 0 && sum_im - sum_im == 0;
    step.c.at(i, r) = from<T>(sum_re, sum_im);
  }
  template <class Group>
  SXT_LANES double worse_than(double worst, double norm, const Group &group) const {
    const double scale = norm * group.most(x_most) + group.most(b_most), most = group.most(r_most);
    if (group.most(finite ? 0.0 : 1.0) > 0 || !(scale <= 1.7976931348623157e308)) return NAN;
    return worst == worst && most > 0 && !(most <= worst * scale) ? most / scale : worst;  // NaN stays
  }
};

// The norm of a + by I by the largest row sums of sizes that lanes found, or anew where squares may have left single
// precision's range.
template <class T, class Group>
SXT_LANES double norm_of_rows(const Step<T, Group> &step, double by, double most) {
  const double norm = step.group.most(most);
  return norm >= 1e-10 && norm <= 1e18 ? norm : row_norm(step, by);
}

// c -= (a + shift I) b row by row, in double precision; the backward error of the worst right-hand side.
template <class T, class Group>
SXT_LANES void residual(const Step<T, Group> &step) {
  const double by = step.args.numbers_in ? step.args.numbers_in[step.s] : 0;
  double worst = 0, norm = 0;
  for (std::int64_t r = 0; r < step.args.n_rhs; ++r) {
    ResidualError error;
    step.rows([&](std::int64_t i) {
      const RowSum row = r == 0 ? product_of_row<true>(step, i, r, by) : product_of_row<false>(step, i, r, by);
      norm = fmax(norm, row.size);
      error.take(step, i, r, row);
    });
    if (r == 0) norm = norm_of_rows(step, by, norm);
    worst = error.worse_than(worst, norm, step.group);
  }
  if (step.group.lane() == 0) step.args.numbers[step.s] = worst;
}

// The place of the largest entry of the vector, the first of equals.
template <class T, class Group>
SXT_LANES std::int64_t largest_row(const Step<T, Group> &step) {
  double most = 0;
  step.rows([&](std::int64_t i) { most = fmax(most, size(step.b.at(i, 0))); });
  most = step.group.most(most);
  double first = static_cast<double>(step.n);  // the least place is the most of the places from the end
  step.rows([&](std::int64_t i) {
    if (size(step.b.at(i, 0)) >= most) first = fmin(first, static_cast<double>(i));
  });
  return step.n - static_cast<std::int64_t>(step.group.most(static_cast<double>(step.n) - first));
}

// Hager's estimate as Higham states it (ACM TOMS 14, 1988), with two gradient steps and Higham's alternating vector; A
// is Hermitian, so that one inverse serves both directions.
template <class T, class Group>
SXT_LANES void estimate(const Step<T, Group> &step) {
  const double n = static_cast<double>(step.n);
  double &held = step.args.numbers[step.s];
  const int stage = step.args.variant;
  double total = 0;
  if (stage != SXT_HERMITIAN_ESTIMATE_BEGIN) {  // before it nothing has been written to the vector
    step.rows([&](std::int64_t i) { total += size(step.b.at(i, 0)); });
    total = step.group.sum(total);
  }
  const bool signs = stage == SXT_HERMITIAN_ESTIMATE_SIGNS || stage == SXT_HERMITIAN_ESTIMATE_SIGNS_AGAIN;
  const bool unit = stage == SXT_HERMITIAN_ESTIMATE_UNIT || stage == SXT_HERMITIAN_ESTIMATE_UNIT_AGAIN;
  const bool alternates = stage == SXT_HERMITIAN_ESTIMATE_ALTERNATE;
  std::int64_t place = 0;
  if (unit) place = largest_row(step);
  step.group.barrier();
  if (step.group.lane() == 0) {
    if (stage == SXT_HERMITIAN_ESTIMATE_BEGIN) held = 0;
    if (signs || alternates) held = fmax(held, total);
    if (stage == SXT_HERMITIAN_ESTIMATE_END) held = fmax(held, 2 * total / (3 * n));
    if (total - total != 0) held = INFINITY;
  }
  step.rows([&](std::int64_t i) {
    T &v = step.b.at(i, 0);
    const double odd = i % 2 ? -1 : 1;
    if (stage == SXT_HERMITIAN_ESTIMATE_BEGIN) v = from<T>(1 / n, 0);
    if (signs) {
      const double length = size(v);
      v = length > 0 ? from<T>(re(v) / length, im(v) / length) : from<T>(1, 0);
    }
    if (unit) v = from<T>(i == place ? 1 : 0, 0);
    if (alternates) v = from<T>(odd * (1 + (step.n > 1 ? static_cast<double>(i) / (n - 1) : 0)), 0);
  });
}

// Signs of D: of 1 x 1 blocks, and of the two eigenvalues of 2 x 2 blocks, which are indefinite after Bunch and
// Kaufman; a block is checked all the same.
template <class T, class Group>
SXT_LANES void inertia(const Step<T, Group> &step) {
  if (step.group.lane() != 0) return;
  std::int32_t positive = 0, negative = 0, zero = 0;
  const std::int32_t *pivots = step.args.pivots ? step.args.pivots + step.s * step.args.stride_pivots : nullptr;
  const auto add = [&](double value) {
    positive += value > 0, negative += value < 0, zero += !(value > 0 || value < 0);
  };
  for (std::int64_t k = 0; k < step.n; ++k) {
    const double first = re(step.a.at(k, k));
    if (!pivots || pivots[k] >= 0 || k + 1 == step.n) {
      add(first);
      continue;
    }
    const double second = re(step.a.at(k + 1, k + 1));
    const double beside = size(step.lower() ? step.a.at(k + 1, k) : step.a.at(k, k + 1));
    const double middle = 0.5 * (first + second), radius = hypot(0.5 * (first - second), beside);
    add(middle + radius);
    add(middle - radius);
    ++k;
  }
  std::int32_t *const out = step.args.inertia + 3 * step.s;
  out[0] = positive, out[1] = negative, out[2] = zero;
}

SXT_LANES inline bool selects(const sxt_hermitian_step_args &args, std::int64_t s) {
  const std::int32_t info = args.info[s];
  switch (args.variant) {
    case SXT_HERMITIAN_DONE: return info == 0;
    case SXT_HERMITIAN_FAILED: return info > 0;
    case SXT_HERMITIAN_CHOLESKY: return info == 0 && args.pivots[s * args.stride_pivots] == 0;
    case SXT_HERMITIAN_PIVOTED: return info == 0 && args.pivots[s * args.stride_pivots] != 0;
    case SXT_HERMITIAN_LEFT: return info != 0;
    case SXT_HERMITIAN_OTHERS: return args.mask[s] == 0;
    default: return info == 0 && !(args.numbers[s] <= args.value);
  }
}

// CHECK and SELECT: they write a result for every system, active or not. One lane.
template <class T>
SXT_LANES void choose(const sxt_hermitian_step_args &args, std::int64_t s, std::int64_t n) {
  const bool active = !args.active || args.active[s];
  if (args.step == SXT_HERMITIAN_SELECT) {
    args.mask[s] = active && selects(args, s);
    return;
  }
  const bool solving = args.value != 0;
  if (!active || (solving && args.info[s] != 0)) {
    if (!solving) args.info[s] = SXT_HERMITIAN_NOT_ACTIVE;
    args.mask[s] = 0;
    return;
  }
  std::int32_t problem = memory_problem<T>(args.a, s, n);
  if (!problem) problem = memory_problem<T>(args.b, s, n);
  if (!problem) problem = memory_problem<T>(args.c, s, n);
  args.info[s] = problem;
  args.mask[s] = problem == 0;
}

// Steps between a set and its copy in half the precision, which is in c.
template <class T, class Group>
SXT_LANES void change_precision(const Step<T, Group> &step, const Part<half_of<T>> &narrow) {
  using Half = half_of<T>;
  if (step.args.step == SXT_HERMITIAN_NARROW)
    return step.triangle([&](std::int64_t i, std::int64_t j) {
      narrow.at(i, j) = from<Half>(re(step.a.at(i, j)), im(step.a.at(i, j)));
    });
  const bool adds = step.args.variant != 1;
  for (std::int64_t r = 0; r < step.args.n_rhs; ++r)
    step.rows([&](std::int64_t i) {
      T &wide = step.b.at(i, r);
      Half &half = narrow.at(i, r);
      if (step.args.step == SXT_HERMITIAN_NARROW_RHS)
        half = from<Half>(re(wide), im(wide));
      else
        wide = from<T>((adds ? re(wide) : 0) + re(half), (adds ? im(wide) : 0) + im(half));
    });
}

// Whether a step that changes no precision skips system s.
template <class T>
SXT_LANES bool passes_over(const sxt_hermitian_step_args &args, std::int64_t s, std::int64_t n) {
  return (args.active && !args.active[s]) || memory_problem<T>(args.a, s, n) || memory_problem<T>(args.b, s, n) ||
         memory_problem<T>(args.c, s, n);
}
template <class T, class Group>
SXT_LANES Step<T, Group> step_of(const sxt_hermitian_step_args &args, std::int64_t s, std::int64_t n, Group &group) {
  return {args, s, n, part_of_block<T>(args.a, s), part_of_block<T>(args.b, s), part_of_block<T>(args.c, s), group};
}
SXT_LANES inline std::int64_t order_of(const sxt_hermitian_step_args &args, std::int64_t s) {
  return args.orders_device ? args.orders_device[s] : args.n_max;
}

// RESIDUAL on system s, row by row. Apart from apply(), as the butterflies of plugins/hermitian/shared/butterfly.hpp
// are: GPUs have separate kernels for both, whose registers would slow down the other steps.
template <class T, class Group>
SXT_LANES void apply_residual(const sxt_hermitian_step_args &args, std::int64_t s, Group &group) {
  const std::int64_t n = order_of(args, s);
  if (!passes_over<T>(args, s, n)) residual(step_of<T>(args, s, n, group));
}

// Any other step of args on system s.
template <class T, class Group>
SXT_LANES void apply(const sxt_hermitian_step_args &args, std::int64_t s, Group &group) {
  const std::int64_t n = order_of(args, s);
  if (args.step == SXT_HERMITIAN_CHECK || args.step == SXT_HERMITIAN_SELECT) {
    if (group.lane() == 0) choose<T>(args, s, n);
    return;
  }
  const Step<T, Group> step = step_of<T>(args, s, n, group);
  if (is_narrow(args.step)) {
    sxt_hermitian_step_args wide = args;
    wide.c = {};
    if (passes_over<T>(wide, s, n) || memory_problem<half_of<T>>(args.c, s, n)) return;
    return change_precision(step, part_of_block<half_of<T>>(args.c, s));
  }
  if (passes_over<T>(args, s, n)) return;
  const auto each_rhs = [&](auto &&f) {
    for (std::int64_t r = 0; r < args.n_rhs; ++r) step.rows([&](std::int64_t i) { f(i, r); });
  };
  switch (args.step) {
    case SXT_HERMITIAN_COPY:
      return step.triangle([&](std::int64_t i, std::int64_t j) { step.c.at(i, j) = step.a.at(i, j); });
    case SXT_HERMITIAN_COPY_RHS:
      return each_rhs([&](std::int64_t i, std::int64_t r) { step.c.at(i, r) = step.b.at(i, r); });
    case SXT_HERMITIAN_SHIFT: return shift(step);
    case SXT_HERMITIAN_SCALE: return equilibrate(step);
    case SXT_HERMITIAN_SCALE_RHS:
      return each_rhs([&](std::int64_t i, std::int64_t r) {
        const double by = args.scale[s * args.stride_scale + i];
        step.b.at(i, r) = from<T>(re(step.b.at(i, r)) * by, im(step.b.at(i, r)) * by);
      });
    case SXT_HERMITIAN_MERGE:
      if (group.lane() == 0) args.info[s] = args.info_in[s];
      return;
    case SXT_HERMITIAN_NO_PIVOTS:
      if (args.info[s] == 0) step.rows([&](std::int64_t i) { args.pivots[s * args.stride_pivots + i] = 0; });
      return;
    case SXT_HERMITIAN_ADD:
      return each_rhs([&](std::int64_t i, std::int64_t r) {
        const T x = step.b.at(i, r), d = step.c.at(i, r), sum = from<T>(re(x) + re(d), im(x) + im(d));
        if (is_finite(sum)) step.b.at(i, r) = sum;  // a residual beyond the range corrects nothing
      });
    case SXT_HERMITIAN_NORM: return norm(step);
    case SXT_HERMITIAN_ESTIMATE: return estimate(step);
    case SXT_HERMITIAN_RECIPROCAL:
      if (group.lane() == 0) {
        const double product = args.numbers[s] * args.numbers_in[s];
        args.numbers[s] = product > 0 && product <= 1.7976931348623157e308 ? 1 / product : n == 0 ? 1 : 0;
      }
      return;
    case SXT_HERMITIAN_INERTIA: return inertia(step);
    case SXT_HERMITIAN_CANCELLED: return cancelled(step);
    default: return;
  }
}

}  // namespace sextant::plugin::hermitian_steps
