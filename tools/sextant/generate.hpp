// SPDX-License-Identifier: BSD-3-Clause
// Test matrices made on the spot: symmetric positive definite, the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tool {

// Canonical zero-based CSR.
struct HostCsr {
  std::string name;
  std::int64_t n = 0;
  std::vector<std::int32_t> row_ptr, col;
  std::vector<double> values;
};

HostCsr stencil_2d(std::int64_t rows);  // 5-point Laplacian on a square of about that many points
HostCsr stencil_3d(std::int64_t rows);  // 7-point Laplacian on a cube
HostCsr banded(std::int64_t rows);      // 41 diagonals, diagonally dominant
HostCsr power_law(std::int64_t rows);   // Laplacian plus identity of a graph whose degrees follow a power law
std::vector<HostCsr> generated_matrices(std::int64_t rows);

}  // namespace tool
