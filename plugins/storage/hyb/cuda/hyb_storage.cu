// SPDX-License-Identifier: BSD-3-Clause
// storage.hyb.cuda: the first H entries of every row as ELL, the rest as coordinates sorted by row. H is the width
// whose product is expected to move the least, or the largest that a third of the rows fill. Conversion is bound by
// bandwidth.
#include <cstdint>
#include <vector>

#include "plugins/formats/cuda/ell.hpp"
#include "plugins/formats/hyb.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

namespace sextant::storage_hyb_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

// ---- device side

// Entries beyond the regular part, a row; 0 behind the last row, where the prefix sum leaves the total.
template <class Offset>
struct CountRest {
  const Offset *row_ptr;
  std::int64_t rows, width;
  Offset *rest;
  __device__ void operator()(std::int64_t i) const {
    const Offset length = i < rows ? row_ptr[i + 1] - row_ptr[i] : 0;
    rest[i] = length > width ? length - static_cast<Offset>(width) : 0;
  }
};

// row NULL: values only.
template <class Word, class Offset>
struct FillRest {
  Piece piece;
  const Offset *rest_ptr;
  std::int64_t width;
  std::int32_t *row, *col;
  Word *values;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t rank) const {
    if (rank < width) return;
    const std::int64_t at = rest_ptr[i] + rank - width;
    values[at] = static_cast<const Word *>(piece.values)[k - piece.first];
    if (!row) return;
    row[at] = static_cast<std::int32_t>(i);
    col[at] = piece.col[k - piece.first];
  }
};

struct WhereCoordinate {
  const std::int32_t *row, *col;
  __device__ Position operator()(std::int64_t k) const { return {row[k], col[k]}; }
};

template <class T>
struct DiagonalOfRest {
  const std::int32_t *row, *col;
  const T *values;
  T *out;
  __device__ void operator()(std::int64_t k) const {
    if (row[k] == col[k]) out[row[k]] = values[k];
  }
};

// ---- host side

struct State {
  sxt_hyb view{};
  Source source;
  DeviceArray col, values;                           // of the regular part
  DeviceArray rest_ptr, row, rest_col, rest_values;  // of the coordinates
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

const char *const features[] = {"hyb_width", "hyb_rest", nullptr};

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return check_narrow(as<sxt_matrix_query>(query), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double value = static_cast<double>(value_bytes(q.matrix_type)), rows = static_cast<double>(q.rows);
  const double nnz = static_cast<double>(q.nnz), width = feature(found, 0), above = feature(found, 1);
  // Without features: a third more places than entries is usual.
  const double regular = width == width ? width * rows : 1.2 * nnz, rest = above == above ? above : nnz / 8;
  const double bytes = regular * (value + 4) + rest * (value + 8);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = conversion_seconds(*machine, q, 40, 3, 2 * bytes);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes + 8 * rows);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// How many rows have each length from `least` on; the last bin takes all longer ones. Waits for the answer.
std::vector<std::int64_t> lengths_from(const Source &source, std::int64_t least, const DeviceArray &bins,
                                       const sxt_exec *exec) {
  fill_bytes(exec, bins.data(), 0, bins.bytes(), "clear row counts");
  const std::int64_t rows = source.shape().rows;
  source.with_row_ptr([&](const auto *row_ptr) {
    count_lengths<<<blocks_for(rows, visit_threads, 1024), visit_threads, 0, stream_of(*exec)>>>(
        row_ptr, rows, least, bins.as<unsigned long long>());
    need_launch("a count of rows");
  });
  std::vector<std::int64_t> counts(length_bins);
  fetch(exec, counts.data(), bins.as<const std::int64_t>(), counts.size(), "row counts");
  return counts;
}

// The largest width that at least a third of the rows fill.
std::int64_t third_width(const Source &source, std::vector<std::int64_t> counts, const DeviceArray &bins,
                         const sxt_exec *exec) {
  const std::int64_t rows = source.shape().rows;
  std::int64_t base = 0;
  for (; 3 * counts.back() >= rows && counts.back() > 0; counts = lengths_from(source, base, bins, exec))
    base += length_bins - 1;
  std::int64_t at_least = 0, width = length_bins - 1;
  for (; width > 0; --width)
    if (3 * (at_least += counts[static_cast<std::size_t>(width)]) >= rows) break;
  return base + width;
}

// launch[0]: 1 requests the rule of a third, any other number the cheapest width.
std::int64_t choose_width(const Source &source, const sxt_candidate *candidate, const sxt_exec *exec) {
  if (source.shape().rows == 0 || source.shape().nnz == 0) return 0;
  const DeviceArray bins(exec, length_bins * sizeof(std::int64_t), "row counts", Life::call);
  const std::vector<std::int64_t> counts = lengths_from(source, 0, bins, exec);
  const std::int64_t third = third_width(source, counts, bins, exec);
  // Widths beyond the bins are left to the rule of a third.
  if ((candidate && candidate->launch[0] == 1) || third >= length_bins) return third;
  return hyb_cheapest_width(source.shape(), counts.data(), length_bins).width;
}

// The beginning of each row's coordinates; returns how many there are.
std::int64_t place_rest(State &state, std::int64_t width, const sxt_exec *exec) {
  const std::int64_t rows = state.source.shape().rows;
  state.rest_ptr = DeviceArray(exec, (rows + 1) * index_bytes(state.source.shape().offset_type), "row pointers");
  std::int64_t rest = 0;
  state.source.with_row_ptr([&](const auto *row_ptr) {
    using Offset = std::remove_cv_t<std::remove_pointer_t<decltype(row_ptr)>>;
    Offset *rest_ptr = state.rest_ptr.as<Offset>();
    visit_all(exec, rows + 1, CountRest<Offset>{row_ptr, rows, width, rest_ptr});
    exclusive_scan(exec, rest_ptr, rows + 1);
    rest = fetch(exec, static_cast<const Offset *>(rest_ptr + rows), "the number of coordinates");
  });
  return rest;
}

void allocate(State &state, std::int64_t width, std::int64_t rest, const sxt_exec *exec) {
  const sxt_storage &shape = state.source.shape();
  const std::uint64_t value = value_bytes(shape.value_type), count = static_cast<std::uint64_t>(rest);
  sxt_ell &ell = state.view.ell;
  ell.s = shape;
  ell.s.h = head<sxt_hyb>(SXT_KIND_STORAGE_HYB);
  ell.width = width;
  ell.ld = ell_device_stride(shape.rows);
  const auto places = static_cast<std::uint64_t>(ell.width * ell.ld);
  state.col = DeviceArray(exec, places * sizeof(std::int32_t), "columns of the regular part");
  state.values = DeviceArray(exec, places * value, "values of the regular part");
  ell.col = state.col.data();
  ell.values = state.values.data();
  sxt_coo &coo = state.view.coo;
  coo.s = shape;
  coo.s.h = head<sxt_coo>(SXT_KIND_STORAGE_COO);
  coo.s.nnz = rest;
  state.row = DeviceArray(exec, count * sizeof(std::int32_t), "rows of coordinates");
  state.rest_col = DeviceArray(exec, count * sizeof(std::int32_t), "columns of coordinates");
  state.rest_values = DeviceArray(exec, count * value, "values of coordinates");
  coo.row = state.row.data();
  coo.col = state.rest_col.data();
  coo.values = state.rest_values.data();
}

void fill(const State &state, const sxt_problem &problem, bool columns, const sxt_exec *exec) {
  state.source.for_each_piece(problem, exec, columns, [&](const Piece &piece) {
    fill_ell_piece(exec, state.source, piece, state.view.ell, columns ? state.col.as<std::int32_t>() : nullptr,
                   state.values.data());
    if (state.view.coo.s.nnz == 0) return;
    state.source.with_row_ptr([&](const auto *row_ptr) {
      using Offset = std::remove_cv_t<std::remove_pointer_t<decltype(row_ptr)>>;
      with_value_words(state.view.ell.s.value_type, [&](auto word) {
        using Word = decltype(word);
        visit(exec, state.source, piece,
              FillRest<Word, Offset>{piece, state.rest_ptr.as<const Offset>(), state.view.ell.width,
                                     columns ? state.row.as<std::int32_t>() : nullptr,
                                     state.rest_col.as<std::int32_t>(), state.rest_values.as<Word>()});
      });
    });
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) {
    state.source = Source(*problem, exec);
    const std::int64_t width = choose_width(state.source, candidate, exec);
    allocate(state, width, place_rest(state, width, exec), exec);
    clear_ell(exec, state.col, state.values);
    fill(state, *problem, true, exec);
    return SXT_OK;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return guarded(exec, [&] { return fill(of(opaque), *problem, false, exec), SXT_OK; });
}

const sxt_storage *view(const void *state) { return &of(state).view.ell.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  std::uint64_t all = state.source.bytes();
  for (const DeviceArray *array :
       {&state.col, &state.values, &state.rest_ptr, &state.row, &state.rest_col, &state.rest_values})
    all += array->bytes();
  return all;
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    const sxt_hyb &a = state.view;
    scale_stored(exec, a.ell.s.value_type, state.values.data(), a.ell.width * a.ell.ld, s,
                 WhereEll{state.col.as<std::int32_t>(), a.ell.ld});
    scale_stored(exec, a.ell.s.value_type, state.rest_values.data(), a.coo.s.nnz, s,
                 WhereCoordinate{state.row.as<std::int32_t>(), state.rest_col.as<std::int32_t>()});
    return SXT_OK;
  });
}

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const State &state = of(opaque);
    const sxt_hyb &a = state.view;
    diagonal_stored(exec, a.ell.s, a.ell.values, a.ell.width * a.ell.ld, out,
                    WhereEll{state.col.as<std::int32_t>(), a.ell.ld});
    with_device_type(a.ell.s.value_type, [&](auto tag) {
      using T = decltype(tag);
      visit_all(exec, a.coo.s.nnz,
                DiagonalOfRest<T>{state.row.as<std::int32_t>(), state.rest_col.as<std::int32_t>(),
                                  state.rest_values.as<T>(), static_cast<T *>(out)});
    });
    return SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel = new_storage<State>(SXT_KIND_STORAGE_HYB, "storage.hyb.cuda", "cuda",
                                             "ELL of the cheapest width, the rest as coordinates",
                                             {&ops, features, applicable, candidates, prepare, refresh});

}  // namespace
}  // namespace sextant::storage_hyb_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::storage_hyb_cuda::kernel>("storage-hyb-cuda", out);
}
