// SPDX-License-Identifier: BSD-3-Clause
// spmv.hyb.cuda: y = alpha A x + beta y with HYB in one launch. A block has 256 rows: a thread takes the regular part
// of one, then the block's warps share its coordinates evenly and add runs of one row by segmented sums
// (plugins/formats/cuda/segments.hpp). Bound: memory, (value + 4) bytes a stored entry, (value + 8) a coordinate, or
// the sectors of x. Deterministic: the distribution of entries depends only on the matrix.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/formats/cuda/ell_rows.hpp"
#include "plugins/formats/cuda/plain_product.hpp"
#include "plugins/formats/cuda/segments.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_hyb_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

constexpr int block_rows = 256, warps = block_rows / 32;

// ---- device side

template <class M>
struct Coordinates {
  const std::int32_t *row, *col;
  const M *values;
  std::int64_t count;
  const std::int64_t *begin;  // of each block of rows, and the end
};

// The first coordinate of row 256 k or a later one.
struct FindBlocks {
  const std::int32_t *row;
  std::int64_t count;
  std::int64_t *begin;
  __device__ void operator()(std::int64_t k) const {
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (row[middle] < k * block_rows)
        low = middle + 1;
      else
        high = middle;
    }
    begin[k] = low;
  }
};

// The results of a warp's share: the sum of a row that another warp has begun, and the sums of the rows that begin in
// it.
template <class V>
struct Sums {
  V row[block_rows], head[warps];
  std::int32_t head_row[warps];  // -1: none
};

// One warp's coordinates begin .. end-1 of a block whose coordinates begin at `first`.
template <class V, class M>
__device__ __forceinline__ void sum_share(const Coordinates<M> &a, const V *x, std::int64_t first, std::int64_t begin,
                                          std::int64_t end, Sums<V> &sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int32_t head_row = begin > first && a.row[begin] == a.row[begin - 1] ? a.row[begin] : -1;
  if (lane == 0 && head_row >= 0) sums.head_row[warp] = head_row;
  const auto close = [&](std::int32_t row, const V(&sum)[1]) {
    if (row == head_row)
      sums.head[warp] = sum[0];
    else
      sums.row[row % block_rows] = sum[0];
  };
  V open[1] = {};
  std::int32_t last_row = -1;  // of the entry before the chunk
  for (std::int64_t chunk = begin / lane_entries * lane_entries; chunk < end; chunk += chunk_entries) {
    const std::int64_t k = chunk + lane * lane_entries;
    std::int32_t row[lane_entries], col[lane_entries], ended[lane_entries];
    M value[lane_entries];
    load_four(a.col, k, a.count, col);
    load_four(a.row, k, a.count, row);
    load_four(a.values, k, a.count, value);
    const std::int32_t below = __shfl_up_sync(whole_warp, row[lane_entries - 1], 1);
    V product[lane_entries][1];
    bool start[lane_entries];
#pragma unroll
    for (int j = 0; j < lane_entries; ++j) {
      const bool leads = k + j == begin, in = k + j >= begin && k + j < end;
      product[j][0] = in ? times(convert<V>(value[j]), x[col[j]]) : V{};
      ended[j] = leads ? -1 : j ? row[j > 0 ? j - 1 : 0] : lane ? below : last_row;
      start[j] = in && (leads ? head_row < 0 : row[j] != ended[j]);
    }
    sum_chunk(product, start, ended, lane, open, close);
    last_row = __shfl_sync(whole_warp, row[lane_entries - 1], 31);
  }
  if (lane == 0) close(a.row[end - 1], open);
}

// The coordinates' part of row i. Every thread of the block calls.
template <class V, class M>
__device__ __forceinline__ V rest_of_row(const Coordinates<M> &a, const V *x, Sums<V> &sums) {
  const std::int64_t first = a.begin[blockIdx.x], last = a.begin[blockIdx.x + 1];
  if (first == last) return V{};  // the same in every thread
  const int warp = threadIdx.x / 32;
  sums.row[threadIdx.x] = V{};
  if (threadIdx.x < warps) sums.head_row[threadIdx.x] = -1;
  __syncthreads();
  // Whole groups of four entries, so that loads stay aligned.
  const std::int64_t groups = (last + 3) / 4 - first / 4, share = (groups + warps - 1) / warps;
  const std::int64_t from = (first / 4 + warp * share) * 4, begin = max(first, from), end = min(last, from + 4 * share);
  if (begin < end) sum_share(a, x, first, begin, end, sums);
  __syncthreads();
  V sum = sums.row[threadIdx.x];
  const auto row = static_cast<std::int32_t>(blockIdx.x * block_rows + threadIdx.x);
#pragma unroll
  for (int w = 1; w < warps; ++w)
    if (sums.head_row[w] == row) sum = plus(sum, sums.head[w]);
  return sum;
}

template <class M>
struct HybArrays {
  EllArrays<M> regular;
  Coordinates<M> rest;
};

template <class V, class M, int flight>
__global__ void __launch_bounds__(block_rows, 3) multiply(HybArrays<M> a, Product<V> p) {
  __shared__ Sums<V> sums;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_rows + threadIdx.x;
  V alpha, beta;
  V sum = ell_row<flight>(a.regular, i, p.x, [&] {
    await_predecessor();
    release_successor();
    alpha = p.alpha(), beta = p.beta();
  });
  if (a.rest.count > 0) sum = plus(sum, rest_of_row(a.rest, p.x, sums));
  if (i < a.regular.rows) store(p.y + i, sum, alpha, beta);
}

// ---- host side

const char *const storages[] = {SXT_KIND_STORAGE_HYB, nullptr};
const char *const features[] = {SXT_CUDA_X_FEATURES(1), "hyb_width",           "hyb_rest",
                                "row_nnz_max",          "row_nnz_most_of_256", nullptr};
enum { feature_width = n_cuda_x_features, feature_rest, feature_row_max, feature_block };

struct State : PlainState<sxt_hyb> {
  using PlainState::PlainState;
  DeviceArray begin;  // of the coordinates of each block of rows
};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  const sxt_status status = check_ell_query(q, reason);
  return status == SXT_OK ? check_narrow(q.m, reason) : status;
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double rows = static_cast<double>(q.m.rows), nnz = static_cast<double>(q.m.nnz);
  const double value = static_cast<double>(value_bytes(q.m.matrix_type)), mean = rows > 0 ? nnz / rows : 0;
  const double width = feature_or(found, feature_width, mean), rest = feature_or(found, feature_rest, nnz / 8);
  const double regular = width * rows, blocks = std::ceil(rows / block_rows);
  SpmvCost cost;
  cost.launches = cost.passes = q.n_rhs;
  cost.lanes = regular + rest;
  cost.matrix_bytes = regular * (value + 4) + rest * (value + 8);
  cost.warp_steps = std::ceil(regular / 32) + 4 * std::ceil(rest / 32);
  add_x_cost(cost, q, found, 0, *machine);
  cost.chain = ell_rounds(width);
  cost.threads = block_rows;
  // One block has the coordinates of the longest row and of rows near it, or most of those of the fullest rows.
  const double longest = std::max(0.0, feature_or(found, feature_row_max, 4 * mean) - width);
  const double fullest = feature_or(found, feature_block, block_rows * mean) - block_rows * width;
  const double busiest = std::min(rest, std::max(longest + rest / std::max(1.0, blocks), fullest));
  cost.busiest = rest > 0 ? 1 + busiest / (warps * chunk_entries) : 0;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = fill_spmv(list.add(), q, *machine, blocks, cost);
  candidate.launch[1] = block_rows;
  candidate.launch[3] = may_start_early(*machine);
  candidate.setup_s = 2e-5;
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(blocks + 1) * sizeof(std::int64_t);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) {
    const auto &a = as<sxt_hyb>(problem->a);
    if (a.ell.s.index_type != SXT_I32) throw Failure(SXT_E_NOT_SUPPORTED, "spmv.hyb.cuda reads 32-bit columns");
    static_cast<PlainState<sxt_hyb> &>(state) = {*problem, candidate};
    state.threads = block_rows;
    if (a.coo.s.nnz == 0) return SXT_OK;
    const std::int64_t borders = divide_up<std::int64_t>(a.ell.s.rows, block_rows) + 1;
    state.begin = DeviceArray(exec, borders * sizeof(std::int64_t), "the borders of coordinates");
    visit_all(exec, borders,
              FindBlocks{static_cast<const std::int32_t *>(a.coo.row), a.coo.s.nnz, state.begin.as<std::int64_t>()});
    return SXT_OK;
  });
}

struct Hyb {
  using State = spmv_hyb_cuda::State;
  static constexpr const char *name = "spmv.hyb.cuda", *what = "a product with HYB";
  static std::int64_t blocks(const State &state) { return divide_up<std::int64_t>(state.a->ell.s.rows, block_rows); }
  template <class M>
  static HybArrays<M> arrays(const State &state) {
    const sxt_hyb &a = *state.a;
    return {ell_arrays<M>(a.ell),
            {static_cast<const std::int32_t *>(a.coo.row), static_cast<const std::int32_t *>(a.coo.col),
             static_cast<const M *>(a.coo.values), a.coo.s.nnz, state.begin.template as<std::int64_t>()}};
  }
  template <class F>
  static sxt_status with_kernel(const State &state, F &&f) {
    return with_real_pair(state.type, state.a->ell.s.value_type, [&](auto v, auto m) {
      return with_ell_flight(state.a->ell.width, [&](auto flight) {
        return f(multiply<typename decltype(v)::type, typename decltype(m)::type, decltype(flight)::value>, v, m);
      });
    });
  }
};

const sxt_kernel kernel = [] {
  sxt_kernel k = plain_kernel<Hyb>("HYB: a thread a row, then the block's coordinates by segmented sums");
  k.storages = storages;
  k.features = features;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_hyb_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::spmv_hyb_cuda::kernel>("spmv-hyb-cuda", out);
}
