// SPDX-License-Identifier: BSD-3-Clause
// Test matrices made on the spot: symmetric positive definite, the same on every machine.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace tool {

// Elements are not initialised: the threads that fill them are the first to touch the memory.
template <class T>
struct Unset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  template <class U>
  void construct(U *at) noexcept {
    ::new (static_cast<void *>(at)) U;
  }
  template <class U, class... From>
  void construct(U *at, From &&...from) {
    ::new (static_cast<void *>(at)) U(std::forward<From>(from)...);
  }
};

// Canonical zero-based CSR.
struct HostCsr {
  std::string name;
  std::int64_t n = 0;
  std::vector<std::int32_t, Unset<std::int32_t>> row_ptr, col;
  std::vector<double, Unset<double>> values;
};

HostCsr stencil_2d(std::int64_t rows);  // 5-point Laplacian on a square of about that many points
HostCsr stencil_3d(std::int64_t rows);  // 7-point Laplacian on a cube
HostCsr stencil_27(
    std::int64_t rows);  // 27-point stencil on a cube: 26 on the diagonal, -1 elsewhere, so row sums are >= 0
HostCsr banded(std::int64_t rows);         // 41 diagonals, diagonally dominant
HostCsr power_law(std::int64_t rows);      // Laplacian plus identity of a graph whose degrees follow a power law
HostCsr regular_graph(std::int64_t rows);  // the same of a graph in which every point has three neighbours

using Generator = HostCsr (*)(std::int64_t);
// Those named, "stencil-3d,power-law"; "" stands for four of them. Throws for other names.
std::vector<Generator> generators(const std::string &names);
// What --help says of them.
inline constexpr const char *generate_help =
    "Generated matrices: stencil-2d, stencil-3d, stencil-27pt, banded, power-law, regular-graph, separated by commas";

}  // namespace tool
