// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: y = alpha A x + beta y over CSR on a CUDA device, a thread a row, and up to four inner products with the
// new y in the same pass. Deterministic: the block that ends last adds the blocks' sums in their order.
#include <cstdint>

#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/sdk/cuda/grid.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace {

constexpr int threads = 128, most_dots = 4;

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};  // what it can read
// What its model reads of the matrix, in this order.
const char *const features[] = {"row_nnz_max", "warp_steps_1", "x_sector_miss_cache", nullptr};

// Read-only while anything runs. The matrix outlives it; its arrays lie on the device.
struct State {
  const sxt_csr *a;
  sxt_value_type type;
  std::int64_t blocks;
};

// Room of one caller: a sum a block, and the counter of blocks that have ended, which is zero between runs.
struct Session {
  cuda::DeviceArray sums, counter;
};

template <class T>
struct Pairs {
  const T *u[most_dots], *v[most_dots];  // NULL: the new y
  int count;
};

// How the sums of threads and blocks are added.
template <class T>
struct AddSums {
  struct Acc {
    T sum[most_dots];
  };
  __device__ static Acc identity() { return {}; }
  __device__ static Acc merge(Acc a, Acc b) {
    for (int d = 0; d < most_dots; ++d) a.sum[d] = cuda::plus(a.sum[d], b.sum[d]);
    return a;
  }
};

template <class T>
__global__ void __launch_bounds__(threads)
    multiply_rows(std::int64_t rows, const void *row_ptr, bool wide, const std::int32_t *col, const T *values,
                  cuda::Product<T> p, Pairs<T> pairs, T *dots, typename AddSums<T>::Acc *sums, unsigned *counter) {
  __shared__ typename AddSums<T>::Acc shared[32];  // one a warp
  typename AddSums<T>::Acc own{};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < rows; i += stride) {
    T sum{};
    const std::int64_t end = cuda::offset_at(row_ptr, wide, i + 1);
    for (std::int64_t k = cuda::offset_at(row_ptr, wide, i); k < end; ++k)
      sum = cuda::multiply_add(values[k], p.x[col[k]], sum);
    cuda::store(p.y + i, sum, p.alpha(), p.beta());
    for (int d = 0; d < pairs.count; ++d) {
      const T u = pairs.u[d] ? pairs.u[d][i] : p.y[i], v = pairs.v[d] ? pairs.v[d][i] : p.y[i];
      own.sum[d] = cuda::multiply_add(cuda::conjugated(u), v, own.sum[d]);
    }
  }
  own = cuda::merge_block<AddSums<T>>(own, shared);
  __syncthreads();
  if (cuda::merge_grid_by_ticket<AddSums<T>>(own, shared, sums, counter))
    for (int d = 0; d < pairs.count; ++d) dots[d] = own.sum[d];
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  const sxt_matrix_query &m = q.m.m;
  if (m.matrix_type != m.q.value_type) return refuse_types(m.q.value_type, m.matrix_type, reason);
  if (q.m.op != SXT_NO_TRANSPOSE) return refuse(reason, "op %d: it does not transpose", q.m.op);
  if (q.m.n_rhs != 1) return refuse(reason, "%d right-hand sides: it takes one", q.m.n_rhs);
  if (q.n_dots < 0 || q.n_dots > most_dots)
    return refuse(reason, "%d inner products: it takes up to %d", q.n_dots, most_dots);
  return SXT_OK;
}

// What a run takes: bytes of A and of the vectors beside x and y, multiply-adds, and the exchange of the blocks' sums.
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  const sxt_matrix_query &m = q.m.m;
  const double nnz = static_cast<double>(m.nnz), rows = static_cast<double>(m.rows);
  const double element = static_cast<double>(value_bytes(m.q.value_type));
  const std::int64_t blocks =
      cuda::blocks_for(m.rows, threads, cuda::resident_blocks(*machine, threads));  // each adds to the exchange
  cuda::SpmvCost cost;
  cost.matrix_bytes = nnz * (4 + static_cast<double>(value_bytes(m.matrix_type))) + 4 * rows;
  cost.extra_bytes = q.n_dots * rows * element;
  cost.lanes = nnz + q.n_dots * rows;
  cost.x_sectors = nnz;  // neighbouring rows share none in the worst case
  cost.x_misses = nnz * cuda::feature_or(found, 2, 0);
  cost.warp_steps = cuda::feature_or(found, 1, nnz / 32 + rows);  // a warp is done with its longest row
  cost.x_lines = nnz;
  cost.chain = cuda::feature_or(found, 0, rows > 0 ? nnz / rows : 0) + static_cast<double>(blocks) / threads;
  cost.atomics = static_cast<double>(blocks);
  cost.threads = threads;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = cuda::fill_spmv(list.add(), q.m, *machine, static_cast<double>(blocks), cost);
  candidate.launch[0] = blocks;
  candidate.launch[1] = threads;
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(blocks) * most_dots * value_bytes(m.q.value_type);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &a = as<sxt_csr>(problem->a);
    if (a.s.index_type != SXT_I32) return error(exec, SXT_NOT_APPLICABLE, "columns are stored in 64 bits");
    constexpr std::int64_t usual_blocks = 256;
    const std::int64_t blocks = candidate && candidate->launch[0] > 0 ? candidate->launch[0] : usual_blocks;
    return give(new State{&a, a.s.value_type, blocks}, state);
  });
}

// New values on the same pattern. What was computed from the values is computed again, in memory that is there.
sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_csr>(problem->a), SXT_OK;
}

// Memory and code are there before a run: none may be taken or loaded inside of a capture.
sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const State &state = *static_cast<const State *>(opaque);
  return cuda::build<Session>(exec, out, [&](Session &session) {
    const auto blocks = static_cast<std::uint64_t>(state.blocks);
    session.sums = cuda::DeviceArray(exec, blocks * most_dots * value_bytes(state.type), "sums of blocks");
    session.counter = cuda::DeviceArray(exec, sizeof(unsigned), "a counter");
    cuda::fill_bytes(exec, session.counter.data(), 0, sizeof(unsigned), "clear a counter");
    return cuda::with_number(state.type, [&]<class T>(Tag<T>) { return cuda::load(exec, multiply_rows<T>); });
  });
}

// Enqueues on exec's stream and returns.
sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const Session &session = *static_cast<const Session *>(opened);
  const sxt_csr &a = *state.a;
  const auto &args = as<sxt_spmv_dots_args>(head);
  return cuda::with_number(state.type, [&]<class T>(Tag<T>) {
    Pairs<T> pairs{{}, {}, args.n_dots};
    for (int d = 0; d < args.n_dots; ++d) {
      pairs.u[d] = static_cast<const T *>(args.u[d]);
      pairs.v[d] = static_cast<const T *>(args.v[d]);
    }
    multiply_rows<T><<<static_cast<unsigned>(state.blocks), threads, 0, cuda::stream_of(*exec)>>>(
        a.s.rows, a.row_ptr, a.s.offset_type == SXT_I64, static_cast<const std::int32_t *>(a.col),
        static_cast<const T *>(a.values), cuda::product_of<T>(args.m), pairs, static_cast<T *>(args.dots),
        session.sums.template as<typename AddSums<T>::Acc>(), session.counter.template as<unsigned>());
    return cuda::launched(exec, "@KERNEL@");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV_DOTS, "@KERNEL@", "cuda", "CSR, a thread a row, inner products", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = all_value_types;
  k.features = features;
  k.storages = storages;
  k.term_names = cuda::spmv_terms;
  k.term_defaults = cuda::spmv_term_defaults;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
