// SPDX-License-Identifier: BSD-3-Clause
// storage.sell.cuda: SELL-32-512. Slices of 32 rows, a warp's, sorted by length within windows of 512 where that saves
// padding; entry k of the 32 rows of a slice lies together.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/formats/slice_fill.hpp"
#include "sell_build.cuh"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

using namespace sextant::plugin;
using namespace sextant::storage_sell_cuda;

namespace {

struct State {
  cuda::Source source;
  cuda::DeviceArray slice_ptr, perm, slot_of, col, values;  // perm and slot_of empty: the identity
  sxt_sell view{};
  std::int64_t stored = 0;

  Places places() const { return {slice_ptr.as<const std::int64_t>(), slot_of.as<const std::int32_t>()}; }
};
const State &of(const void *state) { return *static_cast<const State *>(state); }

const char *const features[] = {"row_nnz_sum_max_of_32_sorted", nullptr};

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  const double stored = feature(found, 0);
  if (std::isfinite(stored) && slices_fill_too_much(stored, static_cast<double>(q.nnz)))
    return refuse(reason, "slices of %d rows would store %.0f entries for %lld nonzeros, more than %g times as many",
                  slice, stored, (long long)q.nnz, slice_fill_limit);
  return cuda::check_narrow(q, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double nnz = static_cast<double>(q.nnz), rows = static_cast<double>(q.rows);
  const double known = feature(found, 0), stored = std::isfinite(known) ? known : 1.1 * nnz;  // a tenth is usual
  const double bytes = stored * static_cast<double>(value_bytes(q.matrix_type) + 4) + (8 + 8.0 / slice) * rows;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  // Written twice: padding everywhere first, then the entries, which find their places a sector each.
  candidate.setup_s = cuda::conversion_seconds(*machine, q, 22, 1, 2 * bytes) +
                      (machine->sector_rate > 0 ? 2 * nnz / machine->sector_rate : 0);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes + 4 * rows);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// Order of rows and begin of slices; how many entries will be stored.
void lay_out(State &state, const sxt_exec *exec) {
  const std::int64_t rows = state.source.shape().rows, slices = cuda::divide_up<std::int64_t>(rows, slice);
  state.view.n_slices = slices;
  // The number of entries and, behind it, whether the order changed: both are fetched at once.
  struct Found {
    std::int64_t stored;
    std::int32_t changed, unused;
  };
  state.slice_ptr = cuda::DeviceArray(exec, slices * sizeof(std::int64_t) + sizeof(Found), "slice pointers");
  state.perm = cuda::DeviceArray(exec, rows * sizeof(std::int32_t), "the order of rows");
  state.slot_of = cuda::DeviceArray(exec, rows * sizeof(std::int32_t), "the places of rows");
  auto *slice_ptr = state.slice_ptr.as<std::int64_t>();
  auto *const found = reinterpret_cast<Found *>(slice_ptr + slices);
  cuda::fill_bytes(exec, slice_ptr, 0, state.slice_ptr.bytes(), "clear slice pointers");
  if (rows > 0)
    state.source.with_row_ptr([&](const auto *row_ptr) {
      order_window<<<static_cast<unsigned>(cuda::divide_up<std::int64_t>(rows, sigma)), sigma, 0,
                     cuda::stream_of(*exec)>>>(row_ptr, rows, state.perm.as<std::int32_t>(),
                                               state.slot_of.as<std::int32_t>(), slice_ptr, &found->changed);
      cuda::need_launch("the ordering of rows");
    });
  cuda::exclusive_scan(exec, slice_ptr, slices + 1);
  const Found known = cuda::fetch(exec, static_cast<const Found *>(found), "the number of stored entries");
  state.stored = known.stored;
  if (known.changed == 0) state.perm = cuda::DeviceArray(), state.slot_of = cuda::DeviceArray();
}

// All entries to their places; padding stays unchanged.
void fill(const State &state, const sxt_problem &problem, bool with_columns, const sxt_exec *exec) {
  cuda::with_value_words(state.view.s.value_type, [&](auto word) {
    using Word = decltype(word);
    state.source.for_each_piece(problem, exec, with_columns, [&](const cuda::Piece &piece) {
      cuda::visit(exec, state.source, piece,
                  Fill<Word>{state.places(), piece.first, piece.col, static_cast<const Word *>(piece.values),
                             with_columns ? state.col.as<std::int32_t>() : nullptr, state.values.as<Word>()});
    });
  });
}

void publish(State &state) {
  sxt_sell &view = state.view;
  view.s = state.source.shape();
  view.s.h = head<sxt_sell>(SXT_KIND_STORAGE_SELL);
  view.s.offset_type = SXT_I64;
  view.slice = slice;
  view.sigma = sigma;
  view.slice_ptr = state.slice_ptr.data();
  view.perm = state.perm.data();
  view.col = state.col.data();
  view.values = state.values.data();
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.source = cuda::Source(*problem, exec);
    lay_out(state, exec);
    const sxt_storage &shape = state.source.shape();
    if (slices_fill_too_much(static_cast<double>(state.stored), static_cast<double>(shape.nnz)))
      return error(exec, SXT_E_NOT_SUPPORTED,
                   "slices of %d rows would store %lld entries for %lld nonzeros, more than %g times as many", slice,
                   (long long)state.stored, (long long)shape.nnz, slice_fill_limit);
    state.col = cuda::DeviceArray(exec, state.stored * sizeof(std::int32_t), "columns in slices");
    state.values = cuda::DeviceArray(exec, state.stored * value_bytes(shape.value_type), "values in slices");
    cuda::fill_bytes(exec, state.col.data(), 0xff, state.col.bytes(), "fill columns with padding");  // -1
    cuda::fill_bytes(exec, state.values.data(), 0, state.values.bytes(), "fill values with padding");
    publish(state);
    fill(state, *problem, true, exec);
    return SXT_OK;
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] { return fill(of(state), *problem, false, exec), SXT_OK; });
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  return state.source.bytes() + state.slice_ptr.bytes() + state.perm.bytes() + state.slot_of.bytes() +
         state.col.bytes() + state.values.bytes();
}

// f(position, row, column) for every stored entry.
template <class F>
void for_each_stored(const State &state, const sxt_exec *exec, const F &f) {
  cuda::visit_all(exec, state.view.s.rows,
                  EachSlot<F>{state.slice_ptr.as<const std::int64_t>(), state.perm.as<const std::int32_t>(),
                              state.col.as<const std::int32_t>(), f});
}

template <class T>
struct Scale {
  T *values;
  const cuda::Real<T> *s;
  __device__ void operator()(std::int64_t at, std::int64_t i, std::int64_t j) const {
    values[at] = cuda::times(values[at], s[i] * s[j]);  // s[i] s[j] first: the mirror image gets the same bits
  }
};

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = of(opaque);
    cuda::with_device_type(state.view.s.value_type, [&](auto tag) {
      using T = decltype(tag);
      for_each_stored(state, exec, Scale<T>{state.values.as<T>(), static_cast<const cuda::Real<T> *>(s)});
    });
    return SXT_OK;
  });
}

template <class T>
struct Diagonal {
  const T *values;
  T *out;
  __device__ void operator()(std::int64_t at, std::int64_t i, std::int64_t j) const {
    if (i == j) out[i] = values[at];
  }
};

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = of(opaque);
    const sxt_storage &a = state.view.s;
    cuda::fill_bytes(exec, out, 0, std::min(a.rows, a.cols) * value_bytes(a.value_type), "clear a diagonal");
    cuda::with_device_type(a.value_type, [&](auto tag) {
      using T = decltype(tag);
      for_each_stored(state, exec, Diagonal<T>{state.values.as<const T>(), static_cast<T *>(out)});
    });
    return SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel =
    new_storage<State>(SXT_KIND_STORAGE_SELL, "storage.sell.cuda", "cuda",
                       "slices of 32 rows, sorted by length in windows of 512 where that saves padding",
                       {&ops, features, applicable, candidates, prepare, refresh});

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("storage-sell-cuda", out);
}
