// SPDX-License-Identifier: BSD-3-Clause
// What a matrix looks like: where its entries lie, on a coarse grid, and how long its rows are.
#pragma once

#include "input/matrix_input.hpp"

namespace tool {

// {"cells": [..], "densest": .., "row_lengths": [[least, most, rows], ..]}. cells: rows of the grid, top first, a digit
// a cell: 0 is empty, 9 the densest cell, by the logarithm of its entries. row_lengths: bins that double in width.
Json pattern_json(sxt_context *context, const LoadedMatrix &matrix);

}  // namespace tool
