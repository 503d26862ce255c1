// SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "launches.hpp"
#include "plugins/pcg/shared/told.hpp"

namespace stencil {

namespace plugin = sextant::plugin;
using cuda::Failure;

namespace {

std::uint64_t line(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

std::int64_t size_of(sxt_value_type type) { return static_cast<std::int64_t>(plugin::value_bytes(type)); }

}  // namespace

void point_at(State &state, const sxt_dia &a, const sxt_exec &exec) {
  const int main = a.unit_diagonal ? 0 : 1;
  const std::uint64_t bytes = static_cast<std::uint64_t>(a.ld) * plugin::value_bytes(a.s.value_type);
  const auto diagonal = [&](int d) {
    return static_cast<const char *>(a.values) + bytes * static_cast<std::uint64_t>(d);
  };
  state.stencil.main = main ? diagonal(0) : nullptr;
  for (int m = 0; m < state.form.in_plane; ++m) state.stencil.in_plane[m] = diagonal(main + m);
  for (int m = 0; m < state.form.across; ++m) state.stencil.across[m] = diagonal(main + state.form.in_plane + m);
  look_at_main(state, exec);
}

void fill(State &state, const sxt_pcg_query &query, const sxt_dia &a, const Wish &wish, const sxt_exec &exec) {
  state.vectors = query.m.q.value_type;
  state.stored = a.s.value_type;
  state.n = a.s.rows;
  state.block = std::max<std::int64_t>(1, wish.block);
  const int main = a.unit_diagonal ? 0 : 1;
  if (!a.symmetric || a.n_diagonals <= main || (main && a.host_offsets[0] != 0))
    throw Failure(SXT_E_NOT_SUPPORTED, "the matrix has no main diagonal with upper ones beside it");
  const std::vector<std::int64_t> offsets(a.host_offsets + main, a.host_offsets + a.n_diagonals);
  // Bulk copies begin at addresses that 16 divides.
  const bool aligned = a.ld * size_of(state.stored) % 16 == 0 && reinterpret_cast<std::uintptr_t>(a.values) % 16 == 0;
  if (!aligned || !cut_into_planes(offsets, a.s.rows, &state.stencil))
    throw Failure(SXT_E_NOT_SUPPORTED, "%lld upper diagonals, the last %lld out, of %lld rows are no stencil of planes",
                  (long long)offsets.size(), (long long)offsets.back(), (long long)a.s.rows);
  state.form = form_of(2 * static_cast<double>(offsets.size()) + 1);
  state.all = cuda::DeviceArray(&exec, sizeof(Main), "the state of the diagonal");
  state.stencil.all = state.all.as<Main>();
  fit(state, wish, exec);
  point_at(state, a, exec);
}

Session::Session(const State &state, const sxt_exec &exec) {
  const std::uint64_t stride = line(static_cast<std::uint64_t>(state.n * size_of(state.vectors)));
  arrays_ = cuda::DeviceArray(&exec, 6 * stride, "the vectors of conjugate gradients");
  control_ = cuda::DeviceArray(&exec, sizeof(Control), "scalars");
  exchange_ = cuda::DeviceArray(&exec, epoch_bytes + packets_bytes(state), "packets of sums");
  const std::int64_t room = state.block + 2;
  pinned_ = cuda::DeviceArray(&exec, plugin::pcg::Told<Report>::bytes(room), "residual norms", cuda::Life::state,
                              SXT_SPACE_PINNED);
  for (int i = 0; i < 2; ++i) {
    char *at = arrays_.as<char>() + static_cast<std::uint64_t>(3 * i) * stride;
    vectors.r[i] = at, vectors.p[i] = at + stride, vectors.q[i] = at + 2 * stride;
  }
  auto *const told = pinned_.as<plugin::pcg::Told<Report>>();
  output = {control_.as<Control>(), &told->report, told->squares(), room};
  residuals.reserve(static_cast<std::size_t>(room));
  squares.reserve(static_cast<std::size_t>(room));
  cuda::fill_bytes(&exec, arrays_.data(), 0, arrays_.bytes(), "clear the vectors");
  cuda::fill_bytes(&exec, control_.data(), 0, control_.bytes(), "clear the scalars");
  cuda::fill_bytes(&exec, exchange_.data(), 0, exchange_.bytes(), "clear the packets");
  std::memset(pinned_.data(), 0, pinned_.bytes());
}

}  // namespace stencil
