// SPDX-License-Identifier: BSD-3-Clause
// hermitian.reference.cpu: one system after the other, Cholesky, Bunch-Kaufman or L S L^H entry by entry.
#include "hermitian_reference.hpp"

#include <cstdint>

#include "bunch_kaufman.hpp"
#include "cholesky.hpp"
#include "sextant/sdk/describe.hpp"
#include "signed.hpp"

using namespace sextant::plugin;

namespace sextant::hermitian_reference {
namespace {

template <class T>
Mirrored<T> mirrored(const HermitianSystem<T> &system, sxt_triangle triangle) {
  return Mirrored<T>(system.a, system.n, system.lda, system.pivots, triangle);
}

template <class T>
std::int32_t factor_as(const sxt_hermitian_args &args, std::int64_t s) {
  const HermitianSystem<T> system = system_of<T>(args, s);
  if (args.definiteness == SXT_HERMITIAN_INDEFINITE) {
    const std::int32_t info = bunch_kaufman_factor(mirrored(system, args.triangle));
    return info == 0 && !is_usable_factor(system, args.triangle) ? SXT_HERMITIAN_NOT_FINITE : info;
  }
  const Lower<T> lower(system.a, system.lda, args.triangle);
  if (args.definiteness == SXT_HERMITIAN_SIGNED) return signed_factor(system.n, lower);
  const bool finite = all_finite(system, args.triangle);
  return definite_verdict(cholesky_factor(system.n, lower), finite);
}

template <class T>
void solve_as(const sxt_hermitian_args &args, std::int64_t s) {
  const HermitianSystem<T> system = system_of<T>(args, s);
  const Lower<T> lower(system.a, system.lda, args.triangle);
  for (std::int64_t r = 0; r < system.n_rhs; ++r) {
    T *x = system.b + r * system.ldb;
    if (args.definiteness == SXT_HERMITIAN_INDEFINITE)
      bunch_kaufman_solve(mirrored(system, args.triangle), x);
    else if (args.definiteness == SXT_HERMITIAN_SIGNED)
      signed_solve(system.n, lower, x);
    else
      cholesky_solve(system.n, lower, x);
  }
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  if (as<sxt_hermitian_query>(query).definiteness != SXT_HERMITIAN_TRY_DEFINITE) return SXT_OK;
  return refuse(reason, "definite first, then indefinite, is composed of the two");
}

// One thread; no SIMD, and every product waits for the sum before it.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = hermitian_bytes(q);
  cost.flops = 4 * hermitian_flops(q) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost);
  return SXT_OK;
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t s = 0; s < args.batch; ++s) {
      if (!takes_part(args, s, system_of<T>(args, s))) continue;
      if (factors(args.phase)) args.info[s] = factor_as<T>(args, s);
      if (solves(args.phase) && args.info[s] == 0) solve_as<T>(args, s);
    }
    return SXT_OK;
  });
}

}  // namespace

std::int32_t factor(const sxt_hermitian_args &args, std::int64_t s) {
  std::int32_t info = 0;
  with_value_type(args.value_type, [&](auto tag) {
    info = factor_as<typename decltype(tag)::type>(args, s);
    return SXT_OK;
  });
  return info;
}

void solve(const sxt_hermitian_args &args, std::int64_t s) {
  with_value_type(args.value_type, [&](auto tag) {
    solve_as<typename decltype(tag)::type>(args, s);
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.reference.cpu", "cpu",
                            "Cholesky, Bunch-Kaufman or signed Cholesky entry by entry, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}();

}  // namespace sextant::hermitian_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::hermitian_reference;
  return offer<&kernel, &kind>("hermitian-reference", out);
}
