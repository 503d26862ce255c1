// SPDX-License-Identifier: BSD-3-Clause
// Data of the scalar kernels on the device between iterations, their input when a block begins, and their output to the
// host. Plain data; included from C++ and from CUDA.
//
// An evaluation computes the numbers of iterate k: its residual, and alpha and beta of the step to iterate k + 1. A
// captured iteration is that step, then the evaluation of the new iterate. When an evaluation stops, alpha becomes 0
// and beta -1 until the host has read the result: x and r then do not change, and p = r + beta p alternates between r -
// p and p, so that a solve that continues keeps its direction.
#pragma once

#include <cstdint>

#include "plugins/pcg/shared/ended.hpp"
#include "sextant/types.h"

namespace graph {

namespace pcg = sextant::plugin::pcg;

using pcg::Ended;

// p'Ap, from a difference, has lost its digits: it must be measured.
inline constexpr Ended unsure = Ended::first_own;

struct Control {             // device
  std::int64_t k;            // the iterate of the next evaluation
  std::int64_t first, last;  // of the host's present request; evaluations stop at `last`
  double tolerance_squared;
  double replaced_from;  // ||r|| before r was replaced, tested at `first`; negative: it was not
  double gamma_old, alpha_old;
  double beta;              // of the step that is not sure
  std::int32_t test_first;  // whether iterate `first` is tested against the tolerance
  std::int32_t restart;     // the next step begins a new direction
  Ended ended;              // why evaluations have stopped
  std::int32_t turns;       // steps since then: p is r - p when they are odd
};

struct Report {  // pinned
  std::int64_t iterate;
  Ended ended;
  std::int32_t turns;
};

// The host's request when a block begins.
struct Request {
  std::int64_t first, last;
  double tolerance_squared, replaced_from;
  std::int32_t test_first, restart;
  std::int32_t evaluate;  // 1: iterate `first` is evaluated again; 0: its numbers are valid and only `last` changes
  std::int32_t reserved;
};

// Arguments of the scalar kernels. Those that do not exist are NULL.
struct Scalars {
  sxt_value_type type;
  Control *control;
  const void *dots;      // of the vectors' type
  const void *products;  // those of A p, where they are not in `dots`
  void *alpha, *beta;    // of the vectors' type
  void *minus_alpha;     // of predict-and-recompute with M
  Report *report;
  double *squared_residuals;  // pinned; of iterate k at k % room
  std::int64_t room;
  // All vectors but x, cleared when a number is not finite: a step with alpha = 0 would still carry 0 times NaN into x.
  float *clear;
  std::int64_t clear_words;
};

}  // namespace graph
