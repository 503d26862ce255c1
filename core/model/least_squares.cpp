// SPDX-License-Identifier: BSD-3-Clause
// Non-negative least squares for a handful of unknowns, on the normal equations.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/model/fit.hpp"

namespace sextant {

namespace {

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

// Pull of a coefficient towards its prior, against samples whose weight is one each: only felt by what the samples
// leave open, such as the split between two terms that always grow together.
constexpr double pull = 1e-4;

struct Normal {
  Rows matrix;   // A'A, scaled so that the diagonal is 1
  Vector right;  // A'1
  Vector scale;  // unknown i is scale[i] times the scaled one; 0: no sample has the term
};

Normal normal_equations(const Rows &rows, const Vector &weights, const Vector &prior) {
  const std::size_t n = rows.empty() ? 0 : rows.front().size();
  Normal normal{Rows(n, Vector(n, 0)), Vector(n, 0), Vector(n, 0)};
  double total = 0;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    total += weights[s];
    for (std::size_t i = 0; i < n; ++i) {
      normal.right[i] += weights[s] * rows[s][i];
      for (std::size_t j = 0; j <= i; ++j) normal.matrix[i][j] += weights[s] * rows[s][i] * rows[s][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double known = i < prior.size() ? prior[i] : 0;
    const double diagonal = normal.matrix[i][i];
    if (!(diagonal > 0)) continue;
    // (c / prior - 1)^2, so weak that it only decides between answers that fit equally well.
    const double ridge = known > 0 ? pull / (known * known) : diagonal * 1e-12;
    normal.matrix[i][i] += ridge;
    if (known > 0) normal.right[i] += ridge * known;
    normal.scale[i] = 1 / std::sqrt(normal.matrix[i][i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    normal.right[i] *= normal.scale[i];
    for (std::size_t j = 0; j <= i; ++j) {
      normal.matrix[i][j] *= normal.scale[i] * normal.scale[j];
      normal.matrix[j][i] = normal.matrix[i][j];
    }
  }
  return normal;
}

// Solves the equations of the unknowns in `set` by Cholesky's factorisation; the others are 0.
Vector solve_subset(const Normal &normal, const std::vector<std::size_t> &set) {
  const std::size_t m = set.size();
  Rows l(m, Vector(m, 0));
  Vector y(m, 0), x(normal.right.size(), 0);
  for (std::size_t i = 0; i < m; ++i) {
    double sum = normal.right[set[i]];
    for (std::size_t j = 0; j <= i; ++j) {
      double entry = normal.matrix[set[i]][set[j]] + (i == j ? 1e-11 : 0);  // collinear terms stay solvable
      for (std::size_t k = 0; k < j; ++k) entry -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(std::max(entry, 1e-14)) : entry / l[j][j];
    }
    for (std::size_t k = 0; k < i; ++k) sum -= l[i][k] * y[k];
    y[i] = sum / l[i][i];
  }
  for (std::size_t i = m; i-- > 0;) {
    double sum = y[i];
    for (std::size_t k = i + 1; k < m; ++k) sum -= l[k][i] * x[set[k]];
    x[set[i]] = sum / l[i][i];
  }
  return x;
}

// Moves from x towards the solution on the set as far as nothing turns negative; drops from the set what became zero.
// True when the whole way could be gone.
bool step_towards(const Vector &wanted, std::vector<std::size_t> &set, Vector &x) {
  double way = 1;
  std::size_t blocking = x.size();
  for (std::size_t i : set) {
    if (wanted[i] > 0) continue;
    const double reach = x[i] / std::max(x[i] - wanted[i], 1e-300);
    if (reach < way || blocking == x.size()) {
      way = std::min(way, reach);
      blocking = i;
    }
  }
  for (std::size_t i : set) x[i] += way * (wanted[i] - x[i]);
  if (blocking == x.size()) return true;
  x[blocking] = 0;
  std::erase_if(set, [&](std::size_t i) { return x[i] <= 0; });
  for (double &each : x) each = std::max(each, 0.0);
  return false;
}

}  // namespace

std::vector<double> nonnegative_least_squares(const Rows &rows, const Vector &weights, const Vector &prior) {
  const Normal normal = normal_equations(rows, weights, prior);
  const std::size_t n = normal.right.size();
  Vector x(n, 0);
  std::vector<std::size_t> set;
  // Each round lets in the unknown whose growth reduces the error most; 3n rounds are far more than it ever takes.
  for (std::size_t round = 0; round < 3 * n + 3; ++round) {
    std::size_t best = n;
    double steepest = 1e-10;
    for (std::size_t i = 0; i < n; ++i) {
      if (normal.scale[i] == 0 || std::find(set.begin(), set.end(), i) != set.end()) continue;
      double gradient = normal.right[i];
      for (std::size_t j = 0; j < n; ++j) gradient -= normal.matrix[i][j] * x[j];
      if (gradient > steepest) {
        steepest = gradient;
        best = i;
      }
    }
    if (best == n) break;
    set.push_back(best);
    while (!set.empty() && !step_towards(solve_subset(normal, set), set, x)) continue;
  }
  for (std::size_t i = 0; i < n; ++i) x[i] *= normal.scale[i];
  return x;
}

}  // namespace sextant
