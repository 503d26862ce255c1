// SPDX-License-Identifier: BSD-3-Clause
// vector_group.reference.cpu: the statements of a group one after the other, each a loop over all elements, one thread.
#include <cstdint>

#include "vector_group_reference.hpp"

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

// The statements of the longest group read and write twelve vectors.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_vector_group_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  const int statements = q.group == SXT_GROUP_CHRONOPOULOS_GEAR ? 4 : q.group == SXT_GROUP_PREDICT_RECOMPUTE ? 3 : 2;
  CpuCost cost;
  cost.stream_bytes = 3 * statements * n * element;
  cost.working_set = (statements + 2) * n * element;
  cost.flops = statements * n * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_vector_group_query>(query);
  if (q.group >= SXT_GROUP_CLASSICAL_XR && q.group <= SXT_GROUP_PREDICT_RECOMPUTE) return SXT_OK;
  return refuse(reason, "group %d is not one of %d to %d", q.group, SXT_GROUP_CLASSICAL_XR,
                SXT_GROUP_PREDICT_RECOMPUTE);
}

// y += a x
template <class T>
void add(std::int64_t n, T a, const T *x, T *y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] + product(a, x[i]);
}

// y = x + b y
template <class T>
void direct(std::int64_t n, const T *x, T b, T *y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] + product(b, y[i]);
}

template <class T>
sxt_status update(const sxt_vector_group_args &args, const sxt_exec *exec) {
  const std::int64_t n = args.n;
  const T alpha = scalar(args.scalars[0], T(1)), beta = scalar(args.scalars[1], T(1));
  const auto vector = [&](int k) { return static_cast<T *>(args.vectors[k]); };
  T *x = vector(0), *r = vector(1), *p = vector(2);
  switch (args.group) {
    case SXT_GROUP_CLASSICAL_XR: {
      const T *q = vector(3);
      add(n, alpha, p, x);
      add(n, -alpha, q, r);
      return SXT_OK;
    }
    case SXT_GROUP_CHRONOPOULOS_GEAR: {
      T *s = vector(3);
      const T *u = vector(4), *w = vector(5);
      direct(n, u, beta, p);
      direct(n, w, beta, s);
      add(n, alpha, p, x);
      add(n, -alpha, s, r);
      return SXT_OK;
    }
    case SXT_GROUP_PREDICT_RECOMPUTE: {
      const T *q = vector(3);
      add(n, -alpha, q, r);
      add(n, alpha, p, x);
      direct(n, r, beta, p);
      return SXT_OK;
    }
    default: return error(exec, SXT_E_NOT_SUPPORTED, "vector group %d is unknown", args.group);
  }
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  return sextant::vector_group_reference::update_group(*static_cast<const sxt_value_type *>(state),
                                                       as<sxt_vector_group_args>(head), exec);
}

}  // namespace

namespace sextant::vector_group_reference {

sxt_status update_group(sxt_value_type type, const sxt_vector_group_args &args, const sxt_exec *exec) {
  return with_value_type(type, [&](auto tag) { return update<typename decltype(tag)::type>(args, exec); });
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_VECTOR_GROUP, "vector_group.reference.cpu", "cpu", "statement by statement, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  set_calls<sxt_value_type>(k, {applicable, candidates, prepare_type});
  return k;
}();

}  // namespace sextant::vector_group_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::vector_group_reference;
  return offer<&kernel, &dots_kernel, &kind.one, &dots_kind>("vector_group-reference", out);
}
