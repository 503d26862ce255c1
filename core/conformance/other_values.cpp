// SPDX-License-Identifier: BSD-3-Clause
#include "core/conformance/other_values.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/types.hpp"
#include "sextant/plugin/kinds/preconditioner.h"

namespace sextant::conformance {

namespace {

std::size_t bytes_of(const sxt_csr &csr) { return static_cast<std::size_t>(csr.s.nnz * value_bytes(csr.s.value_type)); }

}  // namespace

std::unique_ptr<HalvedCase> HalvedCase::of(const sxt_case &given) {
  if (!given.a || std::strcmp(given.a->kind, SXT_KIND_STORAGE_CSR) != 0) return nullptr;
  const auto &csr = *reinterpret_cast<const sxt_csr *>(given.a);
  if (csr.s.space != SXT_SPACE_HOST || csr.s.nnz == 0) return nullptr;
  return std::unique_ptr<HalvedCase>(new HalvedCase(given));
}

HalvedCase::HalvedCase(const sxt_case &given)
    : given_(*reinterpret_cast<const sxt_csr *>(given.a)), csr_(given_), values_(bytes_of(given_)), case_(given) {
  put_right();
  with_value_type(csr_.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *const values = reinterpret_cast<T *>(values_.data());
    for (std::int64_t k = 0; k < csr_.s.nnz; ++k) values[k] = values[k] / decltype(std::abs(T{}))(2);
  });
  csr_.values = values_.data();
  case_.a = &csr_.s.h;
}

void HalvedCase::put_right() { std::memcpy(values_.data(), given_.values, values_.size()); }

namespace {

template <class T>
void check_mutual_of(Case &first, Case &second, const std::function<void(Case &)> &run) {
  auto &one = *reinterpret_cast<sxt_preconditioner_args *>(first.args());
  auto &two = *reinterpret_cast<sxt_preconditioner_args *>(second.args());
  const auto n = static_cast<std::size_t>(one.n);
  if (n < 2) return;
  T *const r = static_cast<T *>(const_cast<void *>(two.r));
  std::rotate(r, r + n / 3 + 1, r + n);
  run(first);
  run(second);
  const T *const u = static_cast<const T *>(one.r), *const mu = static_cast<const T *>(one.z);
  const T *const v = static_cast<const T *>(two.r), *const mv = static_cast<const T *>(two.z);
  std::complex<double> left = 0, right = 0;
  double size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::complex<double> a = std::conj(std::complex<double>(v[i])) * std::complex<double>(mu[i]);
    const std::complex<double> b = std::conj(std::complex<double>(u[i])) * std::complex<double>(mv[i]);
    left += a, right += std::conj(b);
    size += std::abs(a) + std::abs(b);
  }
  // Rounding within M: its terms may be larger than what is left of them.
  const double bound = std::sqrt(double{std::numeric_limits<decltype(std::abs(T{}))>::epsilon()}) * size;
  require(std::abs(left - right) <= bound, SXT_E_PLUGIN, "v'(M u) = ", left.real(), " and u'(M v) = ", right.real(),
          " for two vectors u and v: M is not symmetric (or Hermitian), which conjugate gradients count on");
}

}  // namespace

void check_mutual(Case &first, Case &second, const std::function<void(Case &)> &run) {
  with_value_type(first.get().query->value_type,
                  [&](auto tag) { check_mutual_of<typename decltype(tag)::type>(first, second, run); });
}

}  // namespace sextant::conformance
