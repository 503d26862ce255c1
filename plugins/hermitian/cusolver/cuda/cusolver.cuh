// SPDX-License-Identifier: BSD-3-Clause
// cuSOLVER's handles, for both of its kernels.
#pragma once

#include <cusolverDn.h>

#include "vendor.cuh"

namespace sextant::hermitian_vendor {

struct CusolverHandles : VendorLibrary {
  using Handle = cusolverDnHandle_t;
  decltype(cusolverDnCreate) *create;
  decltype(cusolverDnDestroy) *destroy;
  decltype(cusolverDnSetStream) *set_stream;

  static constexpr const char *title = "cuSOLVER", *names[] = {"libcusolver.so.12", "libcusolver.so.11"};
  static constexpr auto success = CUSOLVER_STATUS_SUCCESS, no_memory = CUSOLVER_STATUS_ALLOC_FAILED;
  CusolverHandles() : VendorLibrary(names) {
    find(create, "cusolverDnCreate"), find(destroy, "cusolverDnDestroy"), find(set_stream, "cusolverDnSetStream");
  }
};

}  // namespace sextant::hermitian_vendor
