// SPDX-License-Identifier: BSD-3-Clause
// A whole solve as part of a graph that the application captures: its data on the device between its steps, and its
// kernels. Plain data; included from C++ and from CUDA.
//
//   begin      norms of b, the tolerance of the system, a direction that restarts
//   while on:  p for the last step; evaluation; inner on = nothing ended it
//     while inner on:  steps and evaluations, a few at a time; inner on = nothing ended them
//     p restored; p'Ap where it is not sure; the true residual (plugin/kinds/residual.h) and its norms; judge: on =
//     a further attempt may succeed
//   repair     x is 0 for b = 0, the guess where it is no number, and 0 where that was the guess and is better
//   report     the report for the caller
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "control.hpp"
#include "sextant/plugin/kinds/pcg_record.h"

namespace graph {

inline constexpr int norm_blocks = 264, norm_threads = 256;

struct Record {                               // device
  double rhs_norm, target;                    // in the caller's norm
  double true_norm;                           // of the present r
  double last_norm;                           // at the confirmation before
  double curvature;                           // p'Ap, measured
  std::int64_t confirmations, fruitless, at;  // at: the iterate of the confirmation before
  sxt_reason reason;
  std::int32_t reserved;
};

// Common arguments of the kernels below.
struct Recording {
  Scalars s;
  Record *record;
  double *sums;                     // norm_blocks: squares of the system
  const sxt_residual_norms *norms;  // of the true residual, last computed
  std::int64_t n;
  double rtol, atol;
  std::int64_t max_iterations;
  bool scaled;
};

void load_record_kernels();
void sum_squares(const Recording &a, const void *v, cudaStream_t stream);
// own x of the system's x, and the system's r of own r, where they are not the same.
void bring_back(const sxt_pcg_record_args &to, sxt_value_type type, const void *x, cudaStream_t stream);
void take_in(const sxt_pcg_record_args &from, sxt_value_type type, void *r, cudaStream_t stream);
void begin_record(const Recording &a, cudaGraphConditionalHandle on, cudaStream_t stream);
void open_steps(const Recording &a, cudaGraphConditionalHandle inner, cudaStream_t stream);
void close_steps(const Recording &a, cudaGraphConditionalHandle inner, cudaStream_t stream);
void turn_back(const Recording &a, cudaStream_t stream);  // alpha, beta: p = alpha u + beta p is the direction again
// Chronopoulos-Gear, where p'Ap was not sure: alpha, beta: p = alpha u + beta p is the next direction; afterwards its
// p'Ap is kept.
void doubt(const Recording &a, cudaStream_t stream);
void keep_curvature(const Recording &a, cudaStream_t stream);
void judge_record(const Recording &a, cudaGraphConditionalHandle on, cudaStream_t stream);
void repair_answer(const Recording &a, void *x, const void *guess, cudaStream_t stream);  // guess NULL: zero
void report_record(const Recording &a, const sxt_pcg_record_args &to, cudaStream_t stream);

}  // namespace graph
