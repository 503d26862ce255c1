// SPDX-License-Identifier: BSD-3-Clause
// Common parts of this folder's files: the four storage formats, states and sessions, and the last step of products
// that the library cannot write in place.
#pragma once

#include <cstdint>

#include "library.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cuda/memory.hpp"

namespace sextant::spmv_cusparse {

enum class Format { csr, coo, sell, bsr };

struct State {
  Format format = Format::csr;
  const sxt_storage *a = nullptr;
  sxt_value_type type = SXT_F64;
  sxt_op op = SXT_NO_TRANSPOSE;
  cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
  // The product goes to the session's memory first: rows are sorted, or blocks reach beyond the matrix.
  bool detour = false;
  std::int64_t in = 0, out = 0;         // elements of x and y for the library
  plugin::cuda::DeviceArray slice_ptr;  // of SELL, as 32-bit numbers
};

// One caller: a handle, descriptors, and the memory the library requires.
struct Session {
  cusparseHandle_t handle = nullptr;
  cusparseConstSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  plugin::cuda::DeviceArray buffer, own_x, own_y;
  ~Session();
};

cudaDataType data_type(sxt_value_type type);
cusparseOperation_t operation(sxt_op op, sxt_value_type type);
// Throws the library's failure: "cuSPARSE could not <step>: <its words>".
void need(cusparseStatus_t status, const char *step);

// Makes handle, descriptors and buffers, and lets the library analyse the matrix.
void open_session(const State &state, Session &session, const sxt_exec *exec);

// y[perm[i]] = alpha sum[i] + beta y[perm[i]] for n rows; perm NULL: the identity.
sxt_status finish_rows(sxt_value_type type, std::int64_t n, const void *sum, const std::int32_t *perm, void *y,
                       const sxt_scalar &alpha, const sxt_scalar &beta, const sxt_exec *exec);
// 64-bit numbers below 2^31 as 32-bit ones.
void narrow(const std::int64_t *from, std::int32_t *to, std::int64_t n, const sxt_exec *exec);
sxt_status load_code(sxt_value_type type, const sxt_exec *exec);

}  // namespace sextant::spmv_cusparse
