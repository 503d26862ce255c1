// SPDX-License-Identifier: BSD-3-Clause
// Heat spreading in a square plate, implicit in time: (I + dt L) u_new = u_old, L the five-point Laplacian, u = 0 on
// the edge. One matrix and one set-up; values change with the time step, and each solve begins from the last
// temperature.
#include <sextant/sextant.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int side = 60, n = side * side;

struct Plate {
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<double> laplacian;

  Plate() {
    for (int row = 0; row < n; ++row) {
      const int i = row % side, j = row / side;
      if (j > 0) add(row - side, -1);
      if (i > 0) add(row - 1, -1);
      add(row, 4);
      if (i + 1 < side) add(row + 1, -1);
      if (j + 1 < side) add(row + side, -1);
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
  }
  void add(int c, double value) {
    col.push_back(c);
    laplacian.push_back(value * (side + 1) * (side + 1));
  }
  // Values of I + dt L.
  std::vector<double> implicit_step(double dt) const {
    std::vector<double> values(laplacian.size());
    for (int row = 0; row < n; ++row)
      for (std::int32_t k = row_ptr[row]; k < row_ptr[row + 1]; ++k) values[k] = dt * laplacian[k] + (col[k] == row);
    return values;
  }
};

double simulate(const sextant::Context &context, int steps) {
  const Plate plate;
  double dt = 1e-4;
  sextant::Matrix a = sextant::Matrix::from_csr(context, n, n, plate.row_ptr, plate.col, plate.implicit_step(dt));
  sextant::PcgOptions options;
  options.rtol = 1e-10;
  options.expected_solves = 100;  // many: a set-up that costs more may pay
  const sextant::Pcg pcg(a, options);

  std::vector<double> u(n), u_old(n);
  u[n / 2 + side / 2] = 1;  // a hot spot
  sextant::SolveOptions warm;
  warm.use_initial_guess = 1;
  for (int step = 1; step <= steps; ++step) {
    u_old = u;
    try {
      pcg.solve(u_old, u, warm);
    } catch (const sextant::not_converged &stopped) {
      std::fprintf(stderr, "step %d: %s; half the time step\n", step, stopped.what());
      u = u_old;
      a.update_values(plate.implicit_step(dt /= 2));
    }
  }
  double heat = 0;
  for (const double each : u) heat += each;
  return heat;
}

}  // namespace

int main() {
  try {
    const double heat = simulate(sextant::Context(), 20);
    std::printf("heat %.6f\n", heat);
    return heat > 0 && heat < 1 ? 0 : 1;
  } catch (const sextant::error &error) {
    std::fprintf(stderr, "%s: %s\n", error.name().data(), error.what());
    return 1;
  }
}
