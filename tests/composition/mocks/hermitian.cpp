// SPDX-License-Identifier: BSD-3-Clause
// hermitian.each.deferred: Cholesky factors of a batch, system by system, of any order, in one array or behind
// pointers.
#include <cstdint>
#include <vector>

#include "mock_kernel.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

using Complex = std::complex<double>;

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &asked = as<sxt_hermitian_query>(query);
  if (asked.phase != SXT_HERMITIAN_FACTOR) return refuse(reason, "it factors, phase %d is not offered", asked.phase);
  if (asked.definiteness != SXT_HERMITIAN_DEFINITE)
    return refuse(reason, "it knows no pivoting, so systems must be definite");
  if (asked.triangle != SXT_LOWER) return refuse(reason, "it reads the lower triangle only");
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &asked = as<sxt_hermitian_query>(query);
  return mock::one_price(out, capacity, count, 1e-7 * static_cast<double>(asked.batch) + 4e-9 / 3 * asked.sum_n3);
}

// The 1-based column whose pivot is not positive, -1 for a NaN in the lower triangle, 0 when it is done.
std::int32_t factor(Complex *a, std::int64_t n, std::int64_t ld) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i)
      if (!std::isfinite(a[i + j * ld].real()) || !std::isfinite(a[i + j * ld].imag())) return -1;
  for (std::int64_t j = 0; j < n; ++j) {
    double pivot = a[j + j * ld].real();
    for (std::int64_t k = 0; k < j; ++k) pivot -= std::norm(a[j + k * ld]);
    if (!(pivot > 0)) return static_cast<std::int32_t>(j + 1);
    a[j + j * ld] = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      Complex value = a[i + j * ld];
      for (std::int64_t k = 0; k < j; ++k) value -= a[i + k * ld] * std::conj(a[j + k * ld]);
      a[i + j * ld] = value / a[j + j * ld];
    }
  }
  return 0;
}

// On the device, where the pointers, leading dimensions, mask and info lie.
void factor_all(const sxt_hermitian_args &args, const std::vector<std::int32_t> &orders) {
  for (std::int64_t s = 0; s < args.batch; ++s) {
    if (args.active && !args.active[s]) {
      args.info[s] = -2;
      continue;
    }
    auto *a =
        static_cast<Complex *>(args.a_array ? args.a_array[s] : static_cast<Complex *>(args.a) + s * args.stride_a);
    args.info[s] = factor(a, orders.empty() ? args.n_max : orders[s], args.lda_each ? args.lda_each[s] : args.lda);
  }
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&] {
    const auto &args = as<sxt_hermitian_args>(head);
    if ((args.a == nullptr) == (args.a_array == nullptr))
      return error(exec, SXT_E_ARGUMENT, "exactly one of a and a_array must be given");
    if (args.triangle != SXT_LOWER) return error(exec, SXT_E_NOT_SUPPORTED, "it reads the lower triangle only");
    for (const void *array :
         {static_cast<const void *>(args.info), static_cast<const void *>(args.a_array ? args.a_array : args.a)})
      if (const sxt_status wrong = mock::expect_device(exec, "an array", array)) return wrong;
    std::vector<std::int32_t> orders;  // on the host: read now
    if (args.orders) orders.assign(args.orders, args.orders + args.batch);
    return mock::launch(exec->stream, [args, orders] { factor_all(args, orders); });
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_HERMITIAN, "hermitian.each.deferred", "deferred", "one system after the other", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = type_bit(SXT_C128);
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}();

const sxt_kind kind = new_kind(SXT_KIND_HERMITIAN, "batches of Hermitian systems");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel, &kind>("hard-hermitian", out);
}
