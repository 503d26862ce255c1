// SPDX-License-Identifier: BSD-3-Clause
// One thread's calls of the dense slots: a kernel for small operations and one for large ones, by the size of each.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/dense.h"
#include "sextant/sdk/dense_pivots.hpp"
#include "sextant/sdk/kernel.hpp"

namespace sextant_cholesky_tasks {

using sextant_dense::PivotRule;

// Slots of a scheduler, and how they are filled.
enum { small_slot, large_slot };
struct DenseParts {
  const sxt_bound *part[2];
};

// A matrix by columns.
template <class T>
struct Block {
  T *data;
  std::int64_t ld;
  Block at(std::int64_t i, std::int64_t j) const { return {data + i + j * ld, ld}; }
};

// A real diagonal; NULL: the identity.
template <class T>
struct Diagonal {
  const T *data = nullptr;
  std::int64_t step = 1;
};

template <class T>
class Dense {
 public:
  // unit: triangles have unit diagonals (L D L^H).
  Dense(const DenseParts &parts, sxt_value_type type, bool unit, const sxt_exec &exec) : parts_(parts), exec_(exec) {
    args_.h = sextant::plugin::head<sxt_dense_args>(SXT_KIND_DENSE);
    args_.value_type = type;
    args_.count = 1;
    args_.m = &m_, args_.n = &n_, args_.k = &k_;
    args_.a = &a_, args_.b = &b_, args_.c = &c_;
    args_.lda = &lda_, args_.ldb = &ldb_, args_.ldc = &ldc_;
    args_.incd = &incd_, args_.info = &info_;
    args_.unit = unit;
  }
  Dense(const Dense &) = delete;
  // What the first call that failed returned.
  sxt_status status() const { return status_; }

  // Both return 0 or the 1-based column whose pivot failed.
  std::int32_t factor(Block<T> a, std::int64_t n, const PivotRule &rule, std::uint8_t *marks) {
    args_.pivot_policy = rule.policy;
    args_.pivot_tolerance = rule.tolerance, args_.pivot_value = rule.value;
    marks_ = marks, args_.changed = marks ? &marks_ : nullptr;
    info_ = 0;
    call(rule.definite ? SXT_DENSE_POTRF : SXT_DENSE_LDLH, n, n, n, a, {}, {}, {});
    return info_;
  }
  void trsm(Block<T> l, Block<T> b, std::int64_t m, std::int64_t n, Diagonal<T> d) {
    call(SXT_DENSE_TRSM, m, n, n, l, b, {}, d);
  }
  void syrk(Block<T> a, Block<T> c, std::int64_t n, std::int64_t k, Diagonal<T> d) {
    call(SXT_DENSE_SYRK, n, n, k, a, {}, c, d);
  }
  void gemm(Block<T> a, Block<T> b, Block<T> c, std::int64_t m, std::int64_t n, std::int64_t k, Diagonal<T> d) {
    call(SXT_DENSE_GEMM, m, n, k, a, b, c, d);
  }
  void forward(Block<T> l, Block<T> b, std::int64_t m, std::int64_t n) {
    call(SXT_DENSE_FORWARD, m, n, m, l, b, {}, {});
  }
  void backward(Block<T> l, Block<T> b, std::int64_t m, std::int64_t n) {
    call(SXT_DENSE_BACKWARD, m, n, m, l, b, {}, {});
  }
  void right(Block<T> l, Block<T> b, std::int64_t m, std::int64_t n) { call(SXT_DENSE_RIGHT, m, n, n, l, b, {}, {}); }
  void product(Block<T> a, Block<T> b, Block<T> c, std::int64_t m, std::int64_t n, std::int64_t k) {
    call(SXT_DENSE_PRODUCT, m, n, k, a, b, c, {});
  }
  void product_h(Block<T> a, Block<T> b, Block<T> c, std::int64_t m, std::int64_t n, std::int64_t k) {
    call(SXT_DENSE_PRODUCT_H, m, n, k, a, b, c, {});
  }

 private:
  // Kernels that pack their operands begin to pay where all three sizes are so large; a rule of sizes alone, so that
  // results do not depend on anything else.
  static bool is_large(std::int64_t m, std::int64_t n, std::int64_t k) {
    return m >= 32 && n >= 32 && k >= 32 && m * n * k >= 96 * 96 * 96;
  }

  void call(std::int32_t operation, std::int64_t m, std::int64_t n, std::int64_t k, Block<T> a, Block<T> b, Block<T> c,
            Diagonal<T> d) {
    if (m == 0 || n == 0 || k == 0) return;
    args_.operation = operation;
    m_ = static_cast<std::int32_t>(m), n_ = static_cast<std::int32_t>(n), k_ = static_cast<std::int32_t>(k);
    a_ = a.data, b_ = b.data, c_ = c.data, lda_ = a.ld, ldb_ = b.ld, ldc_ = c.ld;
    d_ = const_cast<T *>(d.data), incd_ = d.step, args_.d = d.data ? &d_ : nullptr;
    const sxt_bound &part = *parts_.part[is_large(m, n, k) ? large_slot : small_slot];
    const sxt_status status = sextant::plugin::run(part, args_.h, exec_);
    if (status != SXT_OK && status_ == SXT_OK) status_ = status;
  }

  const DenseParts parts_;
  const sxt_exec exec_;
  sxt_dense_args args_{};
  std::int32_t m_ = 0, n_ = 0, k_ = 0, info_ = 0;
  void *a_ = nullptr, *b_ = nullptr, *c_ = nullptr, *d_ = nullptr;
  std::int64_t lda_ = 1, ldb_ = 1, ldc_ = 1, incd_ = 1;
  std::uint8_t *marks_ = nullptr;
  sxt_status status_ = SXT_OK;
};

}  // namespace sextant_cholesky_tasks
