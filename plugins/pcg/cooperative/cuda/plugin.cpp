// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge: one kernel of kind sxt.pcg/1.
#include <cstdint>

#include "engine.hpp"
#include "model.hpp"
#include "plugins/pcg/shared/cuda/pcg.hpp"
#include "sextant/plugin/order.h"
#include "sextant/sdk/describe.hpp"

namespace cooperative {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_status status = cuda::need_storage(*problem, SXT_KIND_STORAGE_CSR, "cooperative", exec);
    if (status != SXT_OK) return status;
    fill(state, plugin::as<sxt_pcg_query>(problem->query), plugin::as<sxt_csr>(problem->a), candidate->launch[0],
         candidate->launch[1]);
    return SXT_OK;
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec,
                       [&] { return point_at(*static_cast<State *>(state), plugin::as<sxt_csr>(problem->a)), SXT_OK; });
}

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

const sxt_kernel kernel = [] {
  sxt_kernel k = cuda::new_engine<State, Session, Engine>(
      "pcg.cooperative.predict-recompute.cuda",
      "predict-and-recompute conjugate gradients in one cooperative launch, in the order of deterministic mode",
      {applicable, candidates, prepare, refresh});
  k.flags |= SXT_KERNEL_ONE_ORDER;
  k.value_types = plugin::type_bit(SXT_F64) | plugin::type_bit(SXT_F32);
  k.storages = storages;
  k.features = features;
  return k;
}();

}  // namespace
}  // namespace cooperative

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&cooperative::kernel>("pcg-cooperative", out);
}
