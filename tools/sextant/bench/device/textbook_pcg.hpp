// SPDX-License-Identifier: BSD-3-Clause
// Jacobi-preconditioned conjugate gradients on a GPU as a textbook writes them over the vendor's libraries: one call of
// cuSPARSE or cuBLAS for each line, scalars on the host. Both libraries are opened when they are first asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/bench.hpp"

namespace tool {

class DeviceTextbookPcg {
 public:
  // csr: on the host, zero-based, i32 columns and offsets, f64. NULL with the reason where a library is missing.
  static std::unique_ptr<DeviceTextbookPcg> make(sxt_context *context, const textbook::Csr &csr, std::string &why);
  ~DeviceTextbookPcg();
  // From x = 0; returns the iterations made. b and x: n values on the device.
  std::int64_t solve(const double *b, double *x, double rtol, std::int64_t max_iterations);

 private:
  struct Libraries;
  struct Arrays;
  DeviceTextbookPcg();
  std::unique_ptr<Libraries> libraries_;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace tool
