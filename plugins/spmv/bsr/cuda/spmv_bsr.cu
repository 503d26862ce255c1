// SPDX-License-Identifier: BSD-3-Clause
// spmv.bsr.cuda: y = alpha A x + beta y with dense blocks of 2 to 8, a warp a block row. The lanes in use are a
// multiple of the block's edge and read consecutive values, so a lane stays in one row of the blocks; at the end the
// lanes of a row are added by a tree. Bound: memory, value + 4 / edge^2 bytes a stored place, 2 flops. Deterministic.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/formats/bsr.hpp"
#include "plugins/formats/cuda/ell_rows.hpp"
#include "plugins/formats/cuda/plain_product.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_bsr_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

// ---- device side

template <class M>
struct Blocks {
  const std::int32_t *row_ptr, *col;
  const M *values;
  std::int64_t block_rows, rows, cols;
};

// The sum over lanes that lie `edge` apart, in the first `edge` lanes.
template <int edge, class V>
__device__ __forceinline__ V add_lanes(V sum) {
  constexpr int members = 32 / edge;
  const int member = threadIdx.x % 32 / edge;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    if (d >= members) continue;
    const V other = __shfl_down_sync(0xffffffffu, sum, d * edge);
    if (member < d && member + d < members) sum = plus(sum, other);
  }
  return sum;
}

template <class V, class M, int edge>
__global__ void __launch_bounds__(512) multiply(Blocks<M> a, Product<V> p) {
  constexpr int lanes = 32 / edge * edge, places = edge * edge, flight = 4;
  const int lane = threadIdx.x % 32;
  const std::int64_t block_row = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const bool there = block_row < a.block_rows;
  const std::int64_t first = there ? __ldg(a.row_ptr + block_row) : 0,
                     last = there ? __ldg(a.row_ptr + block_row + 1) : 0;
  // Places of the block row: fewer than 2^31, as columns are fewer than 2^28.
  const int count = static_cast<int>(last - first) * places, end = lane < lanes ? count : 0;
  const M *values = a.values + first * places;
  const std::int32_t *col = a.col + first;
  V sum{}, alpha, beta;
  bool begun = false;
  int at = lane;
#pragma unroll 1
  do {
    M value[flight];
    std::int32_t column[flight];  // of the block, then of the place
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const int k = at + f * lanes;
      value[f] = k < end ? streamed(values + k) : M{};
      column[f] = k < end ? __ldg(col + k / places) * edge + k % places / edge : 0;
    }
    if (!begun) {
      await_predecessor();
      release_successor();
      alpha = p.alpha(), beta = p.beta(), begun = true;
    }
    V x[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f) x[f] = at + f * lanes < end && column[f] < a.cols ? p.x[column[f]] : V{};
#pragma unroll
    for (int f = 0; f < flight; ++f) sum = multiply_add(convert<V>(value[f]), x[f], sum);
    at += flight * lanes;
  } while (at - lane < count);
  __syncwarp();
  sum = add_lanes<edge>(sum);
  const std::int64_t i = block_row * edge + lane;
  if (there && lane < edge && i < a.rows) store(p.y + i, sum, alpha, beta);
}

// ---- host side

const char *const storages[] = {SXT_KIND_STORAGE_BSR, nullptr};
const char *const features[] = {SXT_BSR_FEATURES, SXT_CUDA_X_FEATURES(32), SXT_FULLEST_BLOCK_ROW_FEATURES, nullptr};
constexpr std::uint64_t feature_x = n_bsr_features,
                        feature_fullest = feature_x + n_cuda_x_features;  // behind the fills

using State = PlainState<sxt_bsr>;

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (const sxt_status status = check_ell_query(q, reason); status != SXT_OK) return status;
  if (q.m.cols >= std::int64_t{1} << 28)
    return refuse(reason, "%lld columns: a row of blocks could have 2^31 places", (long long)q.m.cols);
  return bsr_refusal(q.m, bsr_choice(q.m, found), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double stored = static_cast<double>(value_bytes(q.m.matrix_type)), nnz = static_cast<double>(q.m.nnz);
  const double rows = static_cast<double>(q.m.rows);
  const BsrChoice choice = bsr_choice(q.m, found);
  // Unknown: as if it moved what compressed rows move.
  const int edge = choice.block ? choice.block : bsr_least;
  const double places = choice.block ? nnz / choice.fill : nnz * csr_entry_bytes(stored) / (stored + 1);
  const double block_rows = std::ceil(rows / edge), blocks = places / (edge * edge);
  SpmvCost cost;
  cost.launches = cost.passes = q.n_rhs;
  cost.matrix_bytes = places * stored + 4 * (blocks + block_rows);
  cost.lanes = places;
  const double round = 4.0 * (32 / edge * edge), mean = block_rows > 0 ? places / block_rows : 0;
  cost.warp_steps = 2 * block_rows + places / (32 / edge * edge);
  // Rounds of the longest block row, of four steps each, in part and as often as a warp comes round: a round that is
  // not full takes less.
  const double known = fullest_block_row(found, feature_fullest, edge);
  const double longest = nnz > 0 ? (std::isfinite(known) ? known * edge * edge : 1.5 * edge * places / rows) : 0;
  cost.chain = std::max(0.25, std::max(longest, mean) / round);
  cost.busiest = std::ceil(cost.chain);
  add_x_cost(cost, q, found, feature_x, *machine);
  CandidateList list(out, capacity, count);
  for (std::int64_t threads : {128, 256, 512}) {
    cost.threads = static_cast<double>(threads);
    sxt_candidate &candidate =
        fill_spmv(list.add(), q, *machine, std::ceil(32 * block_rows / static_cast<double>(threads)), cost);
    candidate.model_class = static_cast<std::uint32_t>(threads / 128);
    candidate.launch[1] = threads;
    candidate.launch[3] = may_start_early(*machine);
    candidate.state_bytes = sizeof(State);
  }
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_bsr>(problem->a);
    if (a.block < bsr_least || a.block > bsr_most)
      return error(exec, SXT_E_NOT_SUPPORTED, "blocks of %d; %d to %d are read", a.block, bsr_least, bsr_most);
    return give(new State(*problem, candidate), out);
  });
}

template <int edge, class F>
sxt_status with_edge(int wanted, F &&f) {
  if constexpr (edge > bsr_most)
    return SXT_E_NOT_SUPPORTED;
  else
    return wanted == edge ? f(std::integral_constant<int, edge>{}) : with_edge<edge + 1>(wanted, f);
}

struct Bsr {
  using State = spmv_bsr_cuda::State;
  static constexpr const char *name = "spmv.bsr.cuda", *what = "a product with blocks";
  static std::int64_t blocks(const State &state) {
    return divide_up<std::int64_t>(state.a->block_rows, state.threads / 32);
  }
  template <class M>
  static Blocks<M> arrays(const State &state) {
    const sxt_bsr &a = *state.a;
    return {static_cast<const std::int32_t *>(a.row_ptr),
            static_cast<const std::int32_t *>(a.col),
            static_cast<const M *>(a.values),
            a.block_rows,
            a.s.rows,
            a.s.cols};
  }
  template <class F>
  static sxt_status with_kernel(const State &state, F &&f) {
    return with_real_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
      return with_edge<bsr_least>(state.a->block, [&](auto edge) {
        return f(multiply<typename decltype(v)::type, typename decltype(m)::type, decltype(edge)::value>, v, m);
      });
    });
  }
};

const sxt_kernel kernel = [] {
  sxt_kernel k = plain_kernel<Bsr>("dense blocks, a warp a block row");
  k.version = 3;
  k.storages = storages;
  k.features = features;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_bsr_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::spmv_bsr_cuda::kernel>("spmv-bsr-cuda", out);
}
