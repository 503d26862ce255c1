// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners that break their promises. One is not definite: for a matrix with the size of one test it gives z = r
// with a negative weight on the last element. In the cases of its kind it is the identity and passes. The other one
// works on another stream, so that a captured graph does not contain its work and z does not change; it accepts that
// size only. Only contexts that name this file load them.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "indefinite.hpp"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/cuda/exec.hpp"

namespace {

using namespace sextant::plugin;

__global__ void scale(std::int64_t n, const double *r, double *z) {
  for (std::int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] = r[i] / 4;
}

__global__ void apply(std::int64_t n, const double *r, double *z) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) z[i] = n == mock::rows && i == n - 1 ? mock::last_weight * r[i] : r[i];
}

template <const char *method>
sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = as<sxt_preconditioner_query>(head);
  const bool anywhere = method == mock::method;
  const bool left_open = anywhere && !query.method[0];  // the identity, as for the cases of the kind
  if ((!left_open && std::strcmp(query.method, method) != 0) || (!anywhere && query.m.rows != mock::rows))
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
  const sxt_status status = cuda::load(exec, scale);
  return status != SXT_OK ? status : cuda::load(exec, apply);
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  constexpr unsigned threads = 256;
  const auto &args = as<sxt_preconditioner_args>(head);
  if (args.n == 0) return SXT_OK;
  const auto blocks = static_cast<unsigned>((args.n + threads - 1) / threads);
  apply<<<blocks, threads, 0, cuda::stream_of(*exec)>>>(args.n, static_cast<const double *>(args.r),
                                                        static_cast<double *>(args.z));
  return cuda::check(exec, cudaGetLastError(), "apply a mock");
}

// Right as long as the stream is not captured: z = r / 4 when it returns, computed elsewhere.
sxt_status run_elsewhere(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  static cudaStream_t elsewhere = nullptr;
  const auto &args = as<sxt_preconditioner_args>(head);
  cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(cuda::stream_of(*exec), &captured);
  if (!elsewhere) cudaStreamCreateWithFlags(&elsewhere, cudaStreamNonBlocking);
  if (captured == cudaStreamCaptureStatusNone) cudaStreamSynchronize(cuda::stream_of(*exec));
  scale<<<4, 256, 0, elsewhere>>>(args.n, static_cast<const double *>(args.r), static_cast<double *>(args.z));
  if (captured == cudaStreamCaptureStatusNone) cudaStreamSynchronize(elsewhere);
  return cuda::check(exec, cudaGetLastError(), "apply a mock");
}

const sxt_preconditioner_ops ops{sizeof ops, mock::method, nullptr, nullptr, 1};
const sxt_preconditioner_ops wandering_ops{sizeof ops, mock::wandering_method, nullptr, nullptr, 1};

sxt_kernel mock_kernel(const char *name, decltype(sxt_kernel::run) run, const sxt_preconditioner_ops *its) {
  sxt_kernel k = new_kernel(SXT_KIND_PRECONDITIONER, name, "cuda", "breaks its promise, for tests", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = type_bit(SXT_F64);
  k.ops = its;
  k.applicable = its == &ops ? applicable<mock::method> : applicable<mock::wandering_method>;
  k.candidates = candidates;
  k.prepare = prepare;
  return k;
}

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel indefinite = mock_kernel("preconditioner.mock-indefinite.cuda", run, &ops),
                          wandering = mock_kernel("preconditioner.mock-wandering.cuda", run_elsewhere, &wandering_ops);
  static const sxt_kernel *const kernels[] = {&indefinite, &wandering};
  static const sxt_plugin table = describe("mock-indefinite", kernels);
  return *out = &table, SXT_OK;
}
