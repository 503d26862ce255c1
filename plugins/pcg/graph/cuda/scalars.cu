// SPDX-License-Identifier: BSD-3-Clause
// The scalar kernels: one block that reads a few inner products, tests them and writes alpha and beta. Their time is
// the latency of a launch and of a handful of loads and divisions.
#include <algorithm>
#include <cstdint>

#include "plugins/pcg/shared/cuda/tests.hpp"
#include "requests.cuh"
#include "scalars.hpp"
#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/order.hpp"
#include "values.cuh"

namespace graph {
namespace {

namespace cuda = sextant::plugin::cuda;

constexpr int threads = 256;  // for clearing; one does the rest

// Kernels begin while their predecessor ends (sdk/cuda/chain.hpp): the launch is then over when its numbers are
// there.
__device__ void take_turn() {
  cuda::await_predecessor();
  cuda::release_successor();
}

// The real part of value i: all inner products of the recurrences are real for a Hermitian matrix.
__device__ double real_part(const void *values, int i, sxt_value_type type) {
  const int at = i * parts_of(type);
  return is_single(type) ? static_cast<double>(static_cast<const float *>(values)[at])
                         : static_cast<const double *>(values)[at];
}

__device__ pcg::Limits limits_of(sxt_value_type type) { return pcg::limits_of(is_single(type)); }

__device__ void clear(const Scalars &s) {
  for (std::int64_t i = threadIdx.x; i < s.clear_words; i += blockDim.x) s.clear[i] = 0;
}

__device__ void set_alpha(const Scalars &s, double alpha) {
  set_real(s.alpha, alpha, s.type);
  if (s.minus_alpha) set_real(s.minus_alpha, -alpha, s.type);
}

// Stops evaluations from here on.
__device__ void hold(const Scalars &s, Ended ended, std::int64_t iterate) {
  s.control->ended = ended;
  s.control->turns = 0;
  set_alpha(s, 0);
  set_real(s.beta, -1, s.type);
  *s.report = {iterate, ended, 0};
}

// The frame of an evaluation: f(control, limits, &alpha, &beta) returns running or why to stop, and is only called when
// iterate k itself does not end the block. finite: whether all of its numbers are.
template <class F>
__device__ void evaluate(const Scalars &s, double squared, bool finite, const F &f) {
  if (threadIdx.x == 0) {
    Control &c = *s.control;
    if (c.ended != Ended::running) {
      s.report->turns = ++c.turns;
    } else {
      const pcg::Limits limits = limits_of(s.type);
      s.squared_residuals[c.k % s.room] = squared;
      double alpha = 0, beta = 0;
      Ended ended = pcg::judge(c, c.k, squared, limits);
      if (ended == Ended::running) ended = f(c, limits, &alpha, &beta);
      if (ended == Ended::running) {
        set_alpha(s, alpha);
        set_real(s.beta, beta, s.type);
        *s.report = {c.k, Ended::running, 0};
        ++c.k;
        c.restart = 0;
      } else {
        hold(s, ended, c.k);
      }
    }
  }
  if (!finite) clear(s);
}

__global__ void configure_kernel(Control *control, Request request) { take_in(request, *control); }

// Without M z is r, t is q.
__global__ void __launch_bounds__(threads) predict_recompute(const __grid_constant__ Scalars s, bool preconditioned) {
  take_turn();
  double v[4];
  for (int i = 0; i < 4; ++i) v[i] = real_part(s.dots, i, s.type);
  const double p_q = v[0], z_q = v[1], squared = v[3], gamma = preconditioned ? v[2] : squared,
               q_t = preconditioned ? real_part(s.products, 0, s.type) : v[2];
  // q't may overflow while all vectors are finite.
  const bool finite = pcg::is_finite(p_q) && pcg::is_finite(gamma) && pcg::is_finite(squared);
  evaluate(s, squared, finite, [=](const Control &, const pcg::Limits &limits, double *alpha, double *beta) {
    Ended ended = preconditioned ? pcg::usable(gamma, Ended::m_indefinite, limits) : Ended::running;
    if (ended == Ended::running) ended = pcg::usable(p_q, Ended::a_indefinite, limits);
    if (ended == Ended::running) ended = pcg::step_length(gamma, p_q, limits, alpha);
    *beta = cuda::order::predicted_square(gamma, *alpha, z_q, q_t, limits.epsilon) / gamma;
    return ended;
  });
}

__global__ void __launch_bounds__(threads) chronopoulos_gear(const __grid_constant__ Scalars s, bool preconditioned) {
  take_turn();
  const double delta = real_part(s.dots, 0, s.type), gamma = real_part(s.dots, 1, s.type);
  const double squared = preconditioned ? real_part(s.dots, 2, s.type) : gamma;
  const bool finite = pcg::is_finite(delta) && pcg::is_finite(gamma) && pcg::is_finite(squared);
  evaluate(s, squared, finite, [=](Control &c, const pcg::Limits &limits, double *alpha, double *beta) {
    Ended ended = pcg::usable(gamma, Ended::m_indefinite, limits);
    // delta = u'Au is measured and never below p'Ap, so its sign is proof enough.
    if (ended == Ended::running) ended = pcg::usable(delta, Ended::a_indefinite, limits);
    if (ended != Ended::running) return ended;
    *beta = c.restart ? 0 : gamma / c.gamma_old;
    const double p_a_p = c.restart ? delta : delta - *beta * gamma / c.alpha_old;
    // When half of the digits cancelled, rounding may dominate: the host has it measured.
    if (!(p_a_p > sqrt(limits.epsilon) * delta)) {
      c.beta = *beta;
      return unsure;
    }
    ended = pcg::step_length(gamma, p_a_p, limits, alpha);
    if (ended == Ended::running) {
      c.gamma_old = gamma;
      c.alpha_old = *alpha;
    }
    return ended;
  });
}

// The half before A p: beta. alpha waits for p'q; until then it holds the numerator of step_length_classical.
__global__ void __launch_bounds__(threads) classical(const __grid_constant__ Scalars s, bool preconditioned) {
  take_turn();
  const double gamma = real_part(s.dots, 0, s.type);
  const double squared = preconditioned ? real_part(s.dots, 1, s.type) : gamma;
  evaluate(s, squared, pcg::is_finite(gamma) && pcg::is_finite(squared),
           [=](Control &c, const pcg::Limits &limits, double *, double *beta) {
             const Ended ended = pcg::usable(gamma, Ended::m_indefinite, limits);
             *beta = c.restart ? 0 : gamma / c.gamma_old;
             if (ended == Ended::running) c.gamma_old = gamma;
             return ended;
           });
}

// The half after it: p is that of iterate k, which the evaluation has counted already.
__global__ void __launch_bounds__(threads) classical_step(const __grid_constant__ Scalars s) {
  take_turn();
  const double p_q = real_part(s.products, 0, s.type);
  if (threadIdx.x == 0) {
    Control &c = *s.control;
    const pcg::Limits limits = limits_of(s.type);
    double alpha = 0;
    if (c.ended == Ended::running) {
      Ended ended = pcg::usable(p_q, Ended::a_indefinite, limits);
      if (ended == Ended::running) ended = pcg::step_length(c.gamma_old, p_q, limits, &alpha);
      if (ended == Ended::running)
        set_real(s.alpha, alpha, s.type);
      else
        hold(s, ended, c.k - 1);
    }
  }
  if (!pcg::is_finite(p_q)) clear(s);
}

// Saves the direction of an iteration that stops, before idle steps change it by a rounding.
__global__ void __launch_bounds__(threads)
    keep(const Control *control, const int4 *from, int4 *to, std::int64_t count) {
  take_turn();
  if (control->ended == Ended::running || control->turns != 0) return;
  const std::int64_t workers = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += workers)
    to[i] = from[i];
}

}  // namespace

void load_scalar_kernels() {
  cudaFuncAttributes unused;
  for (const void *kernel :
       {reinterpret_cast<const void *>(configure_kernel), reinterpret_cast<const void *>(predict_recompute),
        reinterpret_cast<const void *>(chronopoulos_gear), reinterpret_cast<const void *>(classical),
        reinterpret_cast<const void *>(classical_step), reinterpret_cast<const void *>(keep)})
    cuda::need(cudaFuncGetAttributes(&unused, kernel), "load a kernel's code");
}

void configure(Control *control, const Request &request, cudaStream_t stream) {
  configure_kernel<<<1, 1, 0, stream>>>(control, request);
  cuda::need_launch("a block's request");
}
// A scalar kernel, begun early.
template <class... Parameters, class... Arguments>
static void launch(const sxt_exec &exec, void (*kernel)(Parameters...), const Arguments &...args) {
  const sxt_status status =
      cuda::launch_chained(&exec, true, "the scalars of an iteration", kernel, 1, threads, 0, args...);
  if (status != SXT_OK) throw cuda::Failure(status, "the scalars of an iteration could not be launched");
}
void keep_when_ended(const Control *control, const void *from, void *to, std::uint64_t bytes, const sxt_exec &exec) {
  constexpr std::int64_t most_blocks = 256;
  const auto count = static_cast<std::int64_t>(bytes / sizeof(int4));
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(count / threads, 1, most_blocks));
  const sxt_status status = cuda::launch_chained(&exec, true, "keep a direction", keep, blocks, threads, 0, control,
                                                 static_cast<const int4 *>(from), static_cast<int4 *>(to), count);
  if (status != SXT_OK) throw cuda::Failure(status, "the copy of a direction could not be launched");
}
void evaluate_predict_recompute(const Scalars &s, bool preconditioned, const sxt_exec &exec) {
  launch(exec, predict_recompute, s, preconditioned);
}
void evaluate_chronopoulos_gear(const Scalars &s, bool preconditioned, const sxt_exec &exec) {
  launch(exec, chronopoulos_gear, s, preconditioned);
}
void evaluate_classical(const Scalars &s, bool preconditioned, const sxt_exec &exec) {
  launch(exec, classical, s, preconditioned);
}
void step_length_classical(const Scalars &s, const sxt_exec &exec) { launch(exec, classical_step, s); }

}  // namespace graph
