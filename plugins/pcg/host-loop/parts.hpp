// SPDX-License-Identifier: BSD-3-Clause
// The steps of an iteration that other kernels do for the engine (its slots), which of them each recurrence needs, and
// the kernels that fill them in one session.
#pragma once

#include <cstdint>

#include "sextant/kinds/multidot.h"
#include "sextant/kinds/pcg.h"
#include "sextant/kinds/spmv_dots.h"
#include "sextant/kinds/vector.h"
#include "sextant/kinds/vector_group.h"

namespace host_loop {

// Instances of the "vector" slot.
enum VectorInstance : std::uint64_t { vector_axpby = 0, vector_copy = 1, vector_instances = 2 };

// What is constant about one recurrence: its parts, and the numbers that describe them.
struct Recurrence {
  std::int32_t id;        // SXT_RECURRENCE_*
  const char *name;       // for messages
  std::int32_t group;     // SXT_GROUP_*: the fused update of an iteration
  const sxt_slot *slots;  // in the order of `roles`
  std::uint64_t n_slots;
  bool takes_preconditioner;  // has a slot "M"

  // Inner products that go with A x, and the distinct arrays among them; [1]: with a preconditioner.
  std::int32_t apply_dots[2], apply_arrays[2];
  // Inner products of the slot "dots", which only some recurrences have; always with r among them.
  std::int32_t dots[2], dots_arrays[2];
  // Work vectors of a session.
  std::int32_t vectors[2];

  // The slot with this role; -1: the recurrence has none.
  std::int64_t find(const char *role) const;
};

// The table entry of a recurrence id.
const Recurrence &recurrence(std::int32_t id);

// The kernels of one session, copied from core's filled slots. A part that is not there has run == NULL.
struct Parts {
  sxt_bound apply{};       // spmv, or spmv_dots when `fused`
  sxt_bound apply_dots{};  // the multidot beside a plain spmv
  sxt_bound update{}, axpby{}, copy{}, dots{}, precondition{};
  bool fused = false;
};
Parts collect(const Recurrence &recurrence, const sxt_filled *slots);

}  // namespace host_loop
