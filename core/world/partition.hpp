// SPDX-License-Identifier: BSD-3-Clause
// A matrix of one context divided among the members of a world, by a kernel of kind sxt.partition/1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix/matrix.hpp"
#include "core/run/choice.hpp"
#include "core/world/world.hpp"

namespace sextant {

struct Partition {
  ChoicePtr choice;
  std::vector<std::int64_t> order, begin;  // order[k]: the row that comes k-th; begin: of each member's, and the end
  bool renumbers() const noexcept;
};

// Bytes that a product reads for each entry and each row, by which rows are shared out.
double entry_bytes(sxt_value_type type) noexcept;
double row_bytes(sxt_value_type type) noexcept;

// method: "" for the library's choice, which leaves rows in their order. Throws SXT_E_UNKNOWN_NAME for a method that
// there is none of, SXT_E_NO_KERNEL with the reason where it does not serve.
Partition partition(const World &world, Matrix &whole, const std::string &method);

}  // namespace sextant
