// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a captured solve, each launched the ordinary way: one before or after a conditional node cannot begin
// early.
#include "record.hpp"

#include <cfloat>
#include <cstdint>

#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/pcg_confirm.hpp"
#include "values.cuh"

namespace graph {
namespace {

namespace cuda = sextant::plugin::cuda;

using namespace sextant::confirming;  // as core does with a host

// The sum over a block, in one order, for thread 0.
__device__ double block_sum(double value) {
  __shared__ double sums[norm_threads];
  sums[threadIdx.x] = value;
  for (int half = norm_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  const double sum = sums[0];
  __syncthreads();
  return sum;
}

// The least value of a square where the number is not 0: a sum of 0 then means that all of them are 0.
constexpr double least_square = DBL_MIN;
// A norm below this has lost its digits, or consists of such least squares; in single precision, squares of residuals
// at a usual tolerance underflow in the steps.
constexpr double least_norm = 0x1p-480, least_norm_single = 0x1p-50;

__device__ __forceinline__ double square(double value) { return value * value + (value != 0 ? least_square : 0); }

// Partial sums of |v_i|^2; the parts of complex numbers lie side by side.
template <class T>
__global__ void __launch_bounds__(norm_threads) squares(const T *v, std::int64_t count, double *sums) {
  double sum = 0;
  for (std::int64_t i = blockIdx.x * std::int64_t{norm_threads} + threadIdx.x; i < count;
       i += std::int64_t{norm_blocks} * norm_threads)
    sum += square(v[i]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__device__ double norm_of(const double *sums) {
  double sum = 0;
  for (int i = threadIdx.x; i < norm_blocks; i += norm_threads) sum += sums[i];
  return sqrt(block_sum(sum));
}

// Vectors between the system's scale and order and the caller's.
struct Crossing {
  const void *scaling, *index;
  bool wide;
  std::int64_t n;
  __device__ std::int64_t own(std::int64_t i) const {
    if (!index) return i;
    return wide ? static_cast<const std::int64_t *>(index)[i] : static_cast<const std::int32_t *>(index)[i];
  }
};

template <class T, int parts, bool back>
__global__ void __launch_bounds__(norm_threads) cross(const __grid_constant__ Crossing c, const T *from, T *to) {
  const T *scaling = static_cast<const T *>(c.scaling);
  for (std::int64_t i = blockIdx.x * std::int64_t{norm_threads} + threadIdx.x; i < c.n;
       i += std::int64_t{norm_blocks} * norm_threads) {
    const std::int64_t own = c.own(i) * parts;
    for (int p = 0; p < parts; ++p) {
      const T value = from[back ? i * parts + p : own + p];
      to[back ? own + p : i * parts + p] = scaling ? scaling[i] * value : value;
    }
  }
}

// p = r where a direction begins anew; Chronopoulos-Gear and the classical form theirs in the next step.
__device__ void direct(const Scalars &s, bool anew) {
  set_real(s.alpha, anew ? 1 : 0, s.type);
  set_real(s.beta, anew ? 0 : 1, s.type);
}

__global__ void __launch_bounds__(norm_threads)
    begin(const __grid_constant__ Recording a, cudaGraphConditionalHandle on) {
  const double plain = norm_of(a.sums);
  if (threadIdx.x != 0) return;
  const double own = a.norms->rhs_2;
  Record &record = *a.record;
  record = {};
  record.rhs_norm = own;
  record.target = fmax(a.rtol * own, a.atol);
  record.at = -1;
  if (!(own <= DBL_MAX && plain <= DBL_MAX))
    record.reason = SXT_REASON_NOT_A_NUMBER;
  else if (own == 0)
    record.reason = SXT_REASON_CONVERGED;  // A x = 0 has the one solution 0
  else if (fmin(own, plain) < (is_single(a.s.type) ? least_norm_single : least_norm))
    record.reason = SXT_REASON_BREAKDOWN;
  const double tolerance = own > 0 ? (a.scaled ? early : 1) * record.target * (plain / own) : record.target;
  Control &c = *a.s.control;
  c = {};
  c.last = a.max_iterations;
  c.tolerance_squared = tolerance * tolerance;
  c.replaced_from = -1;
  c.test_first = c.restart = 1;
  c.ended = Ended::running;
  direct(a.s, true);
  cudaGraphSetConditional(on, record.reason == SXT_REASON_NONE);
}

__global__ void open(const __grid_constant__ Recording a, cudaGraphConditionalHandle inner) {
  cudaGraphSetConditional(inner, a.s.control->ended == Ended::running);
}
__global__ void close(const __grid_constant__ Recording a, cudaGraphConditionalHandle inner) {
  if (a.s.control->ended != Ended::running) cudaGraphSetConditional(inner, 0);
}

__global__ void turn(const __grid_constant__ Recording a) {
  const bool turned = a.s.control->turns % 2 != 0;
  set_real(a.s.alpha, turned ? 1 : 0, a.s.type);
  set_real(a.s.beta, turned ? -1 : 1, a.s.type);
}

__global__ void question(const __grid_constant__ Recording a) {
  const bool measured = a.s.control->ended == unsure;
  set_real(a.s.alpha, measured ? 1 : 0, a.s.type);
  set_real(a.s.beta, measured ? a.s.control->beta : 1, a.s.type);
}
__global__ void answer(const __grid_constant__ Recording a) {
  a.record->curvature =
      is_single(a.s.type) ? static_cast<const float *>(a.s.dots)[0] : static_cast<const double *>(a.s.dots)[0];
}

__device__ sxt_reason reason_of(Ended ended) {
  switch (ended) {
    case Ended::at_last: return SXT_REASON_ITERATION_LIMIT;
    case Ended::not_a_number: return SXT_REASON_NOT_A_NUMBER;
    case Ended::a_indefinite: return SXT_REASON_A_INDEFINITE;
    case Ended::m_indefinite: return SXT_REASON_M_INDEFINITE;
    default: return SXT_REASON_BREAKDOWN;
  }
}

// After the tolerance was met but not by the true residual: NONE, and the next tolerance, where a further attempt may
// succeed.
__device__ sxt_reason go_on(Record &record, Control &c, double own, double plain) {
  record.fruitless = record.confirmations > 1 && own > 0.5 * record.last_norm ? record.fruitless + 1 : 0;
  if (record.fruitless >= patience) return SXT_REASON_STAGNATED;
  const double tolerance = fmin(0.9, fmax(least_step, aim * record.target / own)) * plain;
  c.tolerance_squared = tolerance * tolerance;
  return SXT_REASON_NONE;
}

__global__ void __launch_bounds__(norm_threads)
    judge(const __grid_constant__ Recording a, cudaGraphConditionalHandle on) {
  const double plain = norm_of(a.sums);
  if (threadIdx.x != 0) return;
  const sxt_residual_norms now = *a.norms;
  Record &record = *a.record;
  Control &c = *a.s.control;
  ++record.confirmations;
  record.true_norm = now.norm_2;
  if (c.ended == unsure && !(record.curvature > 0))
    c.ended = record.curvature <= 0 ? Ended::a_indefinite : Ended::not_a_number;
  const bool again = c.ended == Ended::far || c.ended == unsure;
  if (!(now.norm_2 <= DBL_MAX))
    record.reason = SXT_REASON_NOT_A_NUMBER;
  else if (proves_converged(now.norm_2, now.bound_2, now.rhs_2, now.rhs_bound_2, a.rtol, a.atol))
    record.reason = SXT_REASON_CONVERGED;
  else if (c.ended == Ended::met)
    record.reason = go_on(record, c, now.norm_2, plain);
  else if (!again || record.at == c.k)  // a direction that began anew here has led nowhere
    record.reason = reason_of(c.ended);
  record.last_norm = now.norm_2;
  record.at = again ? c.k : -1;
  const bool failure = c.ended == Ended::not_a_number || c.ended == Ended::a_indefinite ||
                       c.ended == Ended::m_indefinite || c.ended == Ended::breakdown;
  const bool goes_on = record.reason == SXT_REASON_NONE;
  // A failure belongs to the iteration it was found in.
  if (!goes_on && failure && record.reason != SXT_REASON_CONVERGED) ++c.k;
  if (goes_on) {
    c.replaced_from = again ? -1 : sqrt(a.s.squared_residuals[c.k % a.s.room]);
    c.first = c.k;
    c.test_first = 1;
    if (again) c.restart = 1;
    c.ended = Ended::running;
    c.turns = 0;
    direct(a.s, again);
  }
  cudaGraphSetConditional(on, goes_on);
}

// Whether x is not returned, but the start: it is not finite, or worse than 0 where the solve began there.
__device__ bool lost(const Record &record, bool from_zero) {
  if (record.reason == SXT_REASON_CONVERGED) return false;
  return !(record.true_norm <= (from_zero ? record.rhs_norm : DBL_MAX));
}

// The result: x, but 0 for b = 0, and the guess (NULL: it was 0) where x is lost. In words of four bytes.
__global__ void repair(const __grid_constant__ Recording a, float *x, const float *guess, std::int64_t words) {
  const bool zero = a.record->rhs_norm == 0;
  if (!zero && !lost(*a.record, !guess)) return;
  for (std::int64_t i = blockIdx.x * std::int64_t{norm_threads} + threadIdx.x; i < words;
       i += std::int64_t{norm_blocks} * norm_threads)
    x[i] = guess && !zero ? guess[i] : 0;
}

__global__ void report(const __grid_constant__ Recording a, const __grid_constant__ sxt_pcg_record_args to) {
  const Record &record = *a.record;
  const bool at_zero = record.confirmations == 0 || (to.x_is_zero && lost(record, true));
  const double norm = at_zero ? record.rhs_norm : record.true_norm;
  if (to.reason) *to.reason = record.reason;
  if (to.iterations) *to.iterations = a.s.control->k;
  if (to.confirmations) *to.confirmations = record.confirmations;
  if (to.rhs_norm) *to.rhs_norm = record.rhs_norm;
  if (to.residual_norm) *to.residual_norm = norm;
  if (to.relative_residual) *to.relative_residual = record.rhs_norm > 0 ? norm / record.rhs_norm : norm;
}

template <class T>
const void *address(T *kernel) {
  return reinterpret_cast<const void *>(kernel);
}

template <bool back>
void cross_over(const sxt_pcg_record_args &args, sxt_value_type type, const void *from, void *to, cudaStream_t stream) {
  const Crossing c = {args.scaling, args.index, args.index_type == SXT_I64, args.n};
  const auto launch = [&](auto kernel, auto *typed_from, auto *typed_to) {
    kernel<<<norm_blocks, norm_threads, 0, stream>>>(c, typed_from, typed_to);
  };
  const auto *f = static_cast<const float *>(from);
  const auto *d = static_cast<const double *>(from);
  switch (type) {
    case SXT_F32: launch(cross<float, 1, back>, f, static_cast<float *>(to)); break;
    case SXT_F64: launch(cross<double, 1, back>, d, static_cast<double *>(to)); break;
    case SXT_C64: launch(cross<float, 2, back>, f, static_cast<float *>(to)); break;
    default: launch(cross<double, 2, back>, d, static_cast<double *>(to));
  }
  cuda::need_launch("the copy of a vector between the system and the caller");
}

}  // namespace

void load_record_kernels() {
  cudaFuncAttributes unused;
  for (const void *kernel :
       {address(squares<float>), address(squares<double>), address(cross<float, 1, true>),
        address(cross<double, 1, true>), address(cross<float, 2, true>), address(cross<double, 2, true>),
        address(cross<float, 1, false>), address(cross<double, 1, false>), address(cross<float, 2, false>),
        address(cross<double, 2, false>), address(begin), address(open), address(close), address(turn),
        address(question), address(answer), address(judge), address(repair), address(report)})
    cuda::need(cudaFuncGetAttributes(&unused, kernel), "load a kernel's code");
}

void sum_squares(const Recording &a, const void *v, cudaStream_t stream) {
  const int parts = a.s.type == SXT_C64 || a.s.type == SXT_C128 ? 2 : 1;
  if (a.s.type == SXT_F32 || a.s.type == SXT_C64)
    squares<<<norm_blocks, norm_threads, 0, stream>>>(static_cast<const float *>(v), a.n * parts, a.sums);
  else
    squares<<<norm_blocks, norm_threads, 0, stream>>>(static_cast<const double *>(v), a.n * parts, a.sums);
  cuda::need_launch("the sums of squares");
}
void bring_back(const sxt_pcg_record_args &to, sxt_value_type type, const void *x, cudaStream_t stream) {
  cross_over<true>(to, type, x, to.own_x, stream);
}
void take_in(const sxt_pcg_record_args &from, sxt_value_type type, void *r, cudaStream_t stream) {
  cross_over<false>(from, type, from.own_r, r, stream);
}

void begin_record(const Recording &a, cudaGraphConditionalHandle on, cudaStream_t stream) {
  begin<<<1, norm_threads, 0, stream>>>(a, on);
  cuda::need_launch("the beginning of a captured solve");
}
void open_steps(const Recording &a, cudaGraphConditionalHandle inner, cudaStream_t stream) {
  open<<<1, 1, 0, stream>>>(a, inner);
  cuda::need_launch("the condition of a loop");
}
void close_steps(const Recording &a, cudaGraphConditionalHandle inner, cudaStream_t stream) {
  close<<<1, 1, 0, stream>>>(a, inner);
  cuda::need_launch("the condition of a loop");
}
void turn_back(const Recording &a, cudaStream_t stream) {
  turn<<<1, 1, 0, stream>>>(a);
  cuda::need_launch("the update of the direction");
}
void doubt(const Recording &a, cudaStream_t stream) {
  question<<<1, 1, 0, stream>>>(a);
  cuda::need_launch("the request for a curvature");
}
void keep_curvature(const Recording &a, cudaStream_t stream) {
  answer<<<1, 1, 0, stream>>>(a);
  cuda::need_launch("a measured curvature");
}
void judge_record(const Recording &a, cudaGraphConditionalHandle on, cudaStream_t stream) {
  judge<<<1, norm_threads, 0, stream>>>(a, on);
  cuda::need_launch("the test of a true residual");
}
void repair_answer(const Recording &a, void *x, const void *guess, cudaStream_t stream) {
  const auto words = a.n * static_cast<std::int64_t>(sextant::plugin::value_bytes(a.s.type) / sizeof(float));
  repair<<<norm_blocks, norm_threads, 0, stream>>>(a, static_cast<float *>(x), static_cast<const float *>(guess),
                                                   words);
  cuda::need_launch("the result of a captured solve");
}
void report_record(const Recording &a, const sxt_pcg_record_args &to, cudaStream_t stream) {
  report<<<1, 1, 0, stream>>>(a, to);
  cuda::need_launch("the report of a captured solve");
}

}  // namespace graph
