// SPDX-License-Identifier: BSD-3-Clause
// Matrices of the library, and generated ones, as they are written to files.
#pragma once

#include "input/matrix_input.hpp"
#include "report/write_matrix.hpp"

namespace tool {

// What the library holds, as long as it holds it.
MatrixView view_of(sxt_context *context, const sxt_matrix *matrix, const sxt_matrix_info &info);
MatrixView view_of(const HostCsr &a);  // symmetric, as all that are generated

}  // namespace tool
