// SPDX-License-Identifier: BSD-3-Clause
// Batches of Hermitian systems.
#include <cstdint>

#include "abi/handles.hpp"
#include "abi/options.hpp"
#include "abi/sized.hpp"
#include "core/base/aligned.hpp"
#include "core/explain/explain.hpp"
#include "core/hermitian/placed.hpp"

using namespace sextant;
using namespace sextant::abi;

struct sxt_hermitian {
  sxt_hermitian(std::shared_ptr<Context> context, HermitianSettings settings)
      : batch(std::move(context), std::move(settings)) {}
  PlacedHermitian batch;
};

namespace {

constexpr sxt_space contexts_own = -1;

std::uint64_t hermitian_id(const sxt_hermitian *handle) { return handle ? handle->batch.context().id() : 0; }

sxt_hermitian_options hermitian_defaults() {
  sxt_hermitian_options options{};
  options.value_type = SXT_F64;
  options.triangle = SXT_LOWER;
  options.definiteness = SXT_DEFINITE;
  options.space = contexts_own;
  options.n_rhs = 1;
  options.expected_runs = 1;
  return options;
}

HermitianSettings settings_of(const Context &context, const sxt_hermitian_options &o) {
  HermitianSettings s;
  check_reserved(o.reserved0, "reserved0");
  s.type = o.value_type;
  s.triangle = o.triangle;
  s.definiteness = o.definiteness;
  s.space = o.space == contexts_own ? (context.device().on_host() ? SXT_SPACE_HOST : SXT_SPACE_DEVICE) : o.space;
  require(s.space >= SXT_SPACE_HOST && s.space <= SXT_SPACE_MANAGED, SXT_E_ARGUMENT, "space ", o.space,
          " is not an sxt_space, nor -1");
  s.batch = o.batch;
  s.n = o.n;
  s.n_rhs = o.n_rhs;
  require(o.batch >= 0, SXT_E_ARGUMENT, "batch is negative (", o.batch, ")");
  require_aligned(o.orders, sizeof *o.orders, "orders");
  require_aligned(o.shifts, sizeof *o.shifts, "shifts");
  if (o.orders) s.orders.assign(o.orders, o.orders + o.batch);
  s.pointer_array = switched(o.pointer_array, "pointer_array");
  s.leading_vary = switched(o.leading_vary, "leading_vary");
  s.equilibrate = switched(o.equilibrate, "equilibrate");
  s.shift_relative = switched(o.shift_relative, "shift_relative");
  s.may_spoil = switched(o.may_spoil, "may_spoil");
  s.refine_steps = o.refine_steps;
  s.refine_tolerance = o.refine_tolerance;
  require(o.n_shifts >= 0, SXT_E_ARGUMENT, "n_shifts is negative (", o.n_shifts, ")");
  require(o.shifts || o.n_shifts == 0, SXT_E_ARGUMENT, "shifts is NULL, but n_shifts is ", o.n_shifts);
  if (o.shifts) s.shifts.assign(o.shifts, o.shifts + o.n_shifts);
  s.workspace_limit = o.workspace_limit;
  s.expected_runs = o.expected_runs;
  s.kernel = name_or_none(o.kernel, "kernel");
  s.shortcuts = o.shortcuts;
  return s;
}

sxt_status run_phase(sxt_hermitian *hermitian, std::int32_t phase, const sxt_hermitian_set *set) {
  return guarded(hermitian_id(hermitian), [&] {
    PlacedHermitian &batch = given(hermitian, "hermitian").batch;
    present(set, "set");
    batch.run(phase, read_sized(set, sxt_hermitian_set{}, "set"));
  });
}

}  // namespace

void sxt_hermitian_options_init(sxt_hermitian_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, hermitian_defaults());
}
void sxt_hermitian_set_init(sxt_hermitian_set *set, uint64_t struct_size) {
  write_sized(set, struct_size, sxt_hermitian_set{});
}

sxt_status sxt_hermitian_create(sxt_context *context, const sxt_hermitian_options *options, sxt_hermitian **hermitian) {
  return guarded(abi::id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    present(options, "options");
    given(hermitian, "hermitian");
    HermitianSettings settings = settings_of(*inner, read_sized(options, hermitian_defaults(), "options"));
    if (!settings.kernel.empty()) inner->check_names(SXT_KIND_HERMITIAN, settings.kernel);
    *hermitian = std::make_unique<sxt_hermitian>(inner, std::move(settings)).release();
  });
}

sxt_status sxt_hermitian_factor(sxt_hermitian *hermitian, const sxt_hermitian_set *set) {
  return run_phase(hermitian, SXT_HERMITIAN_FACTOR, set);
}
sxt_status sxt_hermitian_solve(sxt_hermitian *hermitian, const sxt_hermitian_set *set) {
  return run_phase(hermitian, SXT_HERMITIAN_SOLVE, set);
}
sxt_status sxt_hermitian_factor_solve(sxt_hermitian *hermitian, const sxt_hermitian_set *set) {
  return run_phase(hermitian, SXT_HERMITIAN_FACTOR_SOLVE, set);
}

sxt_status sxt_hermitian_get_report(const sxt_hermitian *hermitian, sxt_hermitian_report *report) {
  return guarded(hermitian_id(hermitian),
                 [&] { answer_sized(report, given(hermitian, "hermitian").batch.report(), "report"); });
}

sxt_status sxt_hermitian_explain(const sxt_hermitian *hermitian, int32_t form, char *buffer, int64_t capacity,
                                 int64_t *length) {
  return guarded(hermitian_id(hermitian), [&] {
    const Explanation explanation = given(hermitian, "hermitian").batch.explain();
    require(form == SXT_TEXT || form == SXT_JSON, SXT_E_ARGUMENT, "form ", form,
            " is not SXT_TEXT (0) or SXT_JSON (1)");
    fill(form == SXT_JSON ? explain_json(explanation) : explain_text(explanation), buffer, capacity, length);
  });
}

void sxt_hermitian_destroy(sxt_hermitian *hermitian) { destroy(hermitian); }
