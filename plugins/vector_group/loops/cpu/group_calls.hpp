// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the two kernels over vector groups on the host: their state, a group's traffic and flops, and the
// operands of a run.
#pragma once

#include <cstdint>

#include "group_table.hpp"
#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/cpu/threads.hpp"

SXT_ISA_TABLE(sextant_vector_group_cpu, Table)

namespace sextant_vector_group_cpu {

using namespace sextant::plugin;

struct State {
  const Table *table;
  std::int64_t threads;
  sxt_value_type type;
};

// Vectors a group touches, reads plus writes, and its multiply-adds an element.
struct Traffic {
  double vectors, moved, multiply_adds;
};

inline Traffic traffic_of(std::int32_t group) {
  if (group == SXT_GROUP_CHRONOPOULOS_GEAR) return {6, 10, 4};  // x r p s in and out, u w in
  if (group == SXT_GROUP_PREDICT_RECOMPUTE) return {4, 7, 3};   // x r p in and out, q in
  return {4, 6, 2};                                             // x r in and out, p q in
}

inline bool known_group(std::int32_t group) {
  return group >= SXT_GROUP_CLASSICAL_XR && group <= SXT_GROUP_PREDICT_RECOMPUTE;
}

inline sxt_status refuse_group(sxt_message *reason, std::int32_t group) {
  return refuse(reason, "group %d is not one of %d to %d", group, SXT_GROUP_CLASSICAL_XR, SXT_GROUP_PREDICT_RECOMPUTE);
}

// Scalars that are not given are one.
inline Call call_of(const sxt_vector_group_args &args, sxt_value_type type) {
  static constexpr double ones[2] = {1, 0};
  static constexpr float single_ones[2] = {1, 0};
  const bool single = type == SXT_F32 || type == SXT_C64;
  const void *one = single ? static_cast<const void *>(single_ones) : ones;
  const auto or_one = [&](const sxt_scalar &s) { return s.value ? s.value : one; };
  return {args.vectors, or_one(args.scalars[0]), or_one(args.scalars[1])};
}

inline sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                          const sxt_exec *exec, void **state) {
  return guard(exec, [&] {
    return give(new State{&isa_table(isa_level(candidate)), candidate ? candidate->launch[0] : exec->threads,
                          problem->query->value_type},
                state);
  });
}

extern const sxt_kernel dots_kernel;  // vector_group_dots.cpp

}  // namespace sextant_vector_group_cpu
