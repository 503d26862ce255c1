// SPDX-License-Identifier: BSD-3-Clause
// storage.ell.cuda: every row as wide as the longest, column by column, so that a warp reads runs; refused where most
// of it would be padding. Conversion is bound by bandwidth: entries read once, arrays cleared and written.
#include <cstdint>

#include "plugins/formats/cuda/ell.hpp"
#include "plugins/formats/ell.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

namespace sextant::storage_ell_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

struct State {
  sxt_ell view{};
  Source source;
  DeviceArray col, values;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

const char *const features[] = {"row_nnz_max", nullptr};

// The width, or its estimate: a fifth more than the mean is usual where ELL is useful.
double width_of(const sxt_matrix_query &q, const sxt_features *found) {
  const double longest = feature(found, 0);
  return longest == longest ? longest : q.rows ? 1.2 * static_cast<double>(q.nnz) / static_cast<double>(q.rows) : 0;
}

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  const double width = width_of(q, found);
  if (ell_too_full(width, static_cast<double>(q.rows), static_cast<double>(q.nnz)))
    return refuse(reason, "%lld rows of %.0f entries would be stored for %lld nonzeros; the limit is %g times as many",
                  (long long)q.rows, width, (long long)q.nnz, ell_fill_limit);
  return check_narrow(q, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double entry = static_cast<double>(value_bytes(q.matrix_type) + 4), rows = static_cast<double>(q.rows);
  const double bytes = width_of(q, found) * rows * entry;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = conversion_seconds(*machine, q, 20, 2, 2 * bytes);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes + 4 * rows);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) {
    state.source = Source(*problem, exec);
    const sxt_storage &shape = state.source.shape();
    sxt_ell &ell = state.view;
    ell.s = shape;
    ell.s.h = head<sxt_ell>(SXT_KIND_STORAGE_ELL);
    ell.width = longest_row(exec, state.source);
    ell.ld = ell_device_stride(shape.rows);
    if (ell_too_full(static_cast<double>(ell.width), static_cast<double>(shape.rows), static_cast<double>(shape.nnz)))
      throw Failure(SXT_E_NOT_SUPPORTED,
                    "%lld rows of %lld entries would be stored for %lld nonzeros, more than %g times as many",
                    (long long)shape.rows, (long long)ell.width, (long long)shape.nnz, ell_fill_limit);
    const auto places = static_cast<std::uint64_t>(ell.width * ell.ld);
    state.col = DeviceArray(exec, places * sizeof(std::int32_t), "ELL columns");
    state.values = DeviceArray(exec, places * value_bytes(shape.value_type), "ELL values");
    ell.col = state.col.data();
    ell.values = state.values.data();
    clear_ell(exec, state.col, state.values);
    state.source.for_each_piece(*problem, exec, true, [&](const Piece &piece) {
      fill_ell_piece(exec, state.source, piece, ell, state.col.as<std::int32_t>(), state.values.data());
    });
    return SXT_OK;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    state.source.for_each_piece(*problem, exec, false, [&](const Piece &piece) {
      fill_ell_piece(exec, state.source, piece, state.view, nullptr, state.values.data());
    });
    return SXT_OK;
  });
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  return state.source.bytes() + state.col.bytes() + state.values.bytes();
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    scale_stored(exec, state.view.s.value_type, state.values.data(), state.view.width * state.view.ld, s,
                 WhereEll{state.col.as<std::int32_t>(), state.view.ld});
    return SXT_OK;
  });
}

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    diagonal_stored(exec, state.view.s, state.values.data(), state.view.width * state.view.ld, out,
                    WhereEll{state.col.as<std::int32_t>(), state.view.ld});
    return SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel = new_storage<State>(SXT_KIND_STORAGE_ELL, "storage.ell.cuda", "cuda",
                                             "rows as wide as the longest, column by column",
                                             {&ops, features, applicable, candidates, prepare, refresh});

}  // namespace
}  // namespace sextant::storage_ell_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::storage_ell_cuda::kernel>("storage-ell-cuda", out);
}
