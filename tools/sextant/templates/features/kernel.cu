// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: the feature "@SYMBOL@_mean_distance", the mean of |i - j| over the entries of a matrix, on a CUDA device. A
// kernel whose model needs it lists its name among its features.
#include <cstdint>
#include <cstring>
#include <limits>

#include "sextant/plugin/kinds/features.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace {

constexpr int threads = 256;
constexpr std::int64_t most_blocks = 1024;  // each thread takes several rows of large matrices

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
const char *const names[] = {"@SYMBOL@_mean_distance", nullptr};
constexpr std::int32_t reads_everything = 3;
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, reads_everything, 0, nullptr};

using Sum = unsigned long long;  // whole numbers: their sum has the same bits in every order

// Read-only while anything runs. The matrix outlives it; its arrays lie on the device.
struct State {
  const sxt_csr *a;
};

__global__ void __launch_bounds__(threads)
    add_distances(std::int64_t rows, const void *row_ptr, bool wide, const std::int32_t *col, Sum *total) {
  Sum sum = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < rows; i += stride) {
    const std::int64_t end = cuda::offset_at(row_ptr, wide, i + 1);
    for (std::int64_t k = cuda::offset_at(row_ptr, wide, i); k < end; ++k)
      sum += static_cast<Sum>(i < col[k] ? col[k] - i : i - col[k]);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0 && sum) atomicAdd(total, sum);
}

// Features are charged to the set-up of the kernel that asks for them: this reads every column once.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  cuda::CudaCost cost;
  cost.stream_bytes = cost.working_set = 4.0 * static_cast<double>(q.nnz + q.rows);
  cost.flops = 4.0 * static_cast<double>(q.nnz);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, cuda::blocks_for(q.rows, threads, most_blocks), threads, 1, cost);
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = sizeof(Sum);  // which run is lent on the device
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &a = as<sxt_csr>(problem->a);
    if (a.s.index_type != SXT_I32) return error(exec, SXT_NOT_APPLICABLE, "columns are stored in 64 bits");
    return give(new State{&a}, state);
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_csr>(problem->a), SXT_OK;
}

// Names of other kernels may be among those asked for: they get NaN. The library computes features once and keeps them,
// without opening sessions. Values lie on the host, so that this kind of kernel waits for its stream.
sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const sxt_csr &a = *static_cast<const State *>(opaque)->a;
  const auto &args = as<sxt_features_args>(head);
  return cuda::guarded(exec, [&] {
    auto *total = static_cast<Sum *>(exec->scratch);
    cuda::fill_bytes(exec, total, 0, sizeof(Sum), "clear a sum");
    add_distances<<<cuda::blocks_for(a.s.rows, threads, most_blocks), threads, 0, cuda::stream_of(*exec)>>>(
        a.s.rows, a.row_ptr, a.s.offset_type == SXT_I64, static_cast<const std::int32_t *>(a.col), total);
    cuda::need_launch("@KERNEL@");
    const double sum = static_cast<double>(cuda::fetch(exec, total, "a sum"));
    const double mean = a.s.nnz > 0 ? sum / static_cast<double>(a.s.nnz) : 0;
    for (std::uint64_t f = 0; f < args.count; ++f)
      args.values[f] = std::strcmp(args.names[f], names[0]) == 0 ? mean : std::numeric_limits<double>::quiet_NaN();
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_FEATURES, "@KERNEL@", "cuda", "the mean distance of entries from the diagonal", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cuda::cuda_terms;
  k.ops = &ops;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
