// SPDX-License-Identifier: BSD-3-Clause
// A system in CHOLMOD's hands. Failures are std::runtime_error.
#pragma once

#include <cholmod.h>

#include <cstdint>
#include <stdexcept>

namespace cholmod_peer {

struct System {
  cholmod_common common{};
  cholmod_sparse *a = nullptr;
  cholmod_factor *l = nullptr;
  cholmod_dense *x = nullptr, *y = nullptr, *e = nullptr;

  System() {
    cholmod_start(&common);
    common.print = 0;
  }
  System(const System &) = delete;
  ~System() {
    for (cholmod_dense **each : {&x, &y, &e}) cholmod_free_dense(each, &common);
    cholmod_free_factor(&l, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_finish(&common);
  }

  // Of the upper triangle by columns, which is the lower one by rows.
  void allocate(std::size_t n, std::size_t entries) {
    a = cholmod_allocate_sparse(n, n, entries, 1, 1, 1, CHOLMOD_REAL, &common);
    if (!a) throw std::runtime_error("CHOLMOD: out of memory");
  }
  int *begins() const { return static_cast<int *>(a->p); }
  int *rows() const { return static_cast<int *>(a->i); }
  double *values() const { return static_cast<double *>(a->x); }

  void analyse() {
    l = cholmod_analyze(a, &common);
    if (!l) throw std::runtime_error("CHOLMOD did not analyse the matrix");
  }
  void factor() {
    if (!cholmod_factorize(a, l, &common) || common.status != CHOLMOD_OK)
      throw std::runtime_error("CHOLMOD did not factor it");
  }
  // Column after column; valid until the next solve.
  const double *solve(const double *b, std::size_t columns) {
    cholmod_dense right{};
    right.nrow = right.d = l->n, right.ncol = columns, right.nzmax = right.nrow * right.ncol;
    right.x = const_cast<double *>(b);
    right.xtype = CHOLMOD_REAL, right.dtype = CHOLMOD_DOUBLE;
    if (!cholmod_solve2(CHOLMOD_A, l, &right, nullptr, &x, nullptr, &y, &e, &common))
      throw std::runtime_error("CHOLMOD did not solve it");
    return static_cast<const double *>(x->x);
  }
};

}  // namespace cholmod_peer
