// SPDX-License-Identifier: BSD-3-Clause
// What most plugins end with: the functions of a kernel in its table, and the entry function's answer. Header-only, no
// part of the ABI.
#pragma once

#include <cstddef>
#include <type_traits>

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

// The functions of a kernel, in the order in which the host calls them. A kernel without refresh is prepared again.
struct KernelCalls {
  decltype(sxt_kernel::applicable) applicable;
  decltype(sxt_kernel::candidates) candidates;
  decltype(sxt_kernel::prepare) prepare;
  decltype(sxt_kernel::refresh) refresh = nullptr;
};

// For a kernel whose prepare gives a State.
template <class State>
void set_calls(sxt_kernel &kernel, const KernelCalls &calls) {
  kernel.applicable = calls.applicable;
  kernel.candidates = calls.candidates;
  kernel.prepare = calls.prepare;
  kernel.refresh = calls.refresh;
  kernel.release = destroy<State>;
}

// refresh for a State that keeps nothing of its matrix but a pointer to it, in a member `a`.
template <class State>
sxt_status refresh_pointer(void *state, const sxt_problem *problem, const sxt_exec *) {
  auto &a = static_cast<State *>(state)->a;
  return a = &as<std::remove_pointer_t<std::remove_reference_t<decltype(a)>>>(problem->a), SXT_OK;
}

// prepare for a kernel whose state is the type of its vectors.
inline sxt_status prepare_type(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *,
                               const sxt_exec *exec, void **state) {
  return guard(exec, [&] { return give(new sxt_value_type{problem->query->value_type}, state); });
}

// Those of some pointers that point to a T, in their order.
template <class T, auto... parts>
struct Offered {
  static constexpr std::size_t count = (std::size_t{0} + ... + std::is_same_v<decltype(parts), const T *>);
  const T *items[count ? count : 1] = {};

  constexpr Offered() {
    std::size_t n = 0;
    (add(n, parts), ...);
  }

 private:
  constexpr void add(std::size_t &n, const T *part) { items[n++] = part; }
  constexpr void add(std::size_t &, const void *) {}
};

// The answer of a plugin's entry function, by the addresses of its kernels and kinds, which live as long as the
// process: return offer<&kernel, &kind>("spmv-mine", out). Version, vendor and license are those of describe().
template <auto... parts>
sxt_status offer(const char *name, const sxt_plugin **out) {
  static constexpr Offered<sxt_kernel, parts...> kernels;
  static constexpr Offered<sxt_kind, parts...> kinds;
  static const sxt_plugin plugin = describe(name, kernels.items, kinds.count ? kinds.items : nullptr, kinds.count);
  return *out = &plugin, SXT_OK;
}

}  // namespace sextant::plugin
