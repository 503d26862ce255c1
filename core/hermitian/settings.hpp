// SPDX-License-Identifier: BSD-3-Clause
// What a set of Hermitian systems is: its description, checked, and one set's arrays, checked against it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device/device.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/hermitian_step.h"
#include "sextant/plugin/kinds/hermitian_toeplitz.h"
#include "sextant/sextant.h"

namespace sextant {

// As sxt_hermitian_options; space is resolved, and what follows from the orders is added by check().
struct HermitianSettings {
  sxt_value_type type = SXT_F64;
  sxt_triangle triangle = SXT_LOWER;
  sxt_definiteness definiteness = SXT_DEFINITE;
  sxt_space space = SXT_SPACE_HOST;
  std::int64_t batch = 0, n = 0, n_rhs = 1;
  std::vector<std::int32_t> orders;  // empty: all n
  bool pointer_array = false, leading_vary = false, equilibrate = false, shift_relative = false, may_spoil = false;
  int refine_steps = 0;
  double refine_tolerance = 0;
  std::vector<double> shifts;
  std::uint64_t workspace_limit = 0;
  double expected_runs = 1;
  std::string kernel;
  std::int32_t shortcuts = 0;

  std::int64_t n_max = 0, n_min = 0;
  double sum_n1 = 0, sum_n2 = 0, sum_n3 = 0;

  // Throws SXT_E_ARGUMENT, SXT_E_TYPE or SXT_E_OVERFLOW with the member's name.
  void check();
  std::int64_t order(std::int64_t s) const { return orders.empty() ? n : orders[static_cast<std::size_t>(s)]; }
};

// A set's arrays with every default filled in; or a part of them, from system `first` on.
struct HermitianArrays {
  sxt_hermitian_block a{}, factor{}, b{}, x{};  // factor, x: as a, b when work is in place
  std::int64_t n_rhs = 0, first = 0;
  const std::uint8_t *active = nullptr;
  std::uint8_t *active_out = nullptr, *shortcut = nullptr;
  std::int32_t *info = nullptr, *pivots = nullptr, *inertia = nullptr;
  std::int64_t stride_pivots = 0, stride_scale = 0;
  double *scale = nullptr, *residual = nullptr, *rcond = nullptr, *shift = nullptr;
  bool copies_factor = false, copies_solution = false;

  // The same from system `by` of it on.
  HermitianArrays from(std::int64_t by, std::int64_t value_bytes) const;
};

// Throws SXT_E_ARGUMENT or SXT_E_OVERFLOW, naming the member of the set.
HermitianArrays check_set(const HermitianSettings &settings, const Device &device, std::int32_t phase,
                          const sxt_hermitian_set &set);

// A solve in host memory follows the pivots it is given: throws SXT_E_ARGUMENT, naming the entry, for those of a system
// it would work on that no factorisation leaves. O(n) a system.
void check_pivots(const HermitianSettings &settings, const HermitianArrays &arrays);

inline bool factors(std::int32_t phase) noexcept { return (phase & SXT_HERMITIAN_FACTOR) != 0; }
inline bool solves(std::int32_t phase) noexcept { return (phase & SXT_HERMITIAN_SOLVE) != 0; }

}  // namespace sextant
