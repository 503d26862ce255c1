// SPDX-License-Identifier: BSD-3-Clause
// A CSR with rows and columns exchanged, for transposed products that need no atomics: entries sorted by column,
// stable, so that bits depend only on the matrix. Keeps the origin of each value, for refresh.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/cuda/memory.hpp"

namespace sextant::spmv_csr_cuda {

class Transposed {
 public:
  Transposed() = default;
  // a: CSR in device space. Throws plugin::cuda::Failure.
  Transposed(const sxt_csr &a, const sxt_exec *exec);
  const sxt_csr &view() const { return view_; }
  // Takes the present values of a, whose pattern is unchanged. Allocates nothing.
  void take_values(const sxt_csr &a, const sxt_exec *exec) const;

 private:
  sxt_csr view_{};
  plugin::cuda::DeviceArray row_ptr_, col_, values_, places_;
};

}  // namespace sextant::spmv_csr_cuda
