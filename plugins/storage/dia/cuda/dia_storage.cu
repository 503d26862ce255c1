// SPDX-License-Identifier: BSD-3-Clause
// storage.dia.cuda and storage.dia-symmetric.cuda: diagonals as arrays on the device. The symmetric form holds the
// upper ones only, and no main diagonal once scaling has made it all ones. Conversion is bound by bandwidth: the
// columns are read twice and the values once, the diagonals are cleared and written.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "plugins/formats/dia.hpp"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

namespace sextant::storage_dia_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

// ---- device side

// Which diagonals hold an entry; place: column - row + rows - 1. Threads with equal places write the same byte.
struct MarkDiagonals {
  Piece piece;
  std::int64_t rows;
  unsigned char *marks;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    unsigned char *mark = &marks[piece.col[k - piece.first] - i + rows - 1];
    if (!*mark) *mark = 1;
  }
};

// The marked offsets in any order, as many as `capacity`, and how many there are.
struct ListMarked {
  const unsigned char *marks;
  std::int64_t rows, capacity;
  std::int64_t *list;
  unsigned long long *count;
  __device__ void operator()(std::int64_t k) const {
    if (!marks[k]) return;
    const unsigned long long at = atomicAdd(count, 1ull);
    if (at < static_cast<unsigned long long>(capacity)) list[at] = k - rows + 1;
  }
};

// values[d * ld + i] = A(i, i + offset[d]); a symmetric form skips the lower entries.
template <class Word>
struct FillDiagonals {
  Piece piece;
  const std::int64_t *offsets;
  std::int64_t n_diagonals, ld;
  Word *values;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    const std::int64_t offset = piece.col[k - piece.first] - i;
    std::int64_t low = 0, high = n_diagonals;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (offsets[middle] < offset)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < n_diagonals && offsets[low] == offset)
      values[low * ld + i] = static_cast<const Word *>(piece.values)[k - piece.first];
  }
};

// Raises the flag where an entry is not one up to the rounding of symmetric scaling.
template <class T>
struct FindOther {
  const T *diagonal;
  int *flag;
  __device__ void operator()(std::int64_t i) const {
    const Real<T> bound = 4 * std::numeric_limits<Real<T>>::epsilon();
    bool one;
    if constexpr (complex_valued<T>)
      one = hypot(diagonal[i].re - 1, diagonal[i].im) <= bound;
    else
      one = fabs(diagonal[i] - 1) <= bound;
    if (!one) *flag = 1;  // all threads write the same value
  }
};

// The position of a stored value.
struct WhereDiagonal {
  const std::int64_t *offsets;
  std::int64_t ld, rows, cols;
  __device__ Position operator()(std::int64_t k) const {
    const std::int64_t i = k % ld, j = i + offsets[k / ld];
    return {i, i < rows && j >= 0 && j < cols ? j : -1};
  }
};

template <class T>
struct CopyDiagonal {
  const T *from;  // NULL: `otherwise` everywhere
  T *to;
  T otherwise;
  __device__ void operator()(std::int64_t i) const { to[i] = from ? from[i] : otherwise; }
};

// ---- host side

struct State {
  sxt_dia view{};
  Source source;
  DeviceArray offsets, values, flag;
  std::vector<std::int64_t> host_offsets;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

template <bool symmetric>
sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &m = as<sxt_matrix_query>(query);
  sxt_matrix_query stored = m;
  stored.q.value_type = m.matrix_type;  // vectors do not matter here
  const sxt_status status = check_narrow(m, reason);
  return status == SXT_OK ? dia_refusal(stored, found, symmetric, reason) : status;
}

template <bool symmetric>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &m = as<sxt_matrix_query>(query);
  const double diagonals = dia_diagonals(m, found), stored = symmetric ? std::ceil((diagonals + 1) / 2) : diagonals;
  const double value = static_cast<double>(value_bytes(m.matrix_type)), rows = static_cast<double>(m.rows);
  const double bytes = stored * rows * value;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  // Marks and diagonals are cleared, written and looked through.
  candidate.setup_s = conversion_seconds(*machine, m, 38, 3, 2 * bytes + 4 * rows);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes + 4 * rows);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

constexpr std::int64_t few_diagonals = 127;

// All diagonals with an entry, ascending. Throws with their number when there are too many.
std::vector<std::int64_t> find_diagonals(const Source &source, const sxt_problem &problem, const sxt_exec *exec) {
  const sxt_storage &a = source.shape();
  if (a.nnz == 0 || a.rows == 0) return {};
  const auto rows = static_cast<double>(a.rows), nnz = static_cast<double>(a.nnz);
  const auto most = static_cast<std::int64_t>(std::max(dia_small, dia_most_slots * nnz) / rows) + 1;
  const std::int64_t places = a.rows + a.cols - 1, capacity = std::min(most, places);
  const DeviceArray marks(exec, static_cast<std::uint64_t>(places), "marks of diagonals", Life::call);
  const DeviceArray list(exec, (static_cast<std::uint64_t>(capacity) + 1) * sizeof(std::int64_t), "a list of diagonals",
                         Life::call);
  auto *const counter = list.as<unsigned long long>();  // the count, then the list
  fill_bytes(exec, marks.data(), 0, marks.bytes(), "clear marks");
  // The count comes with the first of the list, which is mostly all of it.
  const std::int64_t brought = std::min(capacity, few_diagonals);
  fill_bytes(exec, counter, 0, (static_cast<std::uint64_t>(brought) + 1) * sizeof(std::int64_t), "clear a counter");
  source.for_each_piece(problem, exec, true, [&](const Piece &piece) {
    visit(exec, source, piece, MarkDiagonals{piece, a.rows, marks.as<unsigned char>()});
  });
  visit_all(exec, places,
            ListMarked{marks.as<unsigned char>(), a.rows, capacity, list.as<std::int64_t>() + 1, counter});
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(brought) + 1);
  fetch(exec, offsets.data(), list.as<const std::int64_t>(), offsets.size(), "diagonals");
  const std::int64_t found = offsets[0];
  if (found > capacity || dia_too_empty(static_cast<double>(found), rows, nnz))
    throw Failure(SXT_NOT_APPLICABLE, "%lld diagonals x %lld rows for %lld entries: more than %.0f places an entry",
                  (long long)found, (long long)a.rows, (long long)a.nnz, dia_most_slots);
  offsets.erase(offsets.begin());
  offsets.resize(static_cast<std::size_t>(found));
  if (found > brought)
    fetch(exec, offsets.data() + brought, list.as<const std::int64_t>() + 1 + brought,
          static_cast<std::uint64_t>(found - brought), "diagonals");
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

// The whole form again: all diagonals, none left out.
void show_all(State &state) {
  state.view.unit_diagonal = 0;
  state.view.n_diagonals = static_cast<std::int64_t>(state.host_offsets.size());
  state.view.host_offsets = state.host_offsets.data();
  state.view.offsets = state.offsets.data();
  state.view.values = state.values.data();
}

// Leaves the main diagonal out when all of it counts as one. Waits for the answer.
void leave_out_unit_diagonal(State &state, const sxt_exec *exec) {
  sxt_dia &view = state.view;
  if (!view.symmetric || !view.n_diagonals || view.host_offsets[0] != 0 || !view.s.rows) return;
  fill_bytes(exec, state.flag.data(), 0, sizeof(int), "clear a flag");
  with_device_type(view.s.value_type, [&](auto tag) {
    using T = decltype(tag);
    visit_all(exec, view.s.rows, FindOther<T>{static_cast<const T *>(view.values), state.flag.as<int>()});
  });
  if (fetch(exec, state.flag.as<const int>(), "a flag")) return;
  view.unit_diagonal = 1;
  view.n_diagonals -= 1;
  view.host_offsets += 1;
  view.offsets = static_cast<const std::int64_t *>(view.offsets) + 1;
  view.values = static_cast<const char *>(view.values) + view.ld * value_bytes(view.s.value_type);
}

void fill(const State &state, const sxt_problem &problem, const sxt_exec *exec) {
  const sxt_dia &view = state.view;
  state.source.for_each_piece(problem, exec, true, [&](const Piece &piece) {
    with_value_words(view.s.value_type, [&](auto word) {
      using Word = decltype(word);
      visit(exec, state.source, piece,
            FillDiagonals<Word>{piece, state.offsets.as<std::int64_t>(), view.n_diagonals, view.ld,
                                state.values.as<Word>()});
    });
  });
}

// Elements between diagonals: whole runs of a warp.
std::int64_t leading_dimension(std::int64_t rows) { return divide_up<std::int64_t>(rows, 32) * 32; }

template <bool symmetric>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) {
    state.source = Source(*problem, exec);
    const sxt_storage &shape = state.source.shape();
    state.host_offsets = find_diagonals(state.source, *problem, exec);
    if (symmetric)
      state.host_offsets.erase(state.host_offsets.begin(),
                               std::lower_bound(state.host_offsets.begin(), state.host_offsets.end(), 0));
    sxt_dia &view = state.view;
    view.s = shape;
    view.s.h = head<sxt_dia>(symmetric ? SXT_KIND_STORAGE_DIA_SYMMETRIC : SXT_KIND_STORAGE_DIA);
    view.symmetric = symmetric;
    view.ld = leading_dimension(shape.rows);
    const auto diagonals = static_cast<std::uint64_t>(state.host_offsets.size());
    state.offsets = DeviceArray(exec, diagonals * sizeof(std::int64_t), "the offsets of diagonals");
    state.values =
        DeviceArray(exec, diagonals * static_cast<std::uint64_t>(view.ld) * value_bytes(shape.value_type), "diagonals");
    state.flag = DeviceArray(exec, sizeof(int), "a flag");
    show_all(state);
    copy(exec, state.offsets.data(), state.host_offsets.data(), state.offsets.bytes(), "the offsets of diagonals");
    fill_bytes(exec, state.values.data(), 0, state.values.bytes(), "clear diagonals");
    fill(state, *problem, exec);
    leave_out_unit_diagonal(state, exec);
    return SXT_OK;
  });
}

// Places without an entry stay zero: the pattern is the same. An existing diagonal stays: captured work reads it.
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return guarded(exec, [&] {
    auto &state = *static_cast<State *>(opaque);
    const bool left_out = state.view.unit_diagonal != 0;
    show_all(state);
    fill(state, *problem, exec);
    if (left_out) leave_out_unit_diagonal(state, exec);
    return SXT_OK;
  });
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  return state.source.bytes() + state.offsets.bytes() + state.values.bytes() + state.flag.bytes() +
         state.host_offsets.size() * sizeof(std::int64_t);
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guarded(exec, [&] {
    auto &state = *static_cast<State *>(opaque);
    show_all(state);  // a diagonal of ones that was left out is still in the array
    const sxt_dia &a = state.view;
    scale_stored(exec, a.s.value_type, state.values.data(), a.n_diagonals * a.ld, s,
                 WhereDiagonal{state.offsets.as<std::int64_t>(), a.ld, a.s.rows, a.s.cols});
    leave_out_unit_diagonal(state, exec);
    return SXT_OK;
  });
}

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *exec) {
  return guarded(exec, [&] {
    const sxt_dia &a = of(opaque).view;
    const std::int64_t *end = a.host_offsets + a.n_diagonals, *main = std::find(a.host_offsets, end, 0);
    with_device_type(a.s.value_type, [&](auto tag) {
      using T = decltype(tag);
      T otherwise{};
      if (a.unit_diagonal) reinterpret_cast<Real<T> &>(otherwise) = 1;
      const T *from = main == end ? nullptr : static_cast<const T *>(a.values) + (main - a.host_offsets) * a.ld;
      visit_all(exec, std::min(a.s.rows, a.s.cols), CopyDiagonal<T>{from, static_cast<T *>(out), otherwise});
    });
    return SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

template <bool symmetric>
constexpr StorageCalls calls = {&ops,   dia_features, applicable<symmetric>, candidates<symmetric>, prepare<symmetric>,
                                refresh};

const sxt_kernel plain =
    new_storage<State>(SXT_KIND_STORAGE_DIA, "storage.dia.cuda", "cuda", "diagonals as arrays", calls<false>);
const sxt_kernel symmetric =
    new_storage<State>(SXT_KIND_STORAGE_DIA_SYMMETRIC, "storage.dia-symmetric.cuda", "cuda",
                       "upper diagonals as arrays, without a main one that is all ones", calls<true>);

}  // namespace
}  // namespace sextant::storage_dia_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::storage_dia_cuda;
  return sextant::plugin::offer<&plain, &symmetric>("storage-dia-cuda", out);
}
