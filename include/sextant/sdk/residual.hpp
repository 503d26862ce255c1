// SPDX-License-Identifier: BSD-3-Clause
// What every residual kernel takes. Header-only, no part of the ABI.
#pragma once

#include "sextant/plugin/kinds/residual.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::residual {

// sxt_kernel.applicable: matrix and vectors of one type.
inline sxt_status has_one_type(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const sxt_matrix_query &m = plugin::as<sxt_residual_query>(query).m;
  return m.matrix_type == m.q.value_type ? SXT_OK : plugin::refuse_types(m.q.value_type, m.matrix_type, reason);
}

}  // namespace sextant::residual
