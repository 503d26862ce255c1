// SPDX-License-Identifier: BSD-3-Clause
// BLAS and LAPACK as this plugin calls them. Fortran's calls; the lengths of character arguments come last.
#pragma once

#include <cstddef>

#include "sextant/sdk/dense.hpp"
#include "sextant/sdk/own_library.hpp"

namespace sextant_dense {

using Potrf = void(const char *uplo, const int *n, void *a, const int *lda, int *info, std::size_t);
using Gemm = void(const char *op_a, const char *op_b, const int *m, const int *n, const int *k, const void *alpha,
                  const void *a, const int *lda, const void *b, const int *ldb, const void *beta, void *c,
                  const int *ldc, std::size_t, std::size_t);
using Syrk = void(const char *uplo, const char *op, const int *n, const int *k, const void *alpha, const void *a,
                  const int *lda, const void *beta, void *c, const int *ldc, std::size_t, std::size_t);
using Trsm = void(const char *side, const char *uplo, const char *op, const char *diagonal, const int *m, const int *n,
                  const void *alpha, const void *a, const int *lda, void *b, const int *ldb, std::size_t, std::size_t,
                  std::size_t, std::size_t);

class Blas : public OwnBlas {
 public:
  struct Functions {
    Potrf *potrf;
    Gemm *gemm;
    Syrk *syrk;  // herk of complex numbers
    Trsm *trsm;
  };
  Functions of[4];  // f32, f64, c64, c128
  BlasCallers mutable callers;

  static const Blas &instance();

 private:
  Blas();
};

// The calls of one value type, on matrices whose sizes fit BLAS's integers.
template <class T>
class Calls {
 public:
  explicit Calls(const Blas::Functions &f) : f_(f) {}

  // A = L L^H; LAPACK's info.
  int potrf(View<T> a, std::int64_t n) const {
    int info = 0;
    const int order = as_int(n), lda = as_int(a.ld);
    f_.potrf("L", &order, a.data, &lda, &info, 1);
    return info;
  }
  // B (m x n) = B L^-H.
  void trsm(View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) const {
    solve("R", adjoint, l, b, m, n, unit);
  }
  // B (m x n) = B L^-1.
  void right(View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) const {
    solve("R", "N", l, b, m, n, unit);
  }
  // B (m x n) = L^-1 B, L^-H B.
  void forward(View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) const {
    solve("L", "N", l, b, m, n, unit);
  }
  void backward(View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) const {
    solve("L", adjoint, l, b, m, n, unit);
  }
  // C (n x n, lower) -= A A^H.
  void syrk(View<T> a, View<T> c, std::int64_t n, std::int64_t k) const {
    const real_of<T> minus = -1, one = 1;
    const int order = as_int(n), depth = as_int(k), lda = as_int(a.ld), ldc = as_int(c.ld);
    f_.syrk("L", "N", &order, &depth, &minus, a.data, &lda, &one, c.data, &ldc, 1, 1);
  }
  // C (m x n) -= A B^H, A B, A^H B.
  void gemm(View<T> a, View<T> b, View<T> c, std::int64_t m, std::int64_t n, std::int64_t k) const {
    product("N", adjoint, a, b, c, m, n, k);
  }
  void product(View<T> a, View<T> b, View<T> c, std::int64_t m, std::int64_t n, std::int64_t k, bool of_adjoint) const {
    product(of_adjoint ? adjoint : "N", "N", a, b, c, m, n, k);
  }

 private:
  static constexpr const char *adjoint = is_complex<T> ? "C" : "T";
  static int as_int(std::int64_t n) { return static_cast<int>(n); }

  void product(const char *op_a, const char *op_b, View<T> a, View<T> b, View<T> c, std::int64_t m, std::int64_t n,
               std::int64_t k) const {
    if (m == 0 || n == 0 || k == 0) return;
    const T minus = -1, one = 1;
    const int rows = as_int(m), columns = as_int(n), depth = as_int(k);
    const int lda = as_int(a.ld), ldb = as_int(b.ld), ldc = as_int(c.ld);
    f_.gemm(op_a, op_b, &rows, &columns, &depth, &minus, a.data, &lda, b.data, &ldb, &one, c.data, &ldc, 1, 1);
  }
  void solve(const char *side, const char *op, View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) const {
    if (m == 0 || n == 0) return;
    const T one = 1;
    const int rows = as_int(m), columns = as_int(n), lda = as_int(l.ld), ldb = as_int(b.ld);
    f_.trsm(side, "L", op, unit ? "U" : "N", &rows, &columns, &one, l.data, &lda, b.data, &ldb, 1, 1, 1, 1);
  }

  const Blas::Functions &f_;
};

}  // namespace sextant_dense
