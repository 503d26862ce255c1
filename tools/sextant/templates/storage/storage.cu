// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: builds the format of format.hpp on a CUDA device, from CSR there or in pieces from the host. It keeps the
// row pointers, the distances and the values.
#include <algorithm>
#include <cstdint>

#include "format.hpp"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/storage_kernel.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

extern const sxt_kernel product_kernel;  // product.cu

namespace {

struct State {
  NearCsr view{};
  cuda::Source source;  // the row pointers
  cuda::DeviceArray distance, values;
  // All entries, for visits of what is stored.
  cuda::Piece all() const { return {0, view.s.nnz, 0, view.s.rows, nullptr, values.data()}; }
};
const State &of(const void *state) { return *static_cast<const State *>(state); }

// Features of the matrix could decide here; the bandwidth costs a pass over it, which prepare makes anyway.
sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  if (q.symmetry == SXT_SKEW) return refuse(reason, "skew-symmetric matrices are not taken");
  return cuda::check_narrow(q, reason);
}

// The set-up reads the CSR and writes distances and values. A product then reads 2 bytes an entry beside its value.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double bytes = static_cast<double>(q.nnz) * (2 + static_cast<double>(value_bytes(q.matrix_type)));
  constexpr double steps = 12;  // launches, allocations and waits
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = cuda::conversion_seconds(*machine, q, steps, 1, bytes);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes + 4 * static_cast<double>(q.rows + 1));
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// Entry k of the matrix, in row i, from a piece that begins with entry first. Word: an unsigned type as wide as a
// value.
template <class Word>
struct FillEntry {
  const std::int32_t *col;
  const Word *from;
  std::int64_t first;
  std::int16_t *distance;
  Word *values;
  int *wide;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    const std::int64_t d = col[k - first] - i;
    if (d < -32768 || d > 32767) *wide = 1;
    distance[k] = static_cast<std::int16_t>(d);
    values[k] = from[k - first];
  }
};

void fill_piece(const State &state, const cuda::Piece &piece, int *wide, const sxt_exec *exec) {
  cuda::with_value_words(state.view.s.value_type, [&](auto word) {
    using Word = decltype(word);
    cuda::visit(exec, state.source, piece,
                FillEntry<Word>{piece.col, static_cast<const Word *>(piece.values), piece.first,
                                state.distance.as<std::int16_t>(), state.values.as<Word>(), wide});
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.source = cuda::Source(*problem, exec);
    const sxt_storage &shape = state.source.shape();
    const auto nnz = static_cast<std::uint64_t>(shape.nnz);
    state.distance = cuda::DeviceArray(exec, nnz * sizeof(std::int16_t), "distances");
    state.values = cuda::DeviceArray(exec, nnz * value_bytes(shape.value_type), "values");
    state.view = {shape, state.source.row_ptr(), state.values.data(), state.distance.as<std::int16_t>()};
    state.view.s.h = head<NearCsr>(KIND_STORAGE);
    const cuda::DeviceArray wide(exec, sizeof(int), "a flag", cuda::Life::call);
    cuda::fill_bytes(exec, wide.data(), 0, sizeof(int), "clear a flag");
    state.source.for_each_piece(*problem, exec, true,
                                [&](const cuda::Piece &piece) { fill_piece(state, piece, wide.as<int>(), exec); });
    if (!cuda::fetch(exec, wide.as<const int>(), "a flag")) return SXT_OK;
    return error(exec, SXT_NOT_APPLICABLE,  // another format takes its place
                 "a row has an entry more than 32767 columns away from the diagonal");
  });
}

// Other values on the same pattern.
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = of(opaque);
    const std::uint64_t each = value_bytes(state.view.s.value_type);
    state.source.for_each_piece(*problem, exec, false, [&](const cuda::Piece &piece) {
      cuda::copy(exec, state.values.as<char>() + piece.first * each, piece.values, (piece.last - piece.first) * each,
                 "values");
    });
    return SXT_OK;
  });
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  return state.source.bytes() + state.distance.bytes() + state.values.bytes();
}

template <class T>
struct ScaleEntry {
  const std::int16_t *distance;
  T *values;
  const cuda::Real<T> *s;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    // s[i] s[j] first: the mirror image of an entry gets the same bits.
    values[k] = cuda::times(values[k], s[i] * s[i + distance[k]]);
  }
};

// A becomes S A S.
sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = of(opaque);
    cuda::with_device_type(state.view.s.value_type, [&](auto tag) {
      using T = decltype(tag);
      cuda::visit(exec, state.source, state.all(),
                  ScaleEntry<T>{state.view.distance, state.values.as<T>(), static_cast<const cuda::Real<T> *>(s)});
    });
    return SXT_OK;
  });
}

template <class T>
struct TakeDiagonal {
  const std::int16_t *distance;
  const T *values;
  T *out;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    if (distance[k] == 0) out[i] = values[k];
  }
};

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = of(opaque);
    const sxt_storage &a = state.view.s;
    cuda::fill_bytes(exec, out, 0, std::min(a.rows, a.cols) * value_bytes(a.value_type), "clear a diagonal");
    cuda::with_device_type(a.value_type, [&](auto tag) {
      using T = decltype(tag);
      cuda::visit(exec, state.source, state.all(),
                  TakeDiagonal<T>{state.view.distance, state.values.as<const T>(), static_cast<T *>(out)});
    });
    return SXT_OK;
  });
}

// No triangle is offered: preconditioners that need one take another format.
const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel = new_storage<State>(KIND_STORAGE, "@KERNEL@", "cuda", "rows with columns as 16-bit distances",
                                             {&ops, nullptr, applicable, candidates, prepare, refresh});
const sxt_kind kind = new_kind(KIND_STORAGE, "compressed rows, columns as 16-bit distances from the row");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel, &product_kernel};
  static const sxt_kind *const kinds[] = {&kind};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels, kinds, 1), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
