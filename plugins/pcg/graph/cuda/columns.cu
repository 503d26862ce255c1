// SPDX-License-Identifier: BSD-3-Clause
// The kernels of one or several right-hand sides. The product reads A once for all columns, multiplies an entry by a
// whole row of p in adjacent lanes, and forms the inner products in the same pass; a row of a column costs it p, r and
// q, and the step four values read and three written. Bound by bandwidth, or on short columns by the latency of two
// launches. Where A is Hermitian all inner products are real, so that complex vectors are, but for the product, real
// ones of twice the length.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "columns.hpp"
#include "columns_sums.cuh"
#include "requests.cuh"
#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/cuda/sums.hpp"

namespace graph {
namespace {

namespace cuda = sextant::plugin::cuda;

constexpr int threads = 256;
constexpr std::int64_t resident = 8;  // other kernels' blocks of a multiprocessor

__global__ void configure_kernel(ColumnStates *states, const __grid_constant__ ColumnRequests requests) {
  ColumnState &own = states->of[threadIdx.x];
  if (requests.asked[threadIdx.x]) {
    take_in(requests.of[threadIdx.x], own.control);
    if (requests.of[threadIdx.x].evaluate) own.fresh = 1;
  } else {
    own.control.ended = Ended::at_last;  // unused, or ended
  }
  const unsigned going = __ballot_sync(0xffffffffu, own.control.ended == Ended::running);
  if (threadIdx.x == 0) states->going = __popc(going), states->arrived = 0;
}

// ---- product and inner products

// A row by `lanes` threads: as many as its columns need, several times, each time for a share of the entries.
template <class T, int width, int lanes>
__global__ void __launch_bounds__(product_threads, 1) product(const __grid_constant__ ColumnWork w, bool fresh) {
  take_turn();
  if (w.states->going == 0) return;
  constexpr int own = columns_a_lane(width, sizeof(T)), team = width / own, sharing = lanes / team,
                rows = product_threads / lanes;
  constexpr int sums = 4;
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
    // Unsigned: the position after the last of 2^31 entries must be representable.
    const std::uint32_t begin = there ? w.row_ptr[row] : 0, end = there ? w.row_ptr[row + 1] : 0;
    Values pi{}, ri{}, sum{};
    if (mine && !w.t) pi = *at(w.p, row), ri = *at(w.r, row);
    for (std::uint32_t k = begin + share; k < end; k += ahead * sharing) {
      T a[ahead];
      Values p[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u) {  // beyond the end: 0 times the first entry of these
        const std::uint32_t entry = k + u * sharing;
        a[u] = entry < end ? cuda::read_only(values + entry) : T{};
        p[u] = *at(w.p, __ldg(w.col + (entry < end ? entry : k)));
      }
#pragma unroll
      for (int u = 0; u < ahead; ++u)
#pragma unroll
        for (int c = 0; c < own; ++c) sum.value[c] = cuda::multiply_add(a[u], p[u].value[c], sum.value[c]);
    }
#pragma unroll
    for (int c = 0; c < own; ++c)
#pragma unroll
      for (int step = team; step < lanes; step *= 2)
        sum.value[c] = cuda::plus(sum.value[c], cuda::from_lane(sum.value[c], step));
    if (!mine) continue;
    *const_cast<Values *>(at(w.q, row)) = sum;
#pragma unroll
    for (int c = 0; c < own; ++c) {
      const T p = pi.value[c], q = sum.value[c], r = ri.value[c];
      s[0][c] += real_product(p, q);
      s[1][c] += real_product(r, q);
      s[2][c] += real_product(q, q);
      s[3][c] += real_product(r, r);
    }
  }
  if (w.t) return;
  leave_sums<width, team>(w, s);
  finish_sums<width, sums>(w, fresh);
}

// With M: only the inner products, a row by as many threads as its columns need.
template <class T, int width>
__global__ void __launch_bounds__(product_threads, 1) inner_products(const __grid_constant__ ColumnWork w, bool fresh) {
  take_turn();
  if (w.states->going == 0) return;
  constexpr int own = columns_a_lane(width, sizeof(T)), team = width / own, rows = product_threads / team, sums = 5;
  using Values = Neighbours<T, own>;
  const int lane = static_cast<int>(threadIdx.x) % team;
  double s[sums][own] = {};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * rows;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * rows + static_cast<int>(threadIdx.x) / team;
       row < w.n; row += stride) {
    const auto at = [&](const void *block) {
      return reinterpret_cast<const Values *>(static_cast<const T *>(block) + row * width)[lane];
    };
    const Values p = at(w.p), q = at(w.q), r = at(w.r), z = at(w.z), t = at(w.t);
#pragma unroll
    for (int c = 0; c < own; ++c) {
      s[0][c] += real_product(p.value[c], q.value[c]);
      s[1][c] += real_product(z.value[c], q.value[c]);
      s[2][c] += real_product(q.value[c], t.value[c]);
      s[3][c] += real_product(z.value[c], r.value[c]);
      s[4][c] += real_product(r.value[c], r.value[c]);
    }
  }
  leave_sums<width, team>(w, s);
  finish_sums<width, sums>(w, fresh);
}

// ---- part by part: T is real, and complex values are two each

template <class T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T value[size];
};

// f(k, column) for each part of a thread's packs: their columns are the same in all of them.
template <class T>
struct Columns {
  std::int64_t first, count, stride;
  int column[Pack<T>::size];
  __device__ explicit Columns(const ColumnWork &w) {
    const int parts = parts_of(w.type);
    first = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    stride = static_cast<std::int64_t>(gridDim.x) * threads;
    count = (w.n * w.width * parts + Pack<T>::size - 1) / Pack<T>::size;
    for (int k = 0; k < Pack<T>::size; ++k) column[k] = static_cast<int>((first * Pack<T>::size + k) / parts % w.width);
  }
};

template <class T>
__global__ void __launch_bounds__(threads) begin(const __grid_constant__ ColumnWork w) {
  take_turn();
  const Columns<T> c(w);
  bool mine[Pack<T>::size], fresh[Pack<T>::size], any = false;
  for (int k = 0; k < Pack<T>::size; ++k) {
    const ColumnState &own = w.states->of[c.column[k]];
    fresh[k] = own.fresh != 0;
    mine[k] = fresh[k] && own.control.restart;
    any |= w.t ? fresh[k] : mine[k];
  }
  if (!any) return;
  auto *const ps = static_cast<Pack<T> *>(w.p), *const zs = static_cast<Pack<T> *>(w.z);
  const auto *const residuals = static_cast<const Pack<T> *>(w.t ? w.t : w.r);
  for (std::int64_t i = c.first; i < c.count; i += c.stride) {
    Pack<T> p = ps[i];
    const Pack<T> r = residuals[i];
#pragma unroll
    for (int k = 0; k < Pack<T>::size; ++k) p.value[k] = mine[k] ? r.value[k] : p.value[k];
    ps[i] = p;
    if (!zs) continue;
    Pack<T> z = zs[i];
#pragma unroll
    for (int k = 0; k < Pack<T>::size; ++k) z.value[k] = fresh[k] ? r.value[k] : z.value[k];
    zs[i] = z;
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
              *const ps = static_cast<Pack<T> *>(w.p), *const zs = static_cast<Pack<T> *>(w.z);
  const auto *const qs = static_cast<const Pack<T> *>(w.q), *const ts = static_cast<const Pack<T> *>(w.t);
  for (std::int64_t i = c.first; i < c.count; i += c.stride) {
    Pack<T> x = xs[i], r = rs[i], p = ps[i], z;
    const Pack<T> q = qs[i];
    if (zs) {
      const Pack<T> t = ts[i];
      z = zs[i];
#pragma unroll
      for (int k = 0; k < size; ++k) z.value[k] = goes[k] ? fma(-alpha[k], t.value[k], z.value[k]) : z.value[k];
      zs[i] = z;
    }
#pragma unroll
    for (int k = 0; k < size; ++k) {  // a column that has ended may hold any numbers: they are not used
      x.value[k] = goes[k] ? fma(alpha[k], p.value[k], x.value[k]) : x.value[k];
      r.value[k] = goes[k] ? fma(-alpha[k], q.value[k], r.value[k]) : r.value[k];
      p.value[k] = goes[k] ? fma(beta[k], p.value[k], zs ? z.value[k] : r.value[k]) : p.value[k];
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
    static_cast<T *>(w.r)[at] = sources.b[j] ? static_cast<const T *>(sources.b[j])[i] : T{};
    static_cast<T *>(w.x)[at] = sources.x[j] ? static_cast<const T *>(sources.x[j])[i] : T{};
    static_cast<T *>(w.p)[at] = T{};
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
    sum = cuda::minus(sum, cuda::times(values[k], x[static_cast<std::int64_t>(w.col[k]) * w.width]));
  static_cast<T *>(w.r)[i * w.width + column] = sum;
}

// ---- launches

// f(T{}) with the vectors' type.
template <class F>
void with_type(const ColumnWork &w, F &&f) {
  if (cuda::with_number(w.type, [&](auto tag) { return f(typename decltype(tag)::type{}), SXT_OK; }) != SXT_OK)
    throw cuda::Failure(SXT_E_TYPE, "value type %d is unknown", static_cast<int>(w.type));
}
// The same with the type of its parts.
template <class F>
void with_parts(const ColumnWork &w, F &&f) {
  with_type(w, [&](auto tag) { f(cuda::Real<decltype(tag)>{}); });
}
// f(the product's kernel).
template <class T, int width, class F>
void with_lanes(const ColumnWork &w, F &&f) {
  if (w.lanes == many_lanes) return f(product<T, width, many_lanes>);
  if constexpr (width == 1)
    if (w.lanes == some_lanes) return f(product<T, width, some_lanes>);
  f(product<T, width, least_lanes(width, sizeof(T))>);
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

// f(the kernel of the inner products).
template <class F>
void with_inner_products(const ColumnWork &w, F &&f) {
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
    switch (w.width) {
      case 1: return f(inner_products<T, 1>);
      case 2: return f(inner_products<T, 2>);
      case 4: return f(inner_products<T, 4>);
      case 8: return f(inner_products<T, 8>);
      case 16: return f(inner_products<T, 16>);
      default: return f(inner_products<T, 32>);
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
  const auto bytes = static_cast<std::int64_t>(sextant::plugin::value_bytes(w.type));
  w.lanes = lanes_for(w.n, nnz, units, w.width, static_cast<std::uint64_t>(bytes));
  w.blocks = blocks_for((w.n * w.lanes + product_threads - 1) / product_threads, units);
  w.step_blocks = blocks_for((w.n * w.width * bytes / 16 + threads - 1) / threads, resident * units);
}

void load_column_kernels(const ColumnWork &w, const sxt_exec &exec) {
  const auto load = [&](auto *kernel) {
    if (const sxt_status status = cuda::load(&exec, kernel); status != SXT_OK)
      throw cuda::Failure(status, "the code of an iteration could not be loaded");
  };
  load(configure_kernel);
  with_product(w, load);
  if (w.z) with_inner_products(w, load);
  with_parts(w, [&](auto tag) {
    load(begin<decltype(tag)>);
    load(step<decltype(tag)>);
  });
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
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
  cuda::need_launch("the copy of right-hand sides");
}
void leave_column(const ColumnWork &w, std::int32_t column, void *x, const sxt_exec &exec) {
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
    leave<T><<<row_blocks(w), threads, 0, cuda::stream_of(exec)>>>(w, column, static_cast<T *>(x));
  });
  cuda::need_launch("the copy of a solution");
}
void column_residual(const ColumnWork &w, std::int32_t column, const void *b, const sxt_exec &exec) {
  with_type(w, [&](auto tag) {
    using T = decltype(tag);
    residual<T><<<row_blocks(w), threads, 0, cuda::stream_of(exec)>>>(w, column, static_cast<const T *>(b));
  });
  cuda::need_launch("the residual of a column");
}
void begin_columns(const ColumnWork &w, const sxt_exec &exec) {
  with_parts(w, [&](auto tag) { launch_early(exec, w.step_blocks, threads, begin<decltype(tag)>, w); });
}
void evaluate_columns(const ColumnWork &w, bool fresh, const sxt_exec &exec) {
  with_product(w, [&](auto *kernel) { launch_early(exec, w.blocks, product_threads, kernel, w, fresh); });
}
void judge_columns(const ColumnWork &w, bool fresh, const sxt_exec &exec) {
  with_inner_products(w, [&](auto *kernel) { launch_early(exec, w.blocks, product_threads, kernel, w, fresh); });
}
void step_columns(const ColumnWork &w, const sxt_exec &exec) {
  with_parts(w, [&](auto tag) { launch_early(exec, w.step_blocks, threads, step<decltype(tag)>, w); });
}

}  // namespace graph
