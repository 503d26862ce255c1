// SPDX-License-Identifier: BSD-3-Clause
// Products and triangular solves of one stream, through its part of the dense slot.
#pragma once

#include <cstdint>

#include "sextant/sdk/dense_pivots.hpp"
#include "sextant/sdk/cuda/memory.hpp"

namespace sextant_cholesky_streams {

// A matrix by columns.
template <class T>
struct Block {
  T *data;
  std::int64_t ld;
  Block at(std::int64_t i, std::int64_t j) const { return {data + i + j * ld, ld}; }
};

template <class T>
class DenseCalls {
 public:
  // unit: triangles have unit diagonals, and products are weighted by D (L D L^H). exec: its stream is the lane's.
  DenseCalls(const sxt_bound &part, sxt_value_type type, bool unit, const sxt_exec &exec) : part_(part), exec_(exec) {
    args_.h = sextant::plugin::head<sxt_dense_args>(SXT_KIND_DENSE);
    args_.value_type = type;
    args_.count = 1;
    args_.unit = unit;
  }

  // All throw cuda::Failure. d: the first of D's entries, where the factor is L D L^H.
  void trsm(Block<T> l, Block<T> b, std::int64_t m, std::int64_t n) { call(SXT_DENSE_TRSM, m, n, n, l, b, {}, l); }
  void syrk(Block<T> a, Block<T> c, std::int64_t n, std::int64_t k, Block<T> d) {
    call(SXT_DENSE_SYRK, n, n, k, a, {}, c, d);
  }
  void gemm(Block<T> a, Block<T> b, Block<T> c, std::int64_t m, std::int64_t n, std::int64_t k, Block<T> d) {
    call(SXT_DENSE_GEMM, m, n, k, a, b, c, d);
  }

 private:
  void call(std::int32_t operation, std::int64_t m, std::int64_t n, std::int64_t k, Block<T> a, Block<T> b, Block<T> c,
            Block<T> d) {
    if (m == 0 || n == 0 || k == 0) return;
    const auto m_ = static_cast<std::int32_t>(m), n_ = static_cast<std::int32_t>(n), k_ = static_cast<std::int32_t>(k);
    void *const a_ = a.data, *const b_ = b.data, *const c_ = c.data, *const d_ = d.data;
    const std::int64_t incd = d.ld + 1;
    sxt_dense_args args = args_;
    args.operation = operation;
    args.m = &m_, args.n = &n_, args.k = &k_;
    args.a = &a_, args.lda = &a.ld;
    args.b = b_ ? &b_ : nullptr, args.ldb = b_ ? &b.ld : nullptr;
    args.c = c_ ? &c_ : nullptr, args.ldc = c_ ? &c.ld : nullptr;
    if (args.unit) args.d = &d_, args.incd = &incd;
    const sxt_status status = sextant::plugin::run(part_, args.h, exec_);
    if (status != SXT_OK)
      throw sextant::plugin::cuda::Failure(status, "%s failed at %lld x %lld x %lld", part_.kernel, (long long)m,
                                           (long long)n, (long long)k);
  }

  const sxt_bound &part_;
  const sxt_exec exec_;
  sxt_dense_args args_{};
};

}  // namespace sextant_cholesky_streams
