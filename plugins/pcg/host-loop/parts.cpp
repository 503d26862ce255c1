// SPDX-License-Identifier: BSD-3-Clause
// The slots of the three recurrences.
#include "parts.hpp"

#include <cstdint>
#include <cstring>

namespace host_loop {
namespace {

const char *const apply_alternatives[] = {SXT_KIND_SPMV_DOTS, SXT_KIND_SPMV "+" SXT_KIND_MULTIDOT, nullptr};
const char *const update_alternatives[] = {SXT_KIND_VECTOR_GROUP, nullptr};
const char *const vector_alternatives[] = {SXT_KIND_VECTOR, nullptr};
const char *const dots_alternatives[] = {SXT_KIND_MULTIDOT, nullptr};
const char *const preconditioner_alternatives[] = {SXT_KIND_PRECONDITIONER, nullptr};

constexpr sxt_slot apply_slot{"A", apply_alternatives, 0, 1, 1, 0};
constexpr sxt_slot update_slot{"update", update_alternatives, 0, 1, 1, 0};
constexpr sxt_slot vector_slot{"vector", vector_alternatives, 0, vector_instances, vector_instances, 0};
constexpr sxt_slot dots_slot{"dots", dots_alternatives, 0, 1, 1, 0};
constexpr sxt_slot preconditioner_slot{"M", preconditioner_alternatives, 0, 0, 1, 0};

const sxt_slot classical_slots[] = {apply_slot, update_slot, vector_slot, dots_slot, preconditioner_slot};
const sxt_slot chronopoulos_gear_slots[] = {apply_slot, update_slot, vector_slot, preconditioner_slot};
const sxt_slot predict_recompute_slots[] = {apply_slot, update_slot, vector_slot, dots_slot};

const Recurrence recurrences[] = {
    {.id = SXT_RECURRENCE_CLASSICAL,
     .name = "classical",
     .group = SXT_GROUP_CLASSICAL_XR,
     .slots = classical_slots,
     .n_slots = 5,
     .takes_preconditioner = true,
     .apply_dots = {1, 1},
     .apply_arrays = {2, 2},  // p.q
     .dots = {1, 2},
     .dots_arrays = {1, 2},  // r.r and, with M, r.z
     .vectors = {3, 4}},     // r p q, z
    {.id = SXT_RECURRENCE_CHRONOPOULOS_GEAR,
     .name = "chronopoulos-gear",
     .group = SXT_GROUP_CHRONOPOULOS_GEAR,
     .slots = chronopoulos_gear_slots,
     .n_slots = 4,
     .takes_preconditioner = true,
     .apply_dots = {2, 3},
     .apply_arrays = {2, 3},  // u.w, u.u; with M: u.w, r.u, r.r
     .dots = {0, 0},
     .dots_arrays = {0, 0},
     .vectors = {4, 5}},  // r w p s, u
    {.id = SXT_RECURRENCE_PREDICT_RECOMPUTE,
     .name = "predict-recompute",
     .group = SXT_GROUP_PREDICT_RECOMPUTE,
     .slots = predict_recompute_slots,
     .n_slots = 4,
     .takes_preconditioner = false,
     .apply_dots = {4, 4},
     .apply_arrays = {3, 3},  // p.q, r.q, q.q, r.r
     .dots = {1, 1},
     .dots_arrays = {1, 1},  // r.r where its prediction is not to be trusted
     .vectors = {3, 3}},     // r p q
};

}  // namespace

std::int64_t Recurrence::find(const char *role) const {
  for (std::uint64_t i = 0; i < n_slots; ++i)
    if (std::strcmp(slots[i].role, role) == 0) return static_cast<std::int64_t>(i);
  return -1;
}

const Recurrence &recurrence(std::int32_t id) { return recurrences[id - SXT_RECURRENCE_CLASSICAL]; }

Parts collect(const Recurrence &recurrence, const sxt_filled *slots) {
  Parts parts;
  const sxt_filled &apply = slots[recurrence.find("A")];
  parts.fused = apply.alternative == 0;
  parts.apply = *apply.parts[0];
  if (!parts.fused) parts.apply_dots = *apply.parts[1];

  parts.update = *slots[recurrence.find("update")].parts[0];
  const sxt_filled &vector = slots[recurrence.find("vector")];
  parts.axpby = *vector.parts[vector_axpby];
  parts.copy = *vector.parts[vector_copy];

  if (const auto dots = recurrence.find("dots"); dots >= 0) parts.dots = *slots[dots].parts[0];
  // M may stay empty: the preconditioner is then the identity.
  if (const auto m = recurrence.find("M"); m >= 0 && slots[m].alternative >= 0 && slots[m].instances > 0)
    parts.precondition = *slots[m].parts[0];
  return parts;
}

}  // namespace host_loop
