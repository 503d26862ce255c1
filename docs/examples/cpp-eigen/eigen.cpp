// SPDX-License-Identifier: BSD-3-Clause
// Matrices and vectors of Eigen, solved by Sextant without copies in between: -u'' = 1 on five points, three times over.
#include <sextant/eigen.hpp>

#include <cstdio>

int main() {
  Eigen::SparseMatrix<double> a(5, 5);
  for (int i = 0; i < 5; ++i) {
    a.insert(i, i) = 2;
    if (i > 0) a.insert(i, i - 1) = -1, a.insert(i - 1, i) = -1;
  }
  a.makeCompressed();

  const sextant::Context context;
  const sextant::Pcg pcg(sextant::matrix_of(context, a));  // either order; compressed
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(5);
  Eigen::VectorXd x(5);
  pcg.solve(b, x);
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(5, 2);
  Eigen::MatrixXd many(5, 2);
  pcg.solve(ones, many);  // a column for each right-hand side
  std::printf("%g %g %g %g %g\n", x[0], x[1], x[2], x[3], x[4]);
  return (many.col(1) - x).norm() < 1e-6 ? 0 : 1;
}
