// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE as far as it is used here: opened when a kernel is first prepared, never linked, and only from the first
// version that has all functions.
#pragma once

#include <cusparse.h>

#include "sextant/sdk/vendor.hpp"

namespace sextant::spmv_cusparse {

struct Cusparse : plugin::VendorLibrary {
  static constexpr int least_version = 12300;  // CUDA 12.3: SELL and BSR products, and the preparation of CSR ones

  decltype(cusparseCreate) *create;
  decltype(cusparseDestroy) *destroy;
  decltype(cusparseSetStream) *set_stream;
  decltype(cusparseSetPointerMode) *set_pointer_mode;
  decltype(cusparseGetVersion) *get_version;
  decltype(cusparseCreateConstCsr) *create_csr;
  decltype(cusparseCreateConstCoo) *create_coo;
  decltype(cusparseCreateConstSlicedEll) *create_sell;
  decltype(cusparseCreateConstBsr) *create_bsr;
  decltype(cusparseDestroySpMat) *destroy_matrix;
  decltype(cusparseCreateDnVec) *create_vector;
  decltype(cusparseDnVecSetValues) *set_values;
  decltype(cusparseDestroyDnVec) *destroy_vector;
  decltype(cusparseSpMV_bufferSize) *buffer_size;
  decltype(cusparseSpMV_preprocess) *preprocess;
  decltype(cusparseSpMV) *spmv;

  static constexpr const char *names[] = {"libcusparse.so.12"};
  Cusparse() : VendorLibrary(names) {
    find(create, "cusparseCreate"), find(destroy, "cusparseDestroy"), find(set_stream, "cusparseSetStream");
    find(set_pointer_mode, "cusparseSetPointerMode"), find(get_version, "cusparseGetVersion");
    find(create_csr, "cusparseCreateConstCsr"), find(create_coo, "cusparseCreateConstCoo");
    find(create_sell, "cusparseCreateConstSlicedEll"), find(create_bsr, "cusparseCreateConstBsr");
    find(destroy_matrix, "cusparseDestroySpMat"), find(create_vector, "cusparseCreateDnVec");
    find(set_values, "cusparseDnVecSetValues"), find(destroy_vector, "cusparseDestroyDnVec");
    find(buffer_size, "cusparseSpMV_bufferSize"), find(preprocess, "cusparseSpMV_preprocess");
    find(spmv, "cusparseSpMV");
  }
  static const Cusparse &instance() {
    static const Cusparse library;
    return library;
  }
};

}  // namespace sextant::spmv_cusparse
