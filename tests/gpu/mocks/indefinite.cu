// SPDX-License-Identifier: BSD-3-Clause
// A preconditioner that breaks its promise: z = r but for the last element, which it weighs negatively. It answers to
// its own name only, and to matrices of one size only, so that no other test meets it.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "indefinite.hpp"
#include "sextant/kinds/preconditioner.h"
#include "sextant/plugin_cuda.hpp"

namespace {

using namespace sextant::plugin;

__global__ void apply(std::int64_t n, const double *r, double *z) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) z[i] = i == n - 1 ? mock::last_weight * r[i] : r[i];
}

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = as<sxt_preconditioner_query>(head);
  if (std::strcmp(query.method, mock::method) != 0 || query.m.rows != mock::rows)
    return refuse(reason, "it is for one test");
  return SXT_OK;
}

sxt_status candidates(const sxt_query *, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  list.add().run_s = 1e-6;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec, void **state) {
  *state = nullptr;
  return cuda::load(exec, apply);
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  constexpr unsigned threads = 256;
  const auto &args = as<sxt_preconditioner_args>(head);
  const auto blocks = static_cast<unsigned>((args.n + threads - 1) / threads);
  apply<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(args.n, static_cast<const double *>(args.r),
                                                        static_cast<double *>(args.z));
  return cuda::check(exec, cudaGetLastError(), "apply a mock");
}

const sxt_preconditioner_ops ops{sizeof ops, mock::method, nullptr, nullptr, 1};

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel kernel = [] {
    sxt_kernel k = new_kernel(SXT_KIND_PRECONDITIONER, "preconditioner.mock-indefinite.cuda", "cuda",
                              "breaks its promise, for tests", run);
    k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
    k.value_types = type_bit(SXT_F64);
    k.ops = &ops;
    k.applicable = applicable;
    k.candidates = candidates;
    k.prepare = prepare;
    return k;
  }();
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin table = describe("mock-indefinite", kernels);
  return *out = &table, SXT_OK;
}
