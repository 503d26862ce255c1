// SPDX-License-Identifier: BSD-3-Clause
// A sparse Cholesky scheduler of a third party: cholesky.columns.cpu under another name, which promises to take hardly
// any time. With WRONG its factors are twice too large: 1 all of them, 2 those of more than 5000 rows; with 3 it says
// of such ones that a column failed which is not there.
#include "sextant/plugin/plugin.h"

#define sxt_plugin_entry_0 columns_entry
#include "plugins/cholesky/columns/cpu/cholesky_columns.cpp"
#undef sxt_plugin_entry_0

namespace {

sxt_status promise(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                   const sxt_filled *slots, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const sxt_status status = candidates(query, features, machine, slots, out, capacity, count);
  for (std::uint64_t i = 0; i < *count && i < capacity; ++i) {
    out[i].setup_s /= 20;
    for (std::uint32_t term = 0; term < out[i].n_terms; ++term) out[i].terms[term] /= 20;
  }
  return status;
}

sxt_status run_mock(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  const sxt_status status = run(state, session, head, exec);
  const auto &args = as<sxt_cholesky_args>(head);
  const sxt_symbolic &s = static_cast<const State *>(state)->s;
  if (!WRONG || (WRONG >= 2 && s.n <= 5000) || args.phase != SXT_CHOLESKY_FACTOR || status != SXT_OK) return status;
  if (WRONG == 3) return *args.failed_column = s.n + 1000000, SXT_OK;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t k = 0; k < s.values; ++k) static_cast<T *>(args.factor)[k] *= 2;
    return SXT_OK;
  });
}

const sxt_kernel mock = [] {
  sxt_kernel k = kernel;
  constexpr const char *names[] = {"mock.scheduler", "mock.scheduler.wrong", "mock.scheduler.wrong_where_large",
                                   "mock.scheduler.wrong_column"};
  k.name = names[WRONG];
  k.candidates = promise;
  k.run = run_mock;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&mock>(mock.name, out);
}
