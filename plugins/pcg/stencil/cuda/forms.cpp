// SPDX-License-Identifier: BSD-3-Clause
#include "forms.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace stencil {
namespace {

// Bulk copies move groups of 16 bytes: a window may begin and end inside of one.
std::int64_t window_bytes(std::int64_t elements, std::int64_t size) {
  constexpr std::int64_t group = 16, line = 128;
  return (elements * size + 2 * group + line - 1) / line * line;
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

bool cut_into_planes(const std::vector<std::int64_t> &offsets, std::int64_t rows, Stencil *out) {
  const Form form = form_of(2 * static_cast<double>(offsets.size()) + 1);
  if (form.across == 0 || rows < 1 || rows > std::int64_t{1} << 30) return false;
  // The middle one of those across leads straight to the next plane.
  const std::int64_t stride = offsets[static_cast<std::size_t>(form.in_plane + form.across / 2)];
  out->rows = static_cast<std::int32_t>(rows);
  out->stride = static_cast<std::int32_t>(stride);
  for (std::int32_t m = 0; m < form.in_plane; ++m) {
    const std::int64_t offset = offsets[static_cast<std::size_t>(m)];
    if (offset <= 0 || 2 * offset > stride) return false;
    out->in_plane_offset[m] = static_cast<std::int32_t>(offset);
  }
  for (std::int32_t m = 0; m < form.across; ++m) {
    const std::int64_t offset = offsets[static_cast<std::size_t>(form.in_plane + m)] - stride;
    if (2 * std::llabs(offset) > stride) return false;
    out->across_offset[m] = static_cast<std::int32_t>(offset);
  }
  return true;
}

Tiling share_out(const Stencil &a, const Form &form, std::int64_t width, std::int64_t blocks, std::int64_t stages,
                 std::int64_t value_size, std::int64_t stored_size) {
  Tiling t{};
  t.planes = static_cast<std::int32_t>(std::max<std::int64_t>(1, divide_up(a.rows, a.stride)));
  t.width = static_cast<std::int32_t>(std::min<std::int64_t>(width, divide_up(a.stride, 32) * 32));
  t.tiles = static_cast<std::int32_t>(divide_up(a.stride, t.width));
  const std::int64_t chunks = std::clamp<std::int64_t>(blocks / t.tiles, 1, t.planes);
  t.chunk = static_cast<std::int32_t>(divide_up(t.planes, chunks));
  t.items = t.tiles * static_cast<std::int32_t>(divide_up(t.planes, t.chunk));
  t.stages = static_cast<std::int32_t>(stages);
  t.planes_kept = kept_planes(form.across);
  for (std::int32_t m = 0; m < form.across; ++m) t.ghost_halo = std::max(t.ghost_halo, std::abs(a.across_offset[m]));
  t.halo = t.ghost_halo;
  for (std::int32_t m = 0; m < form.in_plane; ++m) t.halo = std::max(t.halo, a.in_plane_offset[m]);

  t.vector_bytes = static_cast<std::int32_t>(window_bytes(t.width + 2 * t.halo, value_size));
  std::int64_t at = 3 * t.vector_bytes;
  for (std::int32_t m = 0; m < form.in_plane; ++m) {
    t.in_plane_at[m] = static_cast<std::int32_t>(at);
    at += window_bytes(t.width + a.in_plane_offset[m], stored_size);
  }
  for (std::int32_t m = 0; m < form.across; ++m) {
    t.across_at[m] = static_cast<std::int32_t>(at);
    at += window_bytes(t.width + std::abs(a.across_offset[m]), stored_size);
  }
  t.stage_bytes = static_cast<std::int32_t>(at);
  return t;
}

std::int64_t shared_bytes(const Tiling &t, std::int64_t value_size) {
  // Stages, and p of some planes with its halo.
  return std::int64_t{t.stages} * t.stage_bytes +
         divide_up(t.planes_kept * (t.width + 2 * t.halo) * value_size, 16) * 16;
}

}  // namespace stencil
