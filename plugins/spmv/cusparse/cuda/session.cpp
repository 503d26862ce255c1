// SPDX-License-Identifier: BSD-3-Clause
// Sessions: cuSPARSE's handle, its descriptions of matrix and vectors, and its buffer.
#include <algorithm>
#include <cstring>

#include "cusparse.hpp"

namespace sextant::spmv_cusparse {

using plugin::as;
using plugin::cuda::DeviceArray;
using plugin::cuda::Failure;

Session::~Session() {
  const Cusparse &lib = Cusparse::instance();
  if (y) lib.destroy_vector(y);
  if (x) lib.destroy_vector(x);
  if (matrix) lib.destroy_matrix(matrix);
  if (handle) lib.destroy(handle);
}

cudaDataType data_type(sxt_value_type type) {
  switch (type) {
    case SXT_F32: return CUDA_R_32F;
    case SXT_C64: return CUDA_C_32F;
    case SXT_C128: return CUDA_C_64F;
    default: return CUDA_R_64F;
  }
}

// The library refuses to conjugate real numbers.
cusparseOperation_t operation(sxt_op op, sxt_value_type type) {
  if (op == SXT_NO_TRANSPOSE) return CUSPARSE_OPERATION_NON_TRANSPOSE;
  const bool complex = type == SXT_C64 || type == SXT_C128;
  return op == SXT_CONJUGATE_TRANSPOSE && complex ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
                                                  : CUSPARSE_OPERATION_TRANSPOSE;
}

void need(cusparseStatus_t status, const char *step) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const sxt_status meaning = status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
                                 ? SXT_E_MEMORY
                             : status == CUSPARSE_STATUS_NOT_SUPPORTED ? SXT_E_NOT_SUPPORTED
                                                                       : SXT_E_DEVICE;
  throw Failure(meaning, "cuSPARSE could not %s: status %d", step, static_cast<int>(status));
}

namespace {

cusparseIndexType_t index_type(sxt_index_type type) {
  return type == SXT_I64 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
}

// Entries stored in SELL: the last slice pointer.
std::int64_t stored_entries(const sxt_sell &a, const sxt_exec *exec) {
  return plugin::cuda::fetch(exec, static_cast<const std::int64_t *>(a.slice_ptr) + a.n_slices, "a slice pointer");
}

void describe_sell(const State &state, Session &session, const sxt_exec *exec) {
  const auto &a = as<sxt_sell>(&state.a->h);
  need(Cusparse::instance().create_sell(&session.matrix, a.s.rows, a.s.cols, a.s.nnz, stored_entries(a, exec), a.slice,
                                        state.slice_ptr.data(), a.col, a.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_BASE_ZERO, data_type(a.s.value_type)),
       "describe a matrix in SELL");
}

void describe_bsr(const State &state, Session &session) {
  const auto &a = as<sxt_bsr>(&state.a->h);
  const std::int64_t block_cols = (a.s.cols + a.block - 1) / a.block;
  need(Cusparse::instance().create_bsr(&session.matrix, a.block_rows, block_cols, a.blocks, a.block, a.block, a.row_ptr,
                                       a.col, a.values, index_type(a.s.offset_type), index_type(a.s.index_type),
                                       CUSPARSE_INDEX_BASE_ZERO, data_type(a.s.value_type), CUSPARSE_ORDER_COL),
       "describe a matrix in BSR");
}

void describe_matrix(const State &state, Session &session, const sxt_exec *exec) {
  const Cusparse &lib = Cusparse::instance();
  const sxt_storage &s = *state.a;
  if (state.format == Format::sell) return describe_sell(state, session, exec);
  if (state.format == Format::bsr) return describe_bsr(state, session);
  if (state.format == Format::coo) {
    const auto &a = as<sxt_coo>(&s.h);
    return need(lib.create_coo(&session.matrix, s.rows, s.cols, s.nnz, a.row, a.col, a.values, index_type(s.index_type),
                               CUSPARSE_INDEX_BASE_ZERO, data_type(s.value_type)),
                "describe a matrix in COO");
  }
  const auto &a = as<sxt_csr>(&s.h);
  need(lib.create_csr(&session.matrix, s.rows, s.cols, s.nnz, a.row_ptr, a.col, a.values, index_type(s.offset_type),
                      index_type(s.index_type), CUSPARSE_INDEX_BASE_ZERO, data_type(s.value_type)),
       "describe a matrix in CSR");
}

}  // namespace

void open_session(const State &state, Session &session, const sxt_exec *exec) {
  const Cusparse &lib = Cusparse::instance();
  const auto element = plugin::value_bytes(state.type);
  need(lib.create(&session.handle), "make a handle");
  need(lib.set_stream(session.handle, plugin::cuda::stream_of(*exec)), "take the stream");
  describe_matrix(state, session, exec);
  const auto in = static_cast<std::uint64_t>(state.in), out = static_cast<std::uint64_t>(state.out);
  if (state.detour) {
    session.own_x = DeviceArray(exec, in * element, "a copy of x");
    session.own_y = DeviceArray(exec, out * element, "a copy of y");
    plugin::cuda::fill_bytes(exec, session.own_x.data(), 0, session.own_x.bytes(), "clear a copy of x");
  }
  // The library requires vectors when it prepares; it reads only their sizes, but checks that addresses exist.
  const DeviceArray place(exec, std::max(in, out) * element, "vectors to prepare with", plugin::cuda::Life::call);
  need(lib.create_vector(&session.x, state.in, place.data(), data_type(state.type)), "describe x");
  need(lib.create_vector(&session.y, state.out, place.data(), data_type(state.type)), "describe y");
  need(lib.set_pointer_mode(session.handle, CUSPARSE_POINTER_MODE_HOST), "take factors from the host");
  const double one[2] = {1, 0}, zero[2] = {0, 0};
  const float single[2] = {1, 0};
  const void *alpha =
      plugin::value_bytes(state.type) == 4 || state.type == SXT_C64 ? static_cast<const void *>(single) : one;
  std::size_t bytes = 0;
  need(lib.buffer_size(session.handle, operation(state.op, state.type), alpha, session.matrix, session.x, zero,
                       session.y, data_type(state.type), state.algorithm, &bytes),
       "report the memory it needs");
  session.buffer = DeviceArray(exec, std::max<std::uint64_t>(bytes, 16), "cuSPARSE's buffer");
  if (state.format == Format::csr)
    need(lib.preprocess(session.handle, operation(state.op, state.type), alpha, session.matrix, session.x, zero,
                        session.y, data_type(state.type), state.algorithm, session.buffer.data()),
         "prepare a product");
  plugin::cuda::wait(exec);
}

}  // namespace sextant::spmv_cusparse
