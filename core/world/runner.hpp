// SPDX-License-Identifier: BSD-3-Clause
// A kernel chosen for a query and built, the next candidate where one declines.
#pragma once

#include <memory>

#include "core/choose/make_choice.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

// matrix: NULL where the query is about none; it and data must outlive the runner. Throws SXT_E_NO_KERNEL with every
// candidate's reason, and what building one fails with.
inline std::unique_ptr<Runner> make_runner(Context &context, const sxt_query &query, const char *role,
                                           Matrix *matrix = nullptr, const sxt_head *data = nullptr,
                                           std::uint64_t asked = 0) {
  LeftOut left_out;
  const auto choose = [&](const LeftOut &kernels) {
    return Selector(context, matrix, {.left_out = kernels, .asked = asked}).select({Query(&query), role});
  };
  return make_choice(context, left_out, choose,
                     [&](const ChoicePtr &choice) { return std::make_unique<Runner>(context, choice, matrix, data); });
}

}  // namespace sextant
