// SPDX-License-Identifier: BSD-3-Clause
// Inner products of all columns through lanes, blocks and the grid, and the tests of a column's numbers.
#pragma once

#include <cstdint>

#include "columns.hpp"
#include "plugins/pcg/shared/cuda/tests.hpp"
#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/numbers.hpp"
#include "sextant/sdk/cuda/order.hpp"
#include "values.cuh"

namespace graph {

namespace cuda = sextant::plugin::cuda;

inline constexpr int warps = product_threads / 32;

__device__ inline void take_turn() {
  cuda::await_predecessor();
  cuda::release_successor();
}

__device__ inline void hold(ColumnState &own, Report &report, Ended ended) {
  own.control.ended = ended;
  report = {own.control.k, ended, 0};
}

// One thread a column: the tests of iterate k, as for one right-hand side (scalars.cu). v: p'q, r'q, q'q, r'r; with M
// p'q, z'q, q't, z'r, r'r.
template <int sums>
__device__ void judge_column(const ColumnWork &w, int column, const double (&v)[sums]) {
  ColumnState &own = w.states->of[column];
  Control &c = own.control;
  Report &report = w.reports[column];
  const double p_q = v[0], r_q = v[1], q_q = v[2], gamma = v[3], squared = v[sums - 1];
  const pcg::Limits limits = pcg::limits_of(is_single(w.type));
  own.fresh = 0;
  w.squared_residuals[column * w.room + c.k % w.room] = squared;
  Ended ended = pcg::judge(c, c.k, squared, limits);
  if (w.z && ended == Ended::running) ended = pcg::usable(gamma, Ended::m_indefinite, limits);
  if (ended == Ended::running) ended = pcg::usable(p_q, Ended::a_indefinite, limits);
  double alpha = 0;
  if (ended == Ended::running) ended = pcg::step_length(gamma, p_q, limits, &alpha);
  if (ended != Ended::running) return hold(own, report, ended);
  own.alpha = alpha;
  own.beta = cuda::order::predicted_square(gamma, alpha, r_q, q_q, limits.epsilon) / gamma;
  report = {c.k, Ended::running, 0};
  ++c.k;
  c.restart = 0;
}

// This many adjacent values in one access.
template <class T, int size>
struct alignas(size * sizeof(T)) Neighbours {
  T value[size];
};

__device__ inline double real_product(double a, double b) { return a * b; }
template <class R>
__device__ double real_product(cuda::Complex<R> a, cuda::Complex<R> b) {
  return static_cast<double>(a.re) * b.re + static_cast<double>(a.im) * b.im;
}

// Sums of the lanes' columns over the block, to partials[block][sum][column]. Lanes with the same columns are `team`
// apart.
template <int width, int team, int sums, int own>
__device__ void leave_sums(const ColumnWork &w, double (&s)[sums][own]) {
  __shared__ double shared[warps][sums][width];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < sums; ++i)
#pragma unroll
    for (int c = 0; c < own; ++c) {
#pragma unroll
      for (int step = 16; step >= team; step /= 2) s[i][c] += __shfl_xor_sync(0xffffffffu, s[i][c], step);
      if (lane < team) shared[warp][i][lane * own + c] = s[i][c];
    }
  __syncthreads();
  const int v = static_cast<int>(threadIdx.x);
  if (v >= sums * width) return;
  double sum = 0;
#pragma unroll 8
  for (int other = 0; other < warps; ++other) sum += shared[other][v / width][v % width];
  w.partials[static_cast<std::int64_t>(blockIdx.x) * (sums * width) + v] = sum;
}

// The last block to arrive adds the partial sums of all, always in the same order, and makes the tests.
template <int width, int sums>
__device__ void finish_sums(const ColumnWork &w, bool fresh) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&w.states->arrived, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (!last) return;
  __threadfence();
  constexpr int values = sums * width, fit = product_threads / values, teams = fit < 32 ? fit : 32;
  __shared__ double shared[teams][values];
  const int v = static_cast<int>(threadIdx.x) % values, team = static_cast<int>(threadIdx.x) / values;
  if (team < teams) {
    double sum = 0;
#pragma unroll 8
    for (unsigned b = static_cast<unsigned>(team); b < gridDim.x; b += teams)
      sum += __ldcg(w.partials + static_cast<std::int64_t>(b) * values + v);
    shared[team][v] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const int column = static_cast<int>(threadIdx.x);
  ColumnState &own = w.states->of[column];
  if (column < width && own.control.ended == Ended::running && (own.fresh != 0) == fresh) {
    double total[sums] = {};
#pragma unroll 8
    for (int other = 0; other < teams; ++other)
      for (int i = 0; i < sums; ++i) total[i] += shared[other][i * width + column];
    judge_column(w, column, total);
  }
  const unsigned going = __ballot_sync(0xffffffffu, column < width && own.control.ended == Ended::running);
  if (column == 0) w.states->going = __popc(going), w.states->arrived = 0;
}

}  // namespace graph
