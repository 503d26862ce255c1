// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@.product: y = alpha A x + beta y over the format of format.hpp on a CUDA device, a thread a row. The library
// weighs it together with the storage: set-up, memory and runs.
#include <cstdint>

#include "format.hpp"
#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace {

constexpr int threads = 128;

const char *const storages[] = {KIND_STORAGE, nullptr};  // what it can read
// What its model reads of the matrix, in this order.
const char *const features[] = {"row_nnz_max", "warp_steps_1", "x_sector_miss_cache", nullptr};

// Read-only while anything runs. The storage outlives it; its arrays lie on the device.
struct State {
  const NearCsr *a;
};

// Room of one caller; several callers may run one state, each with a session of its own. Where yours needs none, leave
// out the struct and close; open still loads the code that run launches.
struct Session {
  std::int64_t runs = 0;
};

template <class T>
__global__ void __launch_bounds__(threads)
    multiply_rows(std::int64_t rows, const void *row_ptr, bool wide, const std::int16_t *distance, const T *values,
                  cuda::Product<T> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  T sum{};
  const std::int64_t end = cuda::offset_at(row_ptr, wide, i + 1);
  for (std::int64_t k = cuda::offset_at(row_ptr, wide, i); k < end; ++k)
    sum = cuda::multiply_add(values[k], p.x[i + distance[k]], sum);
  cuda::store(p.y + i, sum, p.alpha(), p.beta());
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.matrix_type != q.m.q.value_type) return refuse_types(q.m.q.value_type, q.m.matrix_type, reason);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "op %d: it does not transpose", q.op);
  if (q.n_rhs != 1) return refuse(reason, "%d right-hand sides: it takes one", q.n_rhs);
  if (q.m.rows > std::int64_t{threads} << 31)
    return refuse(reason, "%lld rows are too many for one grid", (long long)q.m.rows);
  return SXT_OK;
}

// What a run takes: bytes of A, multiply-adds, and what the device does beside them. x and y are added by fill_spmv.
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows);
  const double mean = rows > 0 ? nnz / rows : 0, longest = cuda::feature_or(found, 0, mean);
  cuda::SpmvCost cost;
  cost.matrix_bytes = nnz * (2 + static_cast<double>(value_bytes(q.m.matrix_type))) + 4 * rows;
  cost.lanes = nnz;
  cost.x_sectors = nnz;  // neighbouring rows share none in the worst case
  const double x_bytes = static_cast<double>(q.m.cols) * static_cast<double>(value_bytes(q.m.q.value_type));
  cost.x_misses = nnz * cuda::feature_or(found, 2, x_bytes > static_cast<double>(machine->cache_bytes) ? 0.2 : 0);
  cost.warp_steps = cuda::feature_or(found, 1, nnz / 32 + rows);  // a warp is done with its longest row
  cost.x_lines = nnz;
  cost.chain = longest;
  cost.threads = threads;
  const std::int64_t blocks = cuda::divide_up<std::int64_t>(q.m.rows, threads);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = cuda::fill_spmv(list.add(), q, *machine, static_cast<double>(blocks), cost);
  candidate.launch[0] = blocks;
  candidate.launch[1] = threads;
  candidate.state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status { return give(new State{&as<NearCsr>(problem->a)}, state); });
}

// The storage has taken the new values itself.
sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<NearCsr>(problem->a), SXT_OK;
}

// No code may be loaded later, inside of a capture.
sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **session) {
  return guard(exec, [&]() -> sxt_status {
    const sxt_value_type type = static_cast<const State *>(state)->a->s.value_type;
    const sxt_status failed =
        cuda::with_number(type, [&]<class T>(Tag<T>) { return cuda::load(exec, multiply_rows<T>); });
    return failed ? failed : give(new Session, session);
  });
}

// Enqueues on exec's stream and returns.
sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const NearCsr &a = *static_cast<const State *>(opaque)->a;
  ++static_cast<Session *>(session)->runs;
  if (a.s.rows == 0) return SXT_OK;
  const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(a.s.rows, threads));
  return cuda::with_number(a.s.value_type, [&]<class T>(Tag<T>) {
    multiply_rows<T><<<blocks, threads, 0, cuda::stream_of(*exec)>>>(a.s.rows, a.row_ptr, a.s.offset_type == SXT_I64,
                                                                     a.distance, static_cast<const T *>(a.values),
                                                                     cuda::product_of<T>(as<sxt_spmv_args>(head)));
    return cuda::launched(exec, "@KERNEL@.product");
  });
}

}  // namespace

extern const sxt_kernel product_kernel;
const sxt_kernel product_kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_SPMV, "@KERNEL@.product", "cuda", "a thread a row, columns as 16-bit distances", run);
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
