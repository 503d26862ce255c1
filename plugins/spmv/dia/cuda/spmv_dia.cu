// SPDX-License-Identifier: BSD-3-Clause
// spmv.dia.cuda and spmv.dia-symmetric.cuda: products with matrices held by diagonals, all operations, the kernels of
// plugins/formats/cuda/dia_kernels.hpp. Deterministic: a row has one thread and one order.
#include <cstdint>

#include "plugins/formats/cuda/dia.hpp"
#include "sextant/plugin/order.h"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_dia_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

template <bool symmetric>
sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  return dia_refusal(as<sxt_spmv_query>(query).m, found, symmetric, reason);
}

template <bool symmetric>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double diagonals = dia_diagonals(q.m, found);
  CandidateList list(out, capacity, count);
  const auto add = [&](std::int64_t threads, std::int64_t planes) {
    fill_dia_launch(list.add(), q, *machine, diagonals, symmetric, 0, threads, planes, {}).state_bytes =
        sizeof(DiaState);
  };
  for (std::int64_t threads : {128, 256, 512}) add(threads, 0);
  // Seven diagonals may be those of a stencil; prepare tests it.
  if (symmetric && std::ceil(diagonals) == 7)
    for (std::int64_t threads : {256, 512})
      for (std::int64_t planes : {2, 8, 32}) add(threads, planes);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new DiaState(dia_state_of(*problem, candidate)), state); });
}

// A session keeps nothing: it only loads code.
sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  const auto &state = *static_cast<const DiaState *>(opaque);
  *session = nullptr;
  return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
    return load_dia<typename decltype(v)::type, typename decltype(m)::type, NoDots>(exec);
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const DiaState *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    const Product<V> all = product_of<V>(args);
    sxt_status status = SXT_OK;
    // Right-hand sides one after the other.
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; ++r) {
      const Product<V> p = columns_from(all, r, 1);
      status = run_dia<V, M>(exec, state.launch, *state.a, args.op, DiaVectors<V>{p.x, p.y, 0, 0, p.alpha, p.beta},
                             NoDots{});
    }
    return status;
  });
}

sxt_status launch_config(const sxt_query *query, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  const std::int64_t rows = as<sxt_spmv_query>(query).m.rows, threads = candidate->launch[1];
  const std::int64_t taken = threads * std::max<std::int64_t>(1, candidate->launch[2]);
  *out = sxt_launch_config{std::max<std::int64_t>(1, divide_up(rows, taken)), threads, 0, 64, candidate->run_s};
  return SXT_OK;
}

template <bool symmetric>
sxt_kernel make_kernel(const char *name, const char *description) {
  sxt_kernel k = new_dia_kernel<symmetric>(SXT_KIND_SPMV, name, description, run);
  if (!symmetric) k.flags |= SXT_KERNEL_ONE_ORDER;
  k.applicable = applicable<symmetric>;
  k.candidates = candidates<symmetric>;
  k.prepare = prepare;
  k.open = open;
  if (!symmetric) k.launch_config = launch_config;  // a march adds in another order: policies must not mix the two
  return k;
}

const sxt_kernel plain = make_kernel<false>("spmv.dia.cuda", "by diagonals, a thread a row");
const sxt_kernel symmetric =
    make_kernel<true>("spmv.dia-symmetric.cuda",
                      "by upper diagonals, each of which also serves the lower triangle; stencils are marched");

}  // namespace
}  // namespace sextant::spmv_dia_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_dia_cuda;
  return sextant::plugin::offer<&plain, &symmetric>("spmv-dia-cuda", out);
}
