// SPDX-License-Identifier: BSD-3-Clause
// cuBLAS' functions, opened when the kernel is first prepared.
#pragma once

#include <cublas_v2.h>

#include <string>

#include "sextant/sdk/vendor.hpp"

namespace sextant_dense::vendor {

using Gemm = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                            const void *, int, const void *, int, const void *, void *, int);
using Trsm = cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                            int, int, const void *, const void *, int, void *, int);

struct Cublas : sextant::plugin::VendorLibrary {
  cublasStatus_t (*create)(cublasHandle_t *);
  cublasStatus_t (*destroy)(cublasHandle_t);
  cublasStatus_t (*set_stream)(cublasHandle_t, cudaStream_t);
  cublasStatus_t (*set_workspace)(cublasHandle_t, void *, std::size_t);
  Gemm *gemm[4];  // f32, f64, c64, c128
  Trsm *trsm[4];

  static constexpr const char *names[] = {"libcublas.so.13", "libcublas.so.12"};
  Cublas() : VendorLibrary(names) {
    find(create, "cublasCreate_v2"), find(destroy, "cublasDestroy_v2"), find(set_stream, "cublasSetStream_v2");
    find(set_workspace, "cublasSetWorkspace_v2");
    const char letters[] = {'S', 'D', 'C', 'Z'};
    for (int i = 0; i < 4; ++i) {
      const std::string name = std::string("cublas") + letters[i];
      find(gemm[i], (name + "gemm_v2").c_str());
      find(trsm[i], (name + "trsm_v2").c_str());
    }
  }
  static const Cublas &instance() {
    static const Cublas library;
    return library;
  }
};

}  // namespace sextant_dense::vendor
