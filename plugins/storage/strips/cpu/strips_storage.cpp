// SPDX-License-Identifier: BSD-3-Clause
// storage.strips.cpu: slices of eight rows, entries on diagonals as strips, the rest gathered (README.md). It owns all
// arrays.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "plugins/formats/slice_fill.hpp"
#include "plugins/formats/strips.hpp"
#include "plugins/storage/shared/owned_values.hpp"
#include "sextant/sdk/cpu/csr.hpp"

using namespace sextant::plugin;

namespace {

constexpr std::int32_t padding = -1;

struct State {
  sxt_strips view{};
  Memory strip_ptr, gather_ptr, least, base, mask, col, values;

  std::int64_t gathered() const { return gather_ptr.as<std::int64_t>()[view.n_slices]; }
  std::int64_t stored() const { return view.n_strips * strip_lanes + gathered(); }
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

Range rows_of(const State &state, std::int64_t slice) {
  return {slice * strip_lanes, std::min(state.view.s.rows, (slice + 1) * strip_lanes)};
}

// Calls f(position, row, column) for the entries of some slices.
template <class F>
void for_each_stored(const State &state, Range slices, F &&f) {
  const auto *strip_ptr = state.strip_ptr.as<std::int64_t>(), *gather_ptr = state.gather_ptr.as<std::int64_t>();
  const auto *base = state.base.as<std::int32_t>(), *col = state.col.as<std::int32_t>();
  const std::int64_t rest = state.view.n_strips * strip_lanes;
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    for (std::int64_t k = strip_ptr[s]; k < strip_ptr[s + 1]; ++k)
      for (int l = 0; l < strip_lanes; ++l)
        if (state.mask.as<std::uint8_t>()[k] >> l & 1)
          f(k * strip_lanes + l, s * strip_lanes + l, static_cast<std::int64_t>(base[k]) + l);
    for (std::int64_t g = gather_ptr[s]; g < gather_ptr[s + 1]; ++g)
      if (col[g] >= 0)
        f(rest + g, s * strip_lanes + (g - gather_ptr[s]) % strip_lanes, static_cast<std::int64_t>(col[g]));
  }
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  const std::int64_t most = std::max(q.rows, q.cols);
  if (most >= std::int64_t{1} << 31)
    return refuse(reason, "%lld rows or columns do not fit the 32-bit indices it holds", (long long)most);
  if (q.matrix_type != SXT_F32 && q.matrix_type != SXT_F64)
    return refuse(reason, "%s values do not fit eight real lanes", value_name(q.matrix_type));
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double value = static_cast<double>(value_bytes(q.matrix_type)), rows = static_cast<double>(q.rows);
  // How well strips fill is not known here; a quarter of padding is usual.
  const double bytes = 1.25 * static_cast<double>(q.nnz) * (value + 1) + 2.2 * rows;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  // Read twice and written once; each of two passes merges the rows of a slice.
  const double work = 14e-9 * static_cast<double>(q.nnz) + 10e-9 * rows;
  candidate.setup_s = 5e-6 + 4 * bytes / machine->stream_rate + work / std::max(1, machine->units);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// Plans every slice: strip_ptr and gather_ptr.
template <class Offset, class Column>
void lay_out(State &state, const Offset *row_ptr, const Column *col, int team) {
  auto *strip_ptr = state.strip_ptr.as<std::int64_t>(), *gather_ptr = state.gather_ptr.as<std::int64_t>();
  const std::int64_t n = state.view.n_slices;
  for_each_part(team, team, [&](int part) {
    const Range mine = part_of(n, team, part);
    for (std::int64_t s = mine.begin; s < mine.end; ++s) {
      const Range rows = rows_of(state, s);
      const SlicePlan plan = plan_slice(row_ptr, col, rows.begin, rows.end);
      strip_ptr[s + 1] = plan.strips;
      gather_ptr[s + 1] = plan.gathered * strip_lanes;
      state.least.as<std::uint8_t>()[s] = static_cast<std::uint8_t>(plan.least);
    }
  });
  strip_ptr[0] = gather_ptr[0] = 0;
  for (std::int64_t s = 0; s < n; ++s) strip_ptr[s + 1] += strip_ptr[s], gather_ptr[s + 1] += gather_ptr[s];
  state.view.n_strips = strip_ptr[n];
}

// Fills one slice; pattern: columns and masks as well as values.
template <bool pattern, class T, class Offset, class Column>
void fill_slice(const State &state, const Offset *row_ptr, const Column *col, const T *source, std::int64_t s) {
  const Range rows = rows_of(state, s);
  const int least = state.least.as<std::uint8_t>()[s];
  std::int64_t k = state.strip_ptr.as<std::int64_t>()[s], next[strip_lanes];
  const std::int64_t begin = state.gather_ptr.as<std::int64_t>()[s], end = state.gather_ptr.as<std::int64_t>()[s + 1];
  T *const values = state.values.as<T>(), *const rest = values + state.view.n_strips * strip_lanes;
  auto *const columns = state.col.as<std::int32_t>();
  std::fill(rest + begin, rest + end, T(0));
  if (pattern) std::fill(columns + begin, columns + end, padding);
  for (int l = 0; l < strip_lanes; ++l) next[l] = begin + l;
  for_each_strip(row_ptr, col, rows.begin, rows.end, [&](std::int64_t base, unsigned mask, const std::int64_t *at) {
    if (std::popcount(mask) >= least) {
      for (int l = 0; l < strip_lanes; ++l) values[k * strip_lanes + l] = mask >> l & 1 ? source[at[l]] : T(0);
      if (pattern) state.base.as<std::int32_t>()[k] = static_cast<std::int32_t>(base);
      if (pattern) state.mask.as<std::uint8_t>()[k] = static_cast<std::uint8_t>(mask);
      ++k;
      return;
    }
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
      const int l = std::countr_zero(lanes);
      rest[next[l]] = source[at[l]];
      if (pattern) columns[next[l]] = static_cast<std::int32_t>(base + l);
      next[l] += strip_lanes;
    }
  });
}

// By the parts that the product will use, so that each thread touches its own memory first.
template <bool pattern>
sxt_status fill_all(const State &state, const sxt_csr &a, const sxt_exec *exec) {
  const int team = std::max(1, exec->threads);
  return with_value_type(a.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
      for_each_part(team, team, [&](int part) {
        const Range slices = strips_part(state.view, team, part);
        for (std::int64_t s = slices.begin; s < slices.end; ++s)
          fill_slice<pattern>(state, row_ptr, col, static_cast<const T *>(a.values), s);
      });
      return SXT_OK;
    });
  });
}

sxt_status build(State &state, const sxt_csr &a, const sxt_exec *exec) {
  sxt_strips &view = state.view;
  view.n_slices = (a.s.rows + strip_lanes - 1) / strip_lanes;
  state.strip_ptr = Memory(exec, SXT_SPACE_HOST, (view.n_slices + 1) * sizeof(std::int64_t));
  state.gather_ptr = Memory(exec, SXT_SPACE_HOST, (view.n_slices + 1) * sizeof(std::int64_t));
  state.least = Memory(exec, SXT_SPACE_HOST, view.n_slices);
  const sxt_status status = with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
    return lay_out(state, row_ptr, col, std::max(1, exec->threads)), SXT_OK;
  });
  if (status != SXT_OK) return status;
  if (slices_fill_too_much(static_cast<double>(state.stored()), static_cast<double>(a.s.nnz)))
    return error(exec, SXT_E_NOT_SUPPORTED,
                 "slices of %d rows would store %lld entries for %lld nonzeros, more than %g times as many",
                 strip_lanes, (long long)state.stored(), (long long)a.s.nnz, slice_fill_limit);
  state.base = Memory(exec, SXT_SPACE_HOST, view.n_strips * sizeof(std::int32_t));
  state.mask = Memory(exec, SXT_SPACE_HOST, view.n_strips);
  state.col = Memory(exec, SXT_SPACE_HOST, state.gathered() * sizeof(std::int32_t));
  state.values = Memory(exec, SXT_SPACE_HOST, state.stored() * value_bytes(a.s.value_type));
  view.strip_ptr = state.strip_ptr.data();
  view.gather_ptr = state.gather_ptr.data();
  view.base = state.base.data();
  view.mask = state.mask.data();
  view.col = state.col.data();
  view.values = state.values.data();
  return fill_all<true>(state, a, exec);
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &source = as<sxt_csr>(problem->a);
    auto state = std::make_unique<State>();
    state->view.s = source.s;
    state->view.s.h = head<sxt_strips>(SXT_KIND_STORAGE_STRIPS);
    state->view.s.index_type = SXT_I32;
    state->view.s.offset_type = SXT_I64;
    state->view.slice = strip_lanes;
    const sxt_status status = build(*state, source, exec);
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  const State &state = of(opaque);
  const auto &source = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(source, state.view.s.nnz, exec); status != SXT_OK) return status;
  return fill_all<false>(state, source, exec);
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  const std::int64_t n = state.view.n_slices;
  return 2 * (n + 1) * sizeof(std::int64_t) + n + state.view.n_strips * (sizeof(std::int32_t) + 1) +
         state.gathered() * sizeof(std::int32_t) + state.stored() * value_bytes(state.view.s.value_type);
}

constexpr auto visit = [](const State &state, int part, int team, auto &&f) {
  for_each_stored(state, strips_part(state.view, team, part), f);
};

const sxt_storage_ops ops = {sizeof(sxt_storage_ops),      view,   bytes, scale_owned<State, visit>,
                             diagonal_owned<State, visit>, nullptr};

const sxt_kernel kernel = new_storage<State>(SXT_KIND_STORAGE_STRIPS, "storage.strips.cpu", "cpu",
                                             "slices of eight rows: parts of diagonals, and other entries gathered",
                                             {&ops, nullptr, applicable, candidates, prepare, refresh});

// Kernels that read a conversion test it, so the kind has no cases.
const sxt_kind kind = new_kind(SXT_KIND_STORAGE_STRIPS, "slices of rows as parts of diagonals and gathered entries");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("storage-strips", out);
}
