// SPDX-License-Identifier: BSD-3-Clause
// Operations of host storages that own their values, in members `view` and `values` of a State.
//   visit(state, part, team, f): calls f(position, i, j) for the entries of one part of a team
#pragma once

#include "plugins/storage/shared/storage.hpp"
#include "sextant/sdk/cpu/storage.hpp"

namespace sextant::plugin {

template <class State, auto visit>
sxt_status scale_owned(void *opaque, const void *s, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  return scale_entries(state.view.s.value_type, state.values.data(), s, exec,
                       [&](int part, int team, auto &&scale_one) { visit(state, part, team, scale_one); });
}

template <class State, auto visit>
sxt_status diagonal_owned(const void *opaque, void *out, const sxt_exec *) {
  const State &state = *static_cast<const State *>(opaque);
  return diagonal_entries(state.view.s, state.values.data(), out,
                          [&](auto &&look) { return visit(state, 0, 1, look), SXT_OK; });
}

}  // namespace sextant::plugin
