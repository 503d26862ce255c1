// SPDX-License-Identifier: BSD-3-Clause
// For preconditioners on any device that show their factors (plugin/kinds/preconditioner_factors.h): the session that
// holds the products core chose for them, and the table's entries. Header-only, no part of the ABI.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/preconditioner/shared/preconditioner.hpp"
#include "sextant/plugin/kinds/preconditioner_factors.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::precondition {

// One concurrent caller's products; their scratch belongs to it.
class FactorProducts {
 public:
  // slots: as many as there are factors.
  FactorProducts(const sxt_filled *slots, std::uint64_t factors, const sxt_exec *exec) {
    for (std::uint64_t i = 0; i < factors; ++i) {
      const bool chosen = slots[i].alternative == 0 && slots[i].instances > 0;
      bounds_.push_back(chosen ? *slots[i].parts[0] : sxt_bound{});
      if (chosen && bounds_.back().scratch_bytes > scratch_bytes_) scratch_bytes_ = bounds_.back().scratch_bytes;
    }
    // Lent memory has stricter alignment than that of some allocators.
    if (scratch_bytes_) scratch_ = Memory(exec, SXT_SPACE_DEVICE, scratch_bytes_ + alignment);
  }

  // y = F x by the kernel that was chosen for factor i. SXT_NOT_APPLICABLE: none was.
  sxt_status multiply(std::uint64_t i, sxt_value_type type, std::int64_t n, const void *x, void *y,
                      const sxt_exec &exec) const {
    if (!bounds_[i].run) return SXT_NOT_APPLICABLE;
    static constexpr double one[] = {1, 0}, zero[] = {0, 0};
    static constexpr float one_f32[] = {1, 0}, zero_f32[] = {0, 0};
    const bool single = is_single(type);
    sxt_exec its = exec;
    const auto address = reinterpret_cast<std::uintptr_t>(scratch_.data());
    its.scratch =
        scratch_bytes_ ? reinterpret_cast<void *>((address + alignment - 1) / alignment * alignment) : nullptr;
    its.scratch_bytes = scratch_bytes_;
    sxt_spmv_args args{};
    args.h = head<sxt_spmv_args>(SXT_KIND_SPMV);
    args.op = SXT_NO_TRANSPOSE;
    args.n_rhs = 1;
    args.ldx = args.ldy = n;
    args.alpha.value = single ? static_cast<const void *>(one_f32) : one;
    args.beta.value = single ? static_cast<const void *>(zero_f32) : zero;
    args.x = x;
    args.y = y;
    return run(bounds_[i], args.h, its);
  }

 private:
  static constexpr std::uint64_t alignment = 256;
  std::vector<sxt_bound> bounds_;  // run NULL: the method multiplies itself
  std::uint64_t scratch_bytes_ = 0;
  Memory scratch_;
};

// sxt_kernel.open and close of a method with this many factors. The session is NULL where no products were chosen.
template <std::uint64_t factors>
sxt_status open_products(const void *, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  *session = nullptr;
  if (!slots) return SXT_OK;
  return guard(exec, [&] { return give(new FactorProducts(slots, factors, exec), session); });
}

// csr_kernel of a method with factors, which open_products serves.
template <class State>
sxt_kernel factored_kernel(const char *name, const char *device, const char *description, const Functions &functions,
                           const sxt_preconditioner_factors_ops *ops, const char *const *term_names) {
  sxt_kernel k = csr_kernel<State>(name, device, description, functions, &ops->one, term_names);
  k.flags |= SXT_KERNEL_FACTORS;
  k.close = destroy<FactorProducts>;
  return k;
}

// The ops of such a method.
inline sxt_preconditioner_factors_ops factors_ops(const Method &method,
                                                  decltype(sxt_preconditioner_factors_ops::factor) factor) {
  return {{sizeof(sxt_preconditioner_factors_ops), method.name, nullptr, nullptr, method.typical_iterations}, factor};
}

// One factor in the form that core receives. share: of a run of the kernel.
inline sxt_status show_factor(const char *role, const sxt_csr &csr, double share, sxt_factor *out) {
  *out = {sizeof(sxt_factor), role, csr, share};
  return SXT_OK;
}

// The same of two factors G and G' of a state, lower and upper, with equal shares of a run. csr_of(factor, type) is
// defined beside the device's factors.
template <class State>
sxt_status factor_pair(const void *opaque, std::uint64_t i, sxt_factor *out) {
  const State &state = *static_cast<const State *>(opaque);
  if (i > 1) return SXT_NOT_APPLICABLE;
  return show_factor(i == 0 ? "G" : "G^T", csr_of(i == 0 ? state.lower : state.upper, state.type), 0.5, out);
}

// z = G' G r for such a state: by the kernels core chose (products may be NULL), else by own(factor, x, y). t: room for
// a vector between them.
template <class State, class T, class F>
sxt_status multiply_pair(const State &state, const FactorProducts *products, const T *r, T *t, T *z,
                         const sxt_exec &exec, F &&own) {
  const auto step = [&](std::uint64_t i, const auto &factor, const T *x, T *y) -> sxt_status {
    const sxt_status status = products ? products->multiply(i, state.type, state.n, x, y, exec) : SXT_NOT_APPLICABLE;
    if (status == SXT_NOT_APPLICABLE) return own(factor, x, y), SXT_OK;
    return status;
  };
  const sxt_status status = step(0, state.lower, r, t);
  return status == SXT_OK ? step(1, state.upper, t, z) : status;
}

// Canonical CSR of n rows over arrays of the vectors' type.
inline sxt_csr square_csr(sxt_value_type type, std::int64_t n, std::int64_t nnz, sxt_index_type offsets,
                          sxt_space space, const void *ptr, const void *col, const void *values) {
  sxt_csr csr{};
  csr.s.h = head<sxt_csr>(SXT_KIND_STORAGE_CSR);
  csr.s.value_type = type;
  csr.s.index_type = SXT_I32;
  csr.s.offset_type = offsets;
  csr.s.space = space;
  csr.s.symmetry = SXT_GENERAL;
  csr.s.rows = csr.s.cols = n;
  csr.s.nnz = nnz;
  csr.row_ptr = ptr;
  csr.col = col;
  csr.values = values;
  return csr;
}

}  // namespace sextant::plugin::precondition
