// SPDX-License-Identifier: BSD-3-Clause
// vector.driver-copy.cuda: y = x by the driver's own copy within the device: the baseline for our copies, and the
// choice where it is faster.
#include <cstdint>

#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  if (as<sxt_vector_query>(query).operation == SXT_VECTOR_COPY) return SXT_OK;
  return refuse(reason, "the driver only copies");
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  cuda::CudaCost cost;
  cost.stream_bytes = cost.working_set =
      2 * static_cast<double>(q.n) * static_cast<double>(value_bytes(q.q.value_type));
  CandidateList list(out, capacity, count);
  cuda::fill(list.add(), *machine, std::max(1, machine->units), 0, 0, cost).state_bytes = sizeof(std::uint64_t);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new std::uint64_t(value_bytes(problem->query->value_type)), state); });
}

sxt_status run(const void *element_bytes, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_vector_args>(head);
  if (args.operation != SXT_VECTOR_COPY)
    return error(exec, SXT_E_NOT_SUPPORTED, "vector operation %d is no copy", args.operation);
  if (args.n <= 0 || args.x == args.y) return SXT_OK;
  const std::uint64_t bytes = static_cast<std::uint64_t>(args.n) * *static_cast<const std::uint64_t *>(element_bytes);
  return cuda::check(exec, cudaMemcpyAsync(args.y, args.x, bytes, cudaMemcpyDeviceToDevice, cuda::stream_of(*exec)),
                     "copy within the device");
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_VECTOR, "vector.driver-copy.cuda", "cuda", "the driver's copy within the device", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE | SXT_KERNEL_BASELINE;
  k.term_names = cuda::cuda_terms;
  set_calls<std::uint64_t>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("vector-driver-cuda", out);
}
