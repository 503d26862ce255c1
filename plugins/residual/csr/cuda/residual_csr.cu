// SPDX-License-Identifier: BSD-3-Clause
// residual.csr.cuda: b - A x in twice the working precision with its norms, 1 to 32 threads a row. The blocks are
// persistent, so that each writes one set of norms; a second launch of one block a right-hand side joins them in their
// order. Bytes: value and column an entry, an offset, b and r a row, as a product has; 12 operations an entry of f64, 3
// of f32. Bound: bandwidth, on devices whose f64 is half of f32.
#include <algorithm>
#include <cstdint>

#include "plugins/residual/shared/residual.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/numbers.hpp"
#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/residual.hpp"

using namespace sextant::plugin;

namespace {

using sextant::residual::Norms;
using sextant::residual::Sum;

constexpr int threads = 128;
constexpr int blocks_a_unit = 8;

struct State {
  const sxt_csr *a = nullptr;
  sxt_value_type type = SXT_F64;
  int lanes = 1;
  unsigned blocks = 1;
};

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

// One call, for a kernel. norms: of block k of column c at c * blocks + k.
struct Call {
  std::int64_t rows;
  const void *row_ptr, *col;
  bool wide_ptr, wide_col;
  const void *values, *x, *b;
  void *r;
  std::int64_t ldx, ldb, ldr;
  Norms *norms;
};

__device__ Sum shuffled(const Sum &sum, int distance) {
  return {__shfl_xor_sync(0xffffffffu, sum.high, distance), __shfl_xor_sync(0xffffffffu, sum.low, distance),
          __shfl_xor_sync(0xffffffffu, sum.size, distance)};
}

// The contributions of this thread's entries of a row to the parts of -A x.
template <class R, int parts>
__device__ void add_entries(const Call &c, const R *x, std::int64_t from, std::int64_t to, int lanes,
                            Sum (&sum)[parts]) {
  constexpr bool single = sizeof(R) == 4;
  const R *values = static_cast<const R *>(c.values);
  for (std::int64_t k = from; k < to; k += lanes) {
    const std::int64_t j = cuda::offset_at(c.col, c.wide_col, k);
    if constexpr (parts == 1) {
      sextant::residual::add_product<single>(sum[0], -static_cast<double>(values[k]), static_cast<double>(x[j]));
    } else {
      const double re = values[2 * k], im = values[2 * k + 1], x_re = x[2 * j], x_im = x[2 * j + 1];
      sextant::residual::add_product<single>(sum[0], -re, x_re);
      sextant::residual::add_product<single>(sum[0], im, x_im);
      sextant::residual::add_product<single>(sum[1], -re, x_im);
      sextant::residual::add_product<single>(sum[1], -im, x_re);
    }
  }
}

// The norms of a block's threads, for thread 0, in one order.
__device__ Norms joined(const Norms &mine) {
  __shared__ Norms all[threads];
  all[threadIdx.x] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sextant::residual::add_norms(all[threadIdx.x], all[threadIdx.x + half]);
  }
  __syncthreads();
  return all[0];
}

// A group of `lanes` threads a row; all threads of a warp take every turn, since they exchange sums.
template <class R, int parts>
__global__ void __launch_bounds__(threads) rows_kernel(const __grid_constant__ Call c, int lanes) {
  constexpr bool single = sizeof(R) == 4;
  const R *x = static_cast<const R *>(c.x) + blockIdx.y * c.ldx * parts;
  const R *b = static_cast<const R *>(c.b) + blockIdx.y * c.ldb * parts;
  R *r = c.r ? static_cast<R *>(c.r) + blockIdx.y * c.ldr * parts : nullptr;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), group = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t rows_a_block = threads / lanes;
  Norms norms = {};
  for (std::int64_t first = blockIdx.x * rows_a_block; first < c.rows; first += gridDim.x * rows_a_block) {
    const std::int64_t i = first + group;
    const bool mine = i < c.rows;
    const std::int64_t from = mine ? cuda::offset_at(c.row_ptr, c.wide_ptr, i) : 0;
    const std::int64_t to = mine ? cuda::offset_at(c.row_ptr, c.wide_ptr, i + 1) : 0;
    Sum sum[parts] = {};
    double rhs[parts] = {};
    for (int p = 0; p < parts; ++p)
      if (mine && lane == 0) {
        rhs[p] = b[i * parts + p];
        sum[p] = {rhs[p], 0, sextant::residual::magnitude(rhs[p])};
      }
    add_entries<R, parts>(c, x, from + lane, to, lanes, sum);
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      for (int p = 0; p < parts; ++p) sextant::residual::add_sum<single>(sum[p], shuffled(sum[p], distance));
    if (!mine || lane != 0) continue;
    sextant::residual::add_row<single, parts>(norms, sum, rhs,
                                              static_cast<double>(parts) * static_cast<double>(to - from));
    for (int p = 0; r && p < parts; ++p)
      r[i * parts + p] = static_cast<R>(sextant::residual::rounded_sum(sum[p].high, sum[p].low));
  }
  const Norms all = joined(norms);
  if (threadIdx.x == 0) c.norms[blockIdx.y * gridDim.x + blockIdx.x] = all;
}

__global__ void __launch_bounds__(threads)
    finish_kernel(const Norms *norms, unsigned blocks, double additions, sxt_residual_norms *out) {
  Norms mine = {};
  for (unsigned block = threadIdx.x; block < blocks; block += threads)
    sextant::residual::add_norms(mine, norms[blockIdx.x * blocks + block]);
  const Norms all = joined(mine);
  if (threadIdx.x == 0) out[blockIdx.x] = sextant::residual::finished(all, additions);
}

// f(kernel, parts) for the type's kernel.
template <class F>
sxt_status with_kernel(sxt_value_type type, F &&f) {
  switch (type) {
    case SXT_F32: return f(rows_kernel<float, 1>, 1);
    case SXT_F64: return f(rows_kernel<double, 1>, 1);
    case SXT_C64: return f(rows_kernel<float, 2>, 2);
    case SXT_C128: return f(rows_kernel<double, 2>, 2);
    default: return SXT_E_TYPE;
  }
}

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                      sxt_message *reason) {
  const auto &q = as<sxt_residual_query>(query);
  const sxt_status status = sextant::residual::has_one_type(query, found, machine, reason);
  if (status != SXT_OK) return status;
  if (q.n_rhs < 65536) return SXT_OK;
  return refuse(reason, "%d right-hand sides are more than a grid has rows", q.n_rhs);
}

// As many threads a row as half a row has entries, so that each has some entries.
int lanes_for(const sxt_residual_query &q) {
  const double mean = q.m.rows > 0 ? static_cast<double>(q.m.nnz) / static_cast<double>(q.m.rows) : 0;
  int lanes = 1;
  while (lanes < 32 && 2 * lanes <= mean) lanes *= 2;
  return lanes;
}

std::uint64_t scratch_for(unsigned blocks, std::int32_t n_rhs) {
  return static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(n_rhs) * sizeof(Norms);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_residual_query>(query);
  const double value = static_cast<double>(value_bytes(q.m.q.value_type)), nnz = static_cast<double>(q.m.nnz),
               rows = static_cast<double>(q.m.rows), cols = static_cast<double>(q.m.cols);
  const bool single = q.m.q.value_type == SXT_F32 || q.m.q.value_type == SXT_C64;
  const double products = q.m.q.value_type >= SXT_C64 ? 4 : 1;
  const int lanes = lanes_for(q);
  const unsigned blocks =
      cuda::blocks_for(q.m.rows * lanes, threads, std::int64_t{blocks_a_unit} * std::max(1, machine->units));
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = lanes;
  candidate.launch[1] = threads;
  candidate.launch[2] = blocks;
  candidate.n_terms = 5;
  candidate.terms[0] = 2;
  candidate.terms[1] = nnz * (value + 4) + rows * 4 + q.n_rhs * value * (2 * rows + cols);
  candidate.terms[3] = q.n_rhs * 0.4 * nnz;  // of x, as far as is known without reading the matrix
  candidate.terms[4] = q.n_rhs * (nnz * products * (single ? 3 : 12) + rows * lanes * 40) * (single ? 2 : 1);
  candidate.working_set_bytes = candidate.terms[1];
  candidate.units = std::clamp<double>(blocks, 1, std::max(1, machine->units));
  candidate.setup_s = 10e-6;
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = scratch_for(blocks, q.n_rhs);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.a = &as<sxt_csr>(problem->a);
    state.type = problem->query->value_type;
    if (candidate) {
      state.lanes = static_cast<int>(candidate->launch[0]);
      state.blocks = static_cast<unsigned>(candidate->launch[2]);
    }
    if (const sxt_status status = cuda::load(exec, finish_kernel); status != SXT_OK) return status;
    return with_kernel(state.type, [&](auto kernel, int) { return cuda::load(exec, kernel); });
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_residual_args>(head);
  const sxt_csr &a = *state.a;
  const std::uint64_t bytes = scratch_for(state.blocks, args.n_rhs);
  if (const sxt_status wrong = need_scratch(exec, bytes)) return wrong;
  if (args.n_rhs <= 0) return SXT_OK;
  const Call call = {a.s.rows,
                     a.row_ptr,
                     a.col,
                     a.s.offset_type == SXT_I64,
                     a.s.index_type == SXT_I64,
                     a.values,
                     args.x,
                     args.b,
                     args.r,
                     args.ldx,
                     args.ldb,
                     args.ldr,
                     static_cast<Norms *>(exec->scratch)};
  return with_kernel(state.type, [&](auto kernel, int parts) -> sxt_status {
    const cudaStream_t stream = cuda::stream_of(*exec);
    const auto columns = static_cast<unsigned>(args.n_rhs);
    kernel<<<dim3(state.blocks, columns), threads, 0, stream>>>(call, state.lanes);
    if (const sxt_status status = cuda::launched(exec, "residual.csr.cuda"); status != SXT_OK) return status;
    const std::int64_t at_once = std::int64_t{state.blocks} * (threads / state.lanes);
    const double additions = static_cast<double>(parts * cuda::divide_up<std::int64_t>(a.s.rows, at_once)) +
                             static_cast<double>(state.blocks / threads) + 32;
    finish_kernel<<<columns, threads, 0, stream>>>(call.norms, state.blocks, additions, args.norms);
    return cuda::launched(exec, "the norms of residual.csr.cuda");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_RESIDUAL, "residual.csr.cuda", "cuda",
                            "b - A x on CSR in twice the working precision, with its norms and their bounds", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = storages;
  k.term_names = cuda::cuda_terms;
  set_calls<State>(k, {applicable, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("residual-csr-cuda", out);
}
