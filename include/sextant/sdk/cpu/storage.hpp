// SPDX-License-Identifier: BSD-3-Clause
// What host storages share: values that are borrowed until the first write, symmetric scaling, the diagonal.
// Header-only, no part of the ABI.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin {

// The source's values are the caller's: they are copied before the first write.
template <class View>
void own_values(View &view, Memory &values, std::uint64_t bytes, const sxt_exec *exec) {
  if (values.data()) return;
  values = Memory(exec, SXT_SPACE_HOST, bytes);
  std::copy_n(static_cast<const char *>(view.values), bytes, values.as<char>());
  view.values = values.data();
}

// values(i,j) *= s[i] s[j]. visit(part, team, f) calls f(position, i, j) for the entries of one part.
template <class Visit>
sxt_status scale_entries(sxt_value_type type, void *values, const void *s, const sxt_exec *exec, Visit &&visit) {
  return with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto *factor = static_cast<const real_of<T> *>(s);
    T *entries = static_cast<T *>(values);
    const int team = std::max(1, exec->threads);
    for_each_part(team, team, [&](int part) {
      // s[i] s[j] first: the mirror image of an entry gets the same bits.
      visit(part, team, [=](std::int64_t k, std::int64_t i, std::int64_t j) { entries[k] *= factor[i] * factor[j]; });
    });
    return SXT_OK;
  });
}

// out[i] = A(i,i), 0 where absent. visit(f) calls f(position, i, j) for every entry.
template <class Visit>
sxt_status diagonal_entries(const sxt_storage &a, const void *values, void *out, Visit &&visit) {
  return with_value_type(a.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *diagonal = static_cast<T *>(out);
    const T *entries = static_cast<const T *>(values);
    std::fill_n(diagonal, std::min(a.rows, a.cols), T(0));
    return visit([=](std::int64_t k, std::int64_t i, std::int64_t j) {
      if (i == j) diagonal[i] = entries[k];
    });
  });
}

}  // namespace sextant::plugin
