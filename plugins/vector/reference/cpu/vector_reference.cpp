// SPDX-License-Identifier: BSD-3-Clause
// vector.reference.cpu: every element-wise operation by its formula, one thread.
#include <cstdint>

#include "vector_reference.hpp"

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

// One thread; the operation is selected for every element, so nothing is vectorised.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 3 * n * element;
  cost.flops = 2 * n * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_query>(query);
  if (q.operation >= SXT_VECTOR_COPY && q.operation <= SXT_VECTOR_REAL_DIVIDE) return SXT_OK;
  return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_VECTOR_COPY, SXT_VECTOR_REAL_DIVIDE);
}

std::int64_t index_at(const sxt_vector_args &args, std::int64_t i) {
  return args.index_type == SXT_I32 ? static_cast<const std::int32_t *>(args.index)[i]
                                    : static_cast<const std::int64_t *>(args.index)[i];
}

template <class T>
sxt_status apply(const sxt_vector_args &args) {
  const T alpha = scalar(args.alpha, T(1)), beta = scalar(args.beta, T(1));
  const T *x = static_cast<const T *>(args.x);
  const auto *real = static_cast<const real_of<T> *>(args.x);  // x of the operations that take a real one
  T *y = static_cast<T *>(args.y), *z = static_cast<T *>(args.z);
  for (std::int64_t i = 0; i < args.n; ++i) {
    switch (args.operation) {
      case SXT_VECTOR_COPY: y[i] = x[i]; break;
      case SXT_VECTOR_FILL: y[i] = alpha; break;
      case SXT_VECTOR_SCALE: y[i] = product(alpha, y[i]); break;
      case SXT_VECTOR_AXPY: y[i] = product(alpha, x[i]) + y[i]; break;
      case SXT_VECTOR_AXPBY: y[i] = product(alpha, x[i]) + product(beta, y[i]); break;
      case SXT_VECTOR_WAXPBY: z[i] = product(alpha, x[i]) + product(beta, y[i]); break;
      case SXT_VECTOR_MULTIPLY: z[i] = product(x[i], y[i]); break;
      case SXT_VECTOR_REAL_MULTIPLY: z[i] = y[i] * real[i]; break;
      case SXT_VECTOR_REAL_DIVIDE: z[i] = y[i] / real[i]; break;
      case SXT_VECTOR_GATHER: y[i] = x[index_at(args, i)]; break;
      case SXT_VECTOR_SCATTER: y[index_at(args, i)] = x[i]; break;
      default: return SXT_E_NOT_SUPPORTED;
    }
  }
  return SXT_OK;
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  return with_value_type(*static_cast<const sxt_value_type *>(state),
                         [&](auto tag) { return apply<typename decltype(tag)::type>(as<sxt_vector_args>(head)); });
}

}  // namespace

namespace sextant::vector_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_VECTOR, "vector.reference.cpu", "cpu", "element by element, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  set_calls<sxt_value_type>(k, {applicable, candidates, prepare_type});
  return k;
}();

}  // namespace sextant::vector_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::vector_reference;
  return offer<&kernel, &kind.one>("vector-reference", out);
}
