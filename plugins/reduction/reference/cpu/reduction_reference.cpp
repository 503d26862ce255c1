// SPDX-License-Identifier: BSD-3-Clause
// reduction.reference.cpu: every reduction by its formula, one element after the other, summed in long double.
#include <cstdint>

#include "reduction_reference.hpp"

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/wide.hpp"

using namespace sextant::plugin;

namespace {

// One thread, extended precision: about eight cycles an element.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_reduction_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 2 * n * static_cast<double>(value_bytes(q.q.value_type));
  cost.flops = 8 * n * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.operation < SXT_REDUCTION_SUM || q.operation > SXT_REDUCTION_MAX)
    return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_REDUCTION_SUM, SXT_REDUCTION_MAX);
  const bool ordered = q.operation == SXT_REDUCTION_MIN || q.operation == SXT_REDUCTION_MAX;
  const bool single = q.q.value_type == SXT_F32 || q.q.value_type == SXT_C64;
  if (ordered && (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128))
    return refuse(reason, "complex numbers have no smallest or largest");
  if (q.accuracy != SXT_ACCURACY_WORKING && q.operation <= SXT_REDUCTION_ASUM && !single)
    return refuse(reason, "extended precision is less than twice %s", value_name(q.q.value_type));
  return SXT_OK;
}

// The first index of the largest magnitude; a NaN counts as larger than everything. -1 when there is no element.
template <class T>
std::int64_t largest(const T *x, std::int64_t n) {
  std::int64_t best = n > 0 ? 0 : -1;
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(abs1(x[i]))) return i;
    if (abs1(x[i]) > abs1(x[best])) best = i;
  }
  return best;
}

// sqrt(sum |x|^2) with every element divided by the largest, so that no square overflows or vanishes.
template <class T>
real_of<T> norm(const T *x, std::int64_t n) {
  long double most = 0, sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Long value = Long(x[i]);
    if (std::isnan(value.real()) || std::isnan(value.imag())) return std::numeric_limits<real_of<T>>::quiet_NaN();
    most = std::max({most, std::abs(value.real()), std::abs(value.imag())});
  }
  if (most == 0 || std::isinf(most)) return static_cast<real_of<T>>(most);
  for (std::int64_t i = 0; i < n; ++i) {
    const long double re = Long(x[i]).real() / most, im = Long(x[i]).imag() / most;
    sum += re * re + im * im;
  }
  return static_cast<real_of<T>>(most * std::sqrt(sum));
}

template <class T>
Long sum(const sxt_reduction_args &args) {
  const T *x = static_cast<const T *>(args.x), *y = static_cast<const T *>(args.y);
  Long total = 0;
  for (std::int64_t i = 0; i < args.n; ++i) {
    switch (args.operation) {
      case SXT_REDUCTION_SUM: total += Long(x[i]); break;
      case SXT_REDUCTION_DOT: total += product(Long(x[i]), Long(y[i])); break;
      case SXT_REDUCTION_DOTC: total += product(std::conj(Long(x[i])), Long(y[i])); break;
      default: total += std::abs(Long(x[i]).real()) + std::abs(Long(x[i]).imag()); break;
    }
  }
  return total;
}

// The smallest (sign -1) or largest (sign 1) number; NaN when there is one.
template <class T>
T outermost(const T *x, std::int64_t n, int sign) {
  T best = -static_cast<T>(sign) * std::numeric_limits<T>::infinity();
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return x[i];
    if (static_cast<T>(sign) * x[i] > static_cast<T>(sign) * best) best = x[i];
  }
  return best + T(0);  // either zero becomes +0
}

template <class T>
sxt_status reduce(const sxt_reduction_args &args, const sxt_exec *exec) {
  const T *x = static_cast<const T *>(args.x);
  auto *real_result = static_cast<real_of<T> *>(args.result);
  if constexpr (!is_complex<T>) {
    if (args.operation == SXT_REDUCTION_MIN) return *real_result = outermost(x, args.n, -1), SXT_OK;
    if (args.operation == SXT_REDUCTION_MAX) return *real_result = outermost(x, args.n, 1), SXT_OK;
  }
  switch (args.operation) {
    case SXT_REDUCTION_SUM:
    case SXT_REDUCTION_DOT:
    case SXT_REDUCTION_DOTC: *static_cast<T *>(args.result) = narrow<T>(sum<T>(args)); return SXT_OK;
    case SXT_REDUCTION_ASUM: *real_result = static_cast<real_of<T>>(sum<T>(args).real()); return SXT_OK;
    case SXT_REDUCTION_NRM2: *real_result = norm(x, args.n); return SXT_OK;
    case SXT_REDUCTION_AMAX: *real_result = args.n > 0 ? abs1(x[largest(x, args.n)]) : 0; return SXT_OK;
    case SXT_REDUCTION_IAMAX: *static_cast<std::int64_t *>(args.result) = largest(x, args.n); return SXT_OK;
    default:
      return error(exec, SXT_E_NOT_SUPPORTED, "reduction %d of %s is unknown", args.operation,
                   is_complex<T> ? "complex numbers" : "real numbers");
  }
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  return with_value_type(*static_cast<const sxt_value_type *>(state), [&](auto tag) {
    return reduce<typename decltype(tag)::type>(as<sxt_reduction_args>(head), exec);
  });
}

}  // namespace

namespace sextant::reduction_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_REDUCTION, "reduction.reference.cpu", "cpu",
                            "element by element in extended precision, one thread", run);
  k.version = 2;
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  set_calls<sxt_value_type>(k, {applicable, candidates, prepare_type});
  return k;
}();

}  // namespace sextant::reduction_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::reduction_reference;
  return offer<&kernel, &kind.one>("reduction-reference", out);
}
