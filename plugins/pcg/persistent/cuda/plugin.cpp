// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge: one kernel of kind sxt.pcg/1.
#include <cmath>
#include <cstdint>

#include "engine.hpp"
#include "model.hpp"
#include "plugins/pcg/shared/cuda/pcg.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

namespace persistent {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

sxt_status is_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine,
                         sxt_message *reason) {
  if (const sxt_status status = has_kernels_for(*machine, reason); status != SXT_OK) return status;
  return persistent::applicable(plugin::as<sxt_pcg_query>(query), *machine, reason);
}
sxt_status list_candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                           const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return persistent::candidates(plugin::as<sxt_pcg_query>(query), found, *machine, out, capacity, count);
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_status status = cuda::need_storage(*problem, SXT_KIND_STORAGE_CSR, "persistent", exec);
    if (status != SXT_OK) return status;
    const auto &a = plugin::as<sxt_csr>(problem->a);
    const auto parts = std::clamp<std::int64_t>(candidate->launch[0], 1, std::max<std::int64_t>(1, a.s.rows));
    fill(state, plugin::as<sxt_pcg_query>(problem->query), a, static_cast<std::int32_t>(parts),
         candidate->launch[2] != 0, std::max<std::int64_t>(1, candidate->launch[1]), candidate->launch[3] != 0, exec);
    return SXT_OK;
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    set_values(*static_cast<State *>(state), plugin::as<sxt_csr>(problem->a), exec);
    return SXT_OK;
  });
}

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

const sxt_kernel kernel = [] {
  sxt_kernel k = cuda::new_engine<State, Session, Engine>(
      "pcg.persistent.predict-recompute.cuda",
      "predict-and-recompute conjugate gradients in one launch, all in registers and "
      "shared memory, one exchange between blocks an iteration",
      {is_applicable, list_candidates, prepare, refresh});
  k.value_types = plugin::type_bit(SXT_F64) | plugin::type_bit(SXT_F32);
  k.version = 2;
  k.min_level = 90;
  k.storages = storages;
  k.features = persistent::features;
  return k;
}();

}  // namespace
}  // namespace persistent

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  sextant::plugin::take_team(host);
  return sextant::plugin::offer<&persistent::kernel>("pcg-persistent", out);
}
