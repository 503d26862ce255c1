// SPDX-License-Identifier: BSD-3-Clause
#include "access.hpp"

#include <cuda_runtime_api.h>

#include "sextant/plugin/kinds/exchange.h"
#include "sextant/sdk/cuda/exec.hpp"

namespace sextant::exchange_cuda {
namespace {

using namespace plugin;

// The runtime does not tell the pool of a pointer; the driver does. Looked up through the runtime, so that nothing
// links libcuda.
using GetAttribute = int (*)(void *data, int attribute, unsigned long long pointer);
constexpr int attribute_pool = 17;  // CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE

GetAttribute get_attribute() {
  void *found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuPointerGetAttribute", &found, 12000, cudaEnableDefault, &result);
#else
  const cudaError_t status = cudaGetDriverEntryPoint("cuPointerGetAttribute", &found, cudaEnableDefault, &result);
#endif
  if (status == cudaSuccess && result == cudaDriverEntryPointSuccess) return reinterpret_cast<GetAttribute>(found);
  cudaGetLastError();
  return nullptr;
}

sxt_status refused(const sxt_exec *exec, int from, int to, const char *why) {
  cudaGetLastError();
  return error(exec, SXT_NOT_APPLICABLE, "kernels of CUDA device %d cannot write memory of device %d: %s", from, to,
               why);
}

}  // namespace

sxt_status open_to_current(const sxt_exec *exec, void *memory) {
  int own = 0;
  cudaPointerAttributes found{};
  if (const sxt_status failed = cuda::check(exec, cudaGetDevice(&own), "ask for the current device")) return failed;
  if (const sxt_status failed =
          cuda::check(exec, cudaPointerGetAttributes(&found, memory), "ask where a receiver's memory lies"))
    return failed;
  if (found.type != cudaMemoryTypeDevice) return refused(exec, own, found.device, "it is no device memory");
  if (found.device == own) return SXT_OK;
  int reachable = 0;
  if (cudaDeviceCanAccessPeer(&reachable, own, found.device) != cudaSuccess || !reachable)
    return refused(exec, own, found.device, "the devices do not reach each other");
  const GetAttribute attribute = get_attribute();
  cudaMemPool_t pool = nullptr;
  if (!attribute || attribute(&pool, attribute_pool, reinterpret_cast<unsigned long long>(memory)) != 0 || !pool)
    return refused(exec, own, found.device, "it comes from no pool that could be opened");
  cudaMemAccessDesc wanted{};
  wanted.location = {cudaMemLocationTypeDevice, own};
  wanted.flags = cudaMemAccessFlagsProtReadWrite;
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  if (cudaMemPoolSetAccess(pool, &wanted, 1) != cudaSuccess ||
      cudaMemPoolGetAccess(&flags, pool, &wanted.location) != cudaSuccess || flags != cudaMemAccessFlagsProtReadWrite)
    return refused(exec, own, found.device, "its pool could not be opened");
  return SXT_OK;
}

sxt_status open_all_to_current(const sxt_exec *exec, const sxt_head *data) {
  if (!data) return SXT_OK;
  const auto &plan = as<sxt_exchange_plan>(data);
  for (std::int64_t l = 0; l < plan.n_links; ++l)
    if (const sxt_status refused = open_to_current(exec, plan.to[l])) return refused;
  return SXT_OK;
}

}  // namespace sextant::exchange_cuda
