// SPDX-License-Identifier: BSD-3-Clause
// Common parts of both mock engines: the recurrence on the device, which stops once it is done, and the host's side,
// which reads its progress and asks core for the next step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "mock_kernel.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace mock::pcg {

constexpr std::int64_t longest = 1000;  // iterations that a progress record can hold

// In device memory; the host reads a copy.
struct Progress {
  double rr, pq, one, tolerance;
  std::int64_t iteration, limit;
  std::int32_t done, reason;  // a reason: what stopped it before the tolerance was met
  double residuals[longest + 1];
};

struct Vectors {
  std::int64_t n;
  double *x, *r, *p, *q;
};

inline void record(Progress &w, double rr) {
  w.rr = rr;
  w.residuals[w.iteration] = std::sqrt(rr);
  w.done = w.residuals[w.iteration] <= w.tolerance || w.iteration >= w.limit;
  if (!std::isfinite(rr)) w.done = 1, w.reason = SXT_REASON_NOT_A_NUMBER;
}

// On the device: r = b - q, p = r, where q = A x.
inline void start(Progress &w, const Vectors &v, const double *b) {
  for (std::int64_t i = 0; i < v.n; ++i) v.p[i] = v.r[i] = b[i] - v.q[i];
  w.reason = SXT_REASON_NONE;
  record(w, dot(v.n, v.r, v.r));
}

// On the device: the rest of an iteration, where q = A p and pq = p'q. Does nothing once it is done, so that a replay
// after convergence is harmless.
inline void advance(Progress &w, const Vectors &v) {
  if (w.done) return;
  ++w.iteration;
  if (!(w.pq > 0)) {
    w.done = 1, w.reason = SXT_REASON_A_INDEFINITE;
    w.residuals[w.iteration] = std::sqrt(w.rr);
    return;
  }
  const double alpha = w.rr / w.pq, before = w.rr;
  for (std::int64_t i = 0; i < v.n; ++i) v.x[i] += alpha * v.p[i], v.r[i] -= alpha * v.q[i];
  record(w, dot(v.n, v.r, v.r));
  for (std::int64_t i = 0; i < v.n; ++i) v.p[i] = v.r[i] + w.rr / before * v.p[i];
}

// ---- host ----

enum class Next { go_on, restart, stop };

// Waits for the device, reports the new residuals to core and asks it about an end. `told`: residuals already reported.
inline Next consult(sxt_pcg_args &args, const Vectors &v, Progress *device, Progress *host, std::int64_t &told,
                    const sxt_exec &exec) {
  const auto copy = [&](void *to, const void *from, std::uint64_t bytes) {
    exec.host->copy(exec.host, &exec, to, from, bytes);
  };
  copy(host, device, sizeof *host);
  copy(args.x, v.x, v.n * sizeof(double));
  exec.host->synchronize(exec.host, &exec);
  args.iterations = host->iteration;
  args.residual = host->residuals[host->iteration];
  if (host->iteration >= told) {
    args.reason = args.observe(args.user, told, host->iteration - told + 1, host->residuals + told);
    told = host->iteration + 1;
    if (args.reason != SXT_REASON_NONE) return Next::stop;
  }
  if (!host->done) return Next::go_on;
  if (host->reason != SXT_REASON_NONE) return args.reason = host->reason, Next::stop;
  if (args.residual > args.tolerance) return args.reason = SXT_REASON_ITERATION_LIMIT, Next::stop;
  const auto answer = args.confirm(args.user, args.x, args.iterations, args.residual, &args.tolerance, &args.reason);
  args.replacements += answer == SXT_CONFIRM_REPLACE;
  return answer == SXT_CONFIRM_STOP ? Next::stop : Next::restart;  // a restart is allowed, too
}

// The first part of a run and of every restart: the data for the device.
inline sxt_status begin(sxt_pcg_args &args, const Vectors &v, Progress *device, std::int64_t iteration,
                        const sxt_exec &exec) {
  return launch(exec.stream, [=, tolerance = args.tolerance, limit = args.max_iterations,
                              zero = args.x_is_zero != 0 && iteration == 0, x = static_cast<const double *>(args.x)] {
    device->one = 1;
    device->tolerance = tolerance;
    device->limit = limit;
    device->iteration = iteration;
    for (std::int64_t i = 0; i < v.n; ++i) v.x[i] = zero ? 0 : x[i];
  });
}

inline sxt_status applicable(const sxt_pcg_query &query, sxt_message *reason) {
  using sextant::plugin::refuse;
  if (query.m.matrix_type != SXT_F64) return refuse(reason, "the matrix is not f64");
  if (query.m.rows == 0) return refuse(reason, "there is nothing to launch for no rows");
  if (query.preconditioned) return refuse(reason, "it knows no preconditioner");
  if (query.recurrence > SXT_RECURRENCE_CLASSICAL) return refuse(reason, "it knows the classical recurrence only");
  return SXT_OK;
}

inline double expected_iterations(const sxt_pcg_query &query) { return query.iterations > 0 ? query.iterations : 100; }

}  // namespace mock::pcg
