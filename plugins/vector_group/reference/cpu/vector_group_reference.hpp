// SPDX-License-Identifier: BSD-3-Clause
// The reference kernels of kinds sxt.vector_group/1 and sxt.vector_group_dots/1 and the kinds themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/alike.h"
#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/plugin/kinds/vector_group_dots.h"
#include "sextant/sdk/cases.hpp"

namespace sextant::vector_group_reference {

extern const sxt_kernel kernel;
extern const sxt_kind_alike kind;
extern const sxt_kernel dots_kernel;
extern const sxt_kind dots_kind;

// The statements of a group, one after the other.
sxt_status update_group(sxt_value_type type, const sxt_vector_group_args &args, const sxt_exec *exec);

inline constexpr std::uint64_t groups = 3, types = 4;
inline constexpr int vectors_of[] = {0, 4, 6, 4};  // by group

// The operands of cases of both kinds.
struct Operands {
  std::vector<plugin::cases::Array> vectors;
  plugin::cases::Array alpha, beta;

  Operands() = default;
  Operands(std::int32_t group, sxt_value_type type, std::int64_t n, plugin::cases::Random &random)
      : alpha(type, 1, random), beta(type, 1, random) {
    for (int k = 0; k < vectors_of[group]; ++k) vectors.emplace_back(type, n, random);
  }
  void fill(sxt_vector_group_args &args, std::int32_t group) {
    args.n = vectors[0].size();
    args.group = group;
    args.scalars[0] = {alpha.data(), 0, 0};
    if (group != SXT_GROUP_CLASSICAL_XR) args.scalars[1] = {beta.data(), 0, 0};
    for (std::size_t k = 0; k < vectors.size(); ++k) args.vectors[k] = vectors[k].data();
  }
  void move(plugin::cases::Move &move, sxt_vector_group_args &args) {
    for (plugin::cases::Array &vector : vectors) move.array(vector);
    move.array(alpha).array(beta);
    for (void *&vector : args.vectors) move.point(vector);
    for (sxt_scalar &scalar : args.scalars) move.scalar(scalar);
  }
  // Numbers stay below 8 in size and are rounded a few times. Vectors that are only read are compared, too.
  void compare(const Operands &want, plugin::cases::Verdict &verdict) const {
    for (std::size_t k = 0; k < want.vectors.size(); ++k) {
      const plugin::cases::Array &expected = want.vectors[k];
      for (std::int64_t i = 0; i < expected.size(); ++i)
        verdict.check("vector", i, vectors[k].at(i), expected.at(i), 32 * plugin::cases::epsilon(expected.type()));
      if (!vectors[k].guard_intact()) verdict.fail("the kernel wrote beyond the end of a vector");
    }
  }
};

}  // namespace sextant::vector_group_reference
