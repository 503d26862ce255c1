// SPDX-License-Identifier: BSD-3-Clause
// The kernels of one or several right-hand sides. The product reads A once for all columns, an entry meeting a whole
// row of p in neighbouring lanes, and forms the inner products on its way; a row of a column costs it p, r and q, and
// the step four values read and three written. Bound by bandwidth, or on short columns by the latency of two launches.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "columns.hpp"
#include "requests.cuh"
#include "sextant/plugin_cuda_chain.hpp"
#include "sextant/plugin_cuda_memory.hpp"
#include "sextant/plugin_cuda_order.hpp"
#include "sextant/plugin_cuda_pcg_tests.hpp"
#include "values.cuh"

namespace graph {
namespace {

namespace cuda = sextant::plugin::cuda;

constexpr int threads = 256, sums = 4;
// Of the product: few blocks of many threads, since one block adds up what all have left.
constexpr int product_threads = 1024, warps = product_threads / 32, ahead = 4;
constexpr int few_lanes = 4, many_lanes = 32;  // that share a row, or more where it has more columns
constexpr std::int64_t long_row = 24;          // entries, from which many lanes pay
constexpr std::int64_t resident = 8;           // other kernels' blocks of a multiprocessor

__device__ void take_turn() {
  cuda::await_predecessor();
  cuda::release_successor();
}

__device__ void hold(ColumnState &own, Report &report, Ended ended) {
  own.control.ended = ended;
  report = {own.control.k, ended, 0};
}

// One thread a column: what the numbers of iterate k say, as of one right-hand side (scalars.cu).
__device__ void judge_column(const ColumnWork &w, int column, const double (&v)[sums]) {
  ColumnState &own = w.states->of[column];
  Control &c = own.control;
  Report &report = w.reports[column];
  const double p_q = v[0], r_q = v[1], q_q = v[2], gamma = v[3];
  const pcg::Limits limits = pcg::limits_of(is_single(w.type));
  own.fresh = 0;
  w.squared_residuals[column * w.room + c.k % w.room] = gamma;
  Ended ended = pcg::judge(c, c.k, gamma, limits);
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

__global__ void configure_kernel(ColumnStates *states, const __grid_constant__ ColumnRequests requests) {
  ColumnState &own = states->of[threadIdx.x];
  if (requests.asked[threadIdx.x]) {
    take_in(requests.of[threadIdx.x], own.control);
    if (requests.of[threadIdx.x].evaluate) own.fresh = 1;
  } else {
    own.control.ended = Ended::at_last;  // nobody's, or nobody's any more
  }
  const unsigned going = __ballot_sync(0xffffffffu, own.control.ended == Ended::running);
  if (threadIdx.x == 0) states->going = __popc(going), states->arrived = 0;
}

// ---- product and inner products

// So many neighbouring values in one access.
template <class T, int size>
struct alignas(size * sizeof(T)) Neighbours {
  T value[size];
};
// Columns that a lane has: what it reads of a row in one access.
constexpr int columns_a_lane(int width) { return width < 2 ? width : 2; }

// Sums of the lanes' columns over the block, to partials[block][sum][column]. Lanes with the same columns are `team`
// apart.
template <int width, int team, int own>
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

// The last block to arrive adds up what all have left, always in the same order, and judges.
template <int width>
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

// A row by `lanes` threads: as many as its columns take, several times, each time for a share of the entries.
template <class T, int width, int lanes>
__global__ void __launch_bounds__(product_threads, 1) product(const __grid_constant__ ColumnWork w, bool fresh) {
  take_turn();
  if (w.states->going == 0) return;
  constexpr int own = columns_a_lane(width), team = width / own, sharing = lanes / team, rows = product_threads / lanes;
  using Values = Neighbours<T, own>;
  const int lane = static_cast<int>(threadIdx.x) % lanes, share = lane / team;
  const T *const values = static_cast<const T *>(w.values);
  const auto at = [&](const void *block, std::int64_t row) {
    return reinterpret_cast<const Values *>(static_cast<const T *>(block) + row * width) + lane % team;
  };
  double s[sums][own] = {};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * rows;
  // All lanes of a warp take part in the exchanges.
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows; first < w.n; first += stride) {
    const std::int64_t row = first + static_cast<int>(threadIdx.x) / lanes;
    const bool there = row < w.n, mine = there && share == 0;
    const std::int32_t begin = there ? w.row_ptr[row] : 0, end = there ? w.row_ptr[row + 1] : 0;
    Values pi{}, ri{}, sum{};
    if (mine) pi = *at(w.p, row), ri = *at(w.r, row);
    for (std::int32_t k = begin + share; k < end; k += ahead * sharing) {
      T a[ahead];
      Values p[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u) {  // beyond the end: 0 times the first entry of these
        const std::int32_t entry = k + u * sharing;
        a[u] = entry < end ? __ldg(values + entry) : T(0);
        p[u] = *at(w.p, __ldg(w.col + (entry < end ? entry : k)));
      }
#pragma unroll
      for (int u = 0; u < ahead; ++u)
#pragma unroll
        for (int c = 0; c < own; ++c) sum.value[c] = fma(a[u], p[u].value[c], sum.value[c]);
    }
#pragma unroll
    for (int c = 0; c < own; ++c)
#pragma unroll
      for (int step = team; step < lanes; step *= 2) sum.value[c] += __shfl_xor_sync(0xffffffffu, sum.value[c], step);
    if (!mine) continue;
    *const_cast<Values *>(at(w.q, row)) = sum;
#pragma unroll
    for (int c = 0; c < own; ++c) {
      const double p = pi.value[c], q = sum.value[c], r = ri.value[c];
      s[0][c] += p * q;
      s[1][c] += r * q;
      s[2][c] += q * q;
      s[3][c] += r * r;
    }
  }
  leave_sums<width, team>(w, s);
  finish_sums<width>(w, fresh);
}

// ---- element by element

template <class T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T value[size];
};

// f(k, column) for each value of a thread's packs: their columns are the same in all of them.
template <class T>
struct Columns {
  std::int64_t first, count, stride;
  int column[Pack<T>::size];
  __device__ explicit Columns(const ColumnWork &w) {
    first = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    stride = static_cast<std::int64_t>(gridDim.x) * threads;
    count = (w.n * w.width + Pack<T>::size - 1) / Pack<T>::size;
    for (int k = 0; k < Pack<T>::size; ++k) column[k] = static_cast<int>((first * Pack<T>::size + k) % w.width);
  }
};

template <class T>
__global__ void __launch_bounds__(threads) begin(const __grid_constant__ ColumnWork w) {
  take_turn();
  const Columns<T> c(w);
  bool mine[Pack<T>::size], any = false;
  for (int k = 0; k < Pack<T>::size; ++k) {
    const ColumnState &own = w.states->of[c.column[k]];
    any |= mine[k] = own.fresh && own.control.restart;
  }
  if (!any) return;
  auto *const p = static_cast<Pack<T> *>(w.p);
  const auto *const r = static_cast<const Pack<T> *>(w.r);
  for (std::int64_t i = c.first; i < c.count; i += c.stride) {
    Pack<T> pi = p[i];
    const Pack<T> ri = r[i];
#pragma unroll
    for (int k = 0; k < Pack<T>::size; ++k) pi.value[k] = mine[k] ? ri.value[k] : pi.value[k];
    p[i] = pi;
  }
}

template <class T>
__global__ void __launch_bounds__(threads) step(const __grid_constant__ ColumnWork w) {
  take_turn();
  const Columns<T> c(w);
  constexpr int size = Pack<T>::size;
  bool goes[size], any = false;
  T alpha[size], beta[size];
  for (int k = 0; k < size; ++k) {
    const ColumnState &own = w.states->of[c.column[k]];
    any |= goes[k] = own.control.ended == Ended::running;
    alpha[k] = static_cast<T>(own.alpha);
    beta[k] = static_cast<T>(own.beta);
  }
  if (!any) return;
  auto *const xs = static_cast<Pack<T> *>(w.x), *const rs = static_cast<Pack<T> *>(w.r),
              *const ps = static_cast<Pack<T> *>(w.p);
  const auto *const qs = static_cast<const Pack<T> *>(w.q);
  for (std::int64_t i = c.first; i < c.count; i += c.stride) {
    Pack<T> x = xs[i], r = rs[i], p = ps[i];
    const Pack<T> q = qs[i];
#pragma unroll
    for (int k = 0; k < size; ++k) {  // a column that stands still may hold anything: nothing of it is computed with
      x.value[k] = goes[k] ? fma(alpha[k], p.value[k], x.value[k]) : x.value[k];
      r.value[k] = goes[k] ? fma(-alpha[k], q.value[k], r.value[k]) : r.value[k];
      p.value[k] = goes[k] ? fma(beta[k], p.value[k], r.value[k]) : p.value[k];
    }
    xs[i] = x;
    rs[i] = r;
    ps[i] = p;
  }
}

// ---- in and out

template <class T>
__global__ void __launch_bounds__(threads)
    enter(const __grid_constant__ ColumnWork w, const __grid_constant__ ColumnSources sources) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= w.n) return;
  for (int j = 0; j < w.width; ++j) {
    const std::int64_t at = i * w.width + j;
    static_cast<T *>(w.r)[at] = sources.b[j] ? static_cast<const T *>(sources.b[j])[i] : T(0);
    static_cast<T *>(w.x)[at] = sources.x[j] ? static_cast<const T *>(sources.x[j])[i] : T(0);
    static_cast<T *>(w.p)[at] = 0;
  }
}

template <class T>
__global__ void __launch_bounds__(threads) leave(const __grid_constant__ ColumnWork w, int column, T *x) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < w.n) x[i] = static_cast<const T *>(w.x)[i * w.width + column];
}

template <class T>
__global__ void __launch_bounds__(threads) residual(const __grid_constant__ ColumnWork w, int column, const T *b) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= w.n) return;
  const T *const x = static_cast<const T *>(w.x) + column, *const values = static_cast<const T *>(w.values);
  T sum = b[i];
  for (std::int32_t k = w.row_ptr[i]; k < w.row_ptr[i + 1]; ++k)
    sum = fma(-values[k], x[static_cast<std::int64_t>(w.col[k]) * w.width], sum);
  static_cast<T *>(w.r)[i * w.width + column] = sum;
}

// ---- launches

// f(T{}) with the vectors' type.
template <class F>
void with_type(const ColumnWork &w, F &&f) {
  if (w.type == SXT_F32)
    f(float{});
  else
    f(double{});
}
// The least number of lanes for a row of so many columns.
constexpr int least_lanes(int width) { return std::max(few_lanes, width / columns_a_lane(width)); }

// f(the product's kernel).
template <class T, int width, class F>
void with_lanes(const ColumnWork &w, F &&f) {
  if (w.lanes == many_lanes)
    f(product<T, width, many_lanes>);
  else
    f(product<T, width, least_lanes(width)>);
}
template <class F>
void with_product(const ColumnWork &w, F &&f) {
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
    switch (w.width) {
      case 1: return with_lanes<T, 1>(w, f);
      case 2: return with_lanes<T, 2>(w, f);
      case 4: return with_lanes<T, 4>(w, f);
      case 8: return with_lanes<T, 8>(w, f);
      case 16: return with_lanes<T, 16>(w, f);
      default: return with_lanes<T, 32>(w, f);
    }
  });
}

template <class... Parameters, class... Arguments>
void launch_early(const sxt_exec &exec, std::int32_t blocks, int block_threads, void (*kernel)(Parameters...),
                  const Arguments &...args) {
  const sxt_status status =
      cuda::launch_chained(&exec, true, "a kernel of an iteration", kernel, static_cast<unsigned>(blocks),
                           static_cast<unsigned>(block_threads), 0, args...);
  if (status != SXT_OK) throw cuda::Failure(status, "a kernel of an iteration could not be launched");
}

unsigned row_blocks(const ColumnWork &w) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, (w.n + threads - 1) / threads));
}

std::int32_t blocks_for(std::int64_t wanted, std::int64_t most) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(wanted, 1, most));
}

}  // namespace

void shape_kernels(ColumnWork &w, std::int64_t nnz, std::int32_t units) {
  w.lanes = nnz >= long_row * w.n ? many_lanes : least_lanes(w.width);
  w.blocks = blocks_for((w.n * w.lanes + product_threads - 1) / product_threads, units);
  w.step_blocks =
      blocks_for((w.n * w.width * (w.type == SXT_F32 ? 4 : 8) / 16 + threads - 1) / threads, resident * units);
}

void load_column_kernels(const ColumnWork &w, const sxt_exec &exec) {
  const auto load = [&](auto *kernel) {
    if (const sxt_status status = cuda::load(&exec, kernel); status != SXT_OK)
      throw cuda::Failure(status, "the code of an iteration could not be loaded");
  };
  load(configure_kernel);
  with_product(w, load);
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
    load(begin<T>);
    load(step<T>);
    load(enter<T>);
    load(leave<T>);
    load(residual<T>);
  });
}

void configure_columns(const ColumnWork &w, const ColumnRequests &requests, const sxt_exec &exec) {
  configure_kernel<<<1, most_columns, 0, cuda::stream_of(exec)>>>(w.states, requests);
  cuda::need_launch("the requests of a block");
}
void enter_columns(const ColumnWork &w, const ColumnSources &sources, const sxt_exec &exec) {
  with_type(w,
            [&](auto tag) { enter<decltype(tag)><<<row_blocks(w), threads, 0, cuda::stream_of(exec)>>>(w, sources); });
  cuda::need_launch("right-hand sides' way in");
}
void leave_column(const ColumnWork &w, std::int32_t column, void *x, const sxt_exec &exec) {
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
    leave<T><<<row_blocks(w), threads, 0, cuda::stream_of(exec)>>>(w, column, static_cast<T *>(x));
  });
  cuda::need_launch("a solution's way out");
}
void column_residual(const ColumnWork &w, std::int32_t column, const void *b, const sxt_exec &exec) {
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
    residual<T><<<row_blocks(w), threads, 0, cuda::stream_of(exec)>>>(w, column, static_cast<const T *>(b));
  });
  cuda::need_launch("the residual of a column");
}
void begin_columns(const ColumnWork &w, const sxt_exec &exec) {
  with_type(w, [&](auto tag) { launch_early(exec, w.step_blocks, threads, begin<decltype(tag)>, w); });
}
void evaluate_columns(const ColumnWork &w, bool fresh, const sxt_exec &exec) {
  with_product(w, [&](auto *kernel) { launch_early(exec, w.blocks, product_threads, kernel, w, fresh); });
}
void step_columns(const ColumnWork &w, const sxt_exec &exec) {
  with_type(w, [&](auto tag) { launch_early(exec, w.step_blocks, threads, step<decltype(tag)>, w); });
}

}  // namespace graph
