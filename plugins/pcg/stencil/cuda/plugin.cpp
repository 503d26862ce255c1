// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge: one kernel of kind sxt.pcg/1.
#include <cmath>
#include <cstdint>

#include "engine.hpp"
#include "launches.hpp"
#include "model.hpp"
#include "plugins/formats/dia.hpp"
#include "plugins/pcg/shared/cuda/pcg.hpp"
#include "sextant/sdk/describe.hpp"

namespace stencil {
namespace {

namespace plugin = sextant::plugin;

sxt_status is_applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                         sxt_message *reason) {
  if (const sxt_status status = has_kernels_for(*machine, reason); status != SXT_OK) return status;
  return applicable(plugin::as<sxt_pcg_query>(query), found, reason);
}
sxt_status list_candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                           const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return candidates(plugin::as<sxt_pcg_query>(query), found, *machine, out, capacity, count);
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_status status = cuda::need_storage(*problem, SXT_KIND_STORAGE_DIA_SYMMETRIC, "stencil", exec);
    if (status != SXT_OK) return status;
    const std::int64_t *launch = candidate->launch;
    fill(state, plugin::as<sxt_pcg_query>(problem->query), plugin::as<sxt_dia>(problem->a),
         {launch[0], launch[1], launch[2], launch[3]}, *exec);
    return SXT_OK;
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(
      exec, [&] { return point_at(*static_cast<State *>(state), plugin::as<sxt_dia>(problem->a), *exec), SXT_OK; });
}

const char *const storages[] = {SXT_KIND_STORAGE_DIA_SYMMETRIC, nullptr};

const sxt_kernel kernel = [] {
  sxt_kernel k = cuda::new_engine<State, Session, Engine>(
      "pcg.stencil.predict-recompute.cuda",
      "predict-and-recompute conjugate gradients on stencils of 5 to 27 points, one walk through the planes an "
      "iteration, many a launch",
      {is_applicable, list_candidates, prepare, refresh});
  k.value_types = plugin::type_bit(SXT_F64) | plugin::type_bit(SXT_F32);
  k.min_level = 90;
  k.storages = storages;
  k.features = plugin::dia_features;
  return k;
}();

}  // namespace
}  // namespace stencil

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&stencil::kernel>("pcg-stencil", out);
}
