// SPDX-License-Identifier: BSD-3-Clause
// Eigen: row-major SpMV and ConjugateGradient with its diagonal preconditioner, both on OpenMP; SimplicialLLT, on one
// thread.
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <string>
#include <utility>

#include "../library.hpp"

namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Input = Eigen::Map<const Eigen::VectorXd>;
using Output = Eigen::Map<Eigen::VectorXd>;
// Both triangles: the only form that Eigen runs in parallel.
using Solver = Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper>;

struct Cg {
  explicit Cg(Matrix matrix) : a(std::move(matrix)), solver(a) {}
  Matrix a;
  Solver solver;
};

struct Direct {
  using Columns = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  // Both triangles by rows are both triangles by columns.
  explicit Direct(const sxt_peer_csr &csr)
      : a(Eigen::Map<const Columns>(csr.rows, csr.cols, csr.nnz, csr.row_ptr, csr.col, csr.values)),
        values(csr.values) {
    solver.analyzePattern(a);
  }
  Columns a;
  const double *values;
  Eigen::SimplicialLLT<Columns> solver;
};

// A copy, as in programs that use Eigen; its solvers take no borrowed arrays.
Matrix copy(const sxt_peer_csr &a) {
  return Eigen::Map<const Matrix>(a.rows, a.cols, a.nnz, a.row_ptr, a.col, a.values);
}

int spmv_run(void *state, const double *x, double *y) {
  const Matrix &a = *static_cast<Matrix *>(state);
  Output(y, a.rows()).noalias() = a * Input(x, a.cols());
  return 0;
}

int cg_run(void *state, const double *b, double *x, double rtol, std::int64_t max_iterations,
           std::int64_t *iterations) {
  Cg &cg = *static_cast<Cg *>(state);
  cg.solver.setTolerance(rtol);
  cg.solver.setMaxIterations(max_iterations);
  Output(x, cg.a.rows()) = cg.solver.solve(Input(b, cg.a.rows()));
  *iterations = cg.solver.iterations();
  return 0;
}

int cholesky_factor(void *state) {
  return peer::guarded([state] {
    Direct &direct = *static_cast<Direct *>(state);
    std::copy_n(direct.values, direct.a.nonZeros(), direct.a.valuePtr());
    direct.solver.factorize(direct.a);
    return direct.solver.info() == Eigen::Success;
  });
}

int cholesky_solve(void *state, const double *b, double *x, std::int32_t n_rhs) {
  return peer::guarded([&] {
    const Direct &direct = *static_cast<Direct *>(state);
    const Eigen::Index n = direct.a.rows();
    Eigen::Map<Eigen::MatrixXd>(x, n, n_rhs) = direct.solver.solve(Eigen::Map<const Eigen::MatrixXd>(b, n, n_rhs));
    return true;
  });
}

}  // namespace

#define SXT_TEXT_OF_(x) #x
#define SXT_TEXT_OF(x) SXT_TEXT_OF_(x)

const sxt_peer *sxt_peer_entry() {
  static sxt_peer table{};
  table.interface_version = SXT_PEER_INTERFACE;
  table.name = "eigen";
  table.open = [](const char *const *, std::int32_t threads, sxt_peer_message *) {
    Eigen::setNbThreads(threads);
    return 0;
  };
  table.version = [] {
    return SXT_TEXT_OF(EIGEN_WORLD_VERSION) "." SXT_TEXT_OF(EIGEN_MAJOR_VERSION) "." SXT_TEXT_OF(EIGEN_MINOR_VERSION);
  };
  table.threads = [] { return static_cast<std::int32_t>(Eigen::nbThreads()); };
  table.spmv_prepare = [](const sxt_peer_csr *a, const sxt_peer_effort *, void **state, sxt_peer_message *message) {
    return peer::guarded("Eigen", state, message, [a] { return new Matrix(copy(*a)); });
  };
  table.spmv_run = spmv_run;
  table.spmv_release = [](void *state) { delete static_cast<Matrix *>(state); };
  table.cg_prepare = [](const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
    return peer::guarded("Eigen", state, message, [a] { return new Cg(copy(*a)); });
  };
  table.cg_run = cg_run;
  table.cg_release = [](void *state) { delete static_cast<Cg *>(state); };
  table.cholesky_prepare = [](const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
    return peer::guarded("Eigen", state, message, [a] { return new Direct(*a); });
  };
  table.cholesky_factor = cholesky_factor;
  table.cholesky_solve = cholesky_solve;
  table.cholesky_release = [](void *state) { delete static_cast<Direct *>(state); };
  return &table;
}
