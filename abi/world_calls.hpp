// SPDX-License-Identifier: BSD-3-Clause
// Calls of sextant.h and pcg.h on objects of worlds. A gather carries the errors of one rank to all ranks, so that
// every rank returns the same status.
#pragma once

#include <cstdint>
#include <functional>

#include "abi/handles.hpp"

#include "sextant/sextant.h"

namespace sextant::abi {

// Requires operands of one world and type, with parts of equal lengths.
void check_alike(const sxt_vector &first, const char *first_name, const sxt_vector &other, const char *name);
// check() checks the operands. y: NULL for operations on one vector.
void reduce_in_world(const char *call, std::int32_t operation, const sxt_vector &x, const sxt_vector *y, void *result,
                     const std::function<void()> &check);
void multidot_in_world(std::int32_t count, const sxt_vector *const *x, const sxt_vector *const *y, void *results,
                       const std::function<void()> &check);
void spmv_in_world(sxt_op op, const void *alpha, sxt_matrix &a, const sxt_vector *x, const void *beta, sxt_vector *y);
void update_world_values(sxt_matrix &matrix, const void *values, std::int64_t count);
sxt_matrix_info world_info(const WorldMatrix &matrix);
sxt_pcg_report solve_in_world(sxt_pcg &pcg, const sxt_vector *b, sxt_vector *x,
                              const std::function<SolveSettings()> &settings);

}  // namespace sextant::abi
