// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients in one cooperative launch, in the one order of deterministic mode (sextant/plugin/order.h):
// predict-and-recompute (Chen and Carson 2020). A block takes leaves of 1024 rows, a thread a row. An iteration is q =
// A p with the leaves' sums, a barrier of all blocks, the tree over all leaves in every block, the update of r, x and
// p, and a second barrier. Bound: two barriers for small systems; A and 12 vectors an iteration, from the last cache
// where they fit.
#include <cstdint>
#include <type_traits>

#include "kernel.hpp"
#include "layout.hpp"
#include "plugins/pcg/shared/cuda/tests.hpp"
#include "sextant/sdk/cuda/order.hpp"

namespace cooperative {
namespace {

namespace plugin = sextant::plugin;
namespace order = plugin::cuda::order;

// What thread 0 decides for its block; all blocks decide alike.
struct Decision {
  double gamma, alpha, beta;
  pcg::Ended ended;
};

// In the order of the questions to core, then the values of the coming iteration.
template <class V>
__device__ Decision decide(const Run &run, std::int64_t k, const double (&total)[sums]) {
  constexpr pcg::Limits limits = pcg::limits_of<V>();
  const double p_q = total[0], gamma = total[3];
  Decision d{gamma, 0, 0, pcg::judge(run, k, gamma, limits)};
  if (d.ended == pcg::Ended::running) d.ended = pcg::usable(p_q, pcg::Ended::a_indefinite, limits);
  if (d.ended == pcg::Ended::running) d.ended = pcg::step_length(gamma, p_q, limits, &d.alpha);
  if (d.ended == pcg::Ended::running)
    d.beta = order::predicted_square(gamma, d.alpha, total[1], total[2], limits.epsilon) / gamma;
  return d;
}

template <class V, class M, class Offset>
class Block {
 public:
  __device__ Block(const Matrix &a, const Work &work, V *terms)
      : a_(a),
        work_(work),
        terms_(terms),
        leaves_((a.rows + plugin::tree::leaf_size - 1) / plugin::tree::leaf_size),
        r_(static_cast<V *>(work.r)),
        p_(static_cast<V *>(work.p)),
        q_(static_cast<V *>(work.q)),
        sums_(static_cast<V *>(work.leaves)) {}

  // r and p from where this launch starts.
  __device__ void begin(const Run &run) {
    const V *b = static_cast<const V *>(run.b);
    V *x = static_cast<V *>(run.x);
    each_leaf([&](std::int64_t, std::int64_t i) {
      if (i >= a_.rows) return;
      if (run.from_zero) {
        x[i] = 0;
        r_[i] = b[i];
      } else if (run.measure) {
        r_[i] = b[i] - row(i, x);
      }
      if (run.restart) p_[i] = r_[i];
    });
    meet();
  }

  // q = A p and the sums of this block's leaves.
  __device__ void multiply() {
    each_leaf([&](std::int64_t leaf, std::int64_t i) {
      V p = 0, q = 0, r = 0;
      if (i < a_.rows) {
        p = p_[i];
        r = r_[i];
        q_[i] = q = row(i, p_);
      }
      const V term[sums] = {order::term(p, q), order::term(r, q), order::term(q, q), order::term(r, r)};
#pragma unroll
      for (int k = 0; k < sums; ++k) terms_[k * threads + threadIdx.x] = term[k];
      __syncthreads();
      add_leaf(leaf);
      __syncthreads();
    });
    meet();
  }

  // The sums over all leaves, the same in every block.
  __device__ void totals(double (&total)[sums]) {
    __shared__ double found[sums];
    constexpr int workers = threads / sums;
    const int which = threadIdx.x / workers, worker = threadIdx.x % workers;
    const V *leaves = sums_ + which * leaves_;
    const V sum = order::combine_by_block<V, most_levels>(leaves_, worker, workers, terms_ + which * workers,
                                                          [&](std::int64_t j) -> V { return leaves[j]; });
    if (worker == 0) found[which] = sum;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < sums; ++k) total[k] = found[k];
    __syncthreads();
  }

  // r -= alpha q, x += alpha p, p = r + beta p.
  __device__ void update(V *x, V alpha, V beta) {
    each_leaf([&](std::int64_t, std::int64_t i) {
      if (i >= a_.rows) return;
      const V p = p_[i], r = fma(-alpha, q_[i], r_[i]);
      r_[i] = r;
      x[i] = fma(alpha, p, x[i]);
      p_[i] = fma(beta, p, r);
    });
    meet();
  }

 private:
  template <class F>
  __device__ void each_leaf(F &&f) {
    for (std::int64_t leaf = blockIdx.x; leaf < leaves_; leaf += gridDim.x)
      f(leaf, leaf * plugin::tree::leaf_size + threadIdx.x);
  }

  // By ascending columns; some entries in flight at once.
  __device__ V row(std::int64_t i, const V *x) const {
    constexpr int flight = 4;
    const Offset *row_ptr = static_cast<const Offset *>(a_.row_ptr);
    const M *values = static_cast<const M *>(a_.values);
    using Place = std::make_unsigned_t<Offset>;  // steps beyond the last of 2^31 - 1 entries stay right
    const Place end = row_ptr[i + 1];
    V sum = 0;
    for (Place k = row_ptr[i]; k < end; k += flight) {
      V value[flight], element[flight];
#pragma unroll
      for (int f = 0; f < flight; ++f) {
        const bool in = k + f < end;
        value[f] = in ? static_cast<V>(values[k + f]) : V(0);
        element[f] = in ? x[a_.col[k + f]] : V(0);
      }
#pragma unroll
      for (int f = 0; f < flight; ++f) sum = fma(value[f], element[f], sum);
    }
    return sum;
  }

  // Warp k adds sum k: every lane its terms in their order, then the lanes.
  __device__ void add_leaf(std::int64_t leaf) {
    const int which = threadIdx.x / plugin::tree::lanes, lane = threadIdx.x % plugin::tree::lanes;
    if (which >= sums) return;
    const V *terms = terms_ + which * threads + lane;
    V sum = 0;
#pragma unroll 8
    for (int row = 0; row < threads; row += plugin::tree::lanes) sum += terms[row];
    sum = order::fold_lanes(sum);
    if (lane == 0) sums_[which * leaves_ + leaf] = sum;
  }

  // All blocks: what each wrote before is visible to all after. The grid is on the device as a whole.
  __device__ void meet() {
    __syncthreads();
    if (threadIdx.x == 0) {
      met_ += gridDim.x;
      __threadfence();
      atomicAdd(work_.arrived, 1u);
      unsigned arrived;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(work_.arrived) : "memory");
      } while (static_cast<int>(arrived - met_) < 0);
      __threadfence();
    }
    __syncthreads();
  }

  const Matrix &a_;
  const Work &work_;
  V *terms_;  // shared: a leaf of every sum
  const std::int64_t leaves_;
  V *const r_, *const p_, *const q_, *const sums_;
  unsigned met_ = 0;  // thread 0: arrivals at the barriers so far
};

template <class V, class M, class Offset>
__global__ void __launch_bounds__(threads, 1)
    iterate(const __grid_constant__ Matrix a, const __grid_constant__ Work work, const __grid_constant__ Run run) {
  __shared__ V terms[sums * threads];
  __shared__ Decision shared;
  Block<V, M, Offset> block(a, work, terms);
  block.begin(run);
  const bool speaker = blockIdx.x == 0 && threadIdx.x == 0;
  for (std::int64_t k = run.first;; ++k) {
    block.multiply();
    double total[sums];
    block.totals(total);
    if (threadIdx.x == 0) shared = decide<V>(run, k, total);
    __syncthreads();
    const Decision d = shared;
    if (speaker) work.squared_residuals[k - run.first] = d.gamma;
    if (d.ended != pcg::Ended::running) {
      if (speaker) *work.report = {k, d.ended, 0};
      return;
    }
    block.update(static_cast<V *>(run.x), static_cast<V>(d.alpha), static_cast<V>(d.beta));
  }
}

template <class V, class M>
const void *with_offsets(sxt_index_type offsets) {
  return offsets == SXT_I64 ? reinterpret_cast<const void *>(iterate<V, M, std::int64_t>)
                            : reinterpret_cast<const void *>(iterate<V, M, std::int32_t>);
}

}  // namespace

const void *kernel_for(sxt_value_type vectors, sxt_value_type stored, sxt_index_type offsets) {
  if (vectors == SXT_F64 && stored == SXT_F64) return with_offsets<double, double>(offsets);
  if (vectors == SXT_F64 && stored == SXT_F32) return with_offsets<double, float>(offsets);
  if (vectors == SXT_F32 && stored == SXT_F32) return with_offsets<float, float>(offsets);
  return nullptr;
}

}  // namespace cooperative
