// SPDX-License-Identifier: BSD-3-Clause
// The model: every vector and every stored diagonal moves once an iteration, and tiles read rows of each other; a
// launch and the exchange of sums through the grid are added.
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "forms.hpp"
#include "plugins/formats/dia.hpp"
#include "plugins/pcg/shared/parts.hpp"

namespace stencil {
namespace {

namespace plugin = sextant::plugin;

// Measured on one H200 (README.md): the time of an iteration beside its bytes, and the share of the machine's stream
// rate at which blocks get theirs, from memory or from the last cache, with one block a multiprocessor and with two.
constexpr double fixed_s = 2.65e-6, block_s = 13e-9;  // and for each block whose sums the others read
constexpr double rate_share = 1.0, rate_share_two = 1.05;
// A plane, a column of its tile and an upper diagonal, however few blocks share the memory: each plane waits for the
// one before.
constexpr double step_s = 0.58e-6, column_s = 0.37e-9, diagonal_s = 81e-9;
// Around a launch: its beginning, the wait, the callbacks.
constexpr double host_s = 20e-6;
constexpr double launch_for_s = 2e-3;  // a launch has iterations for this long: then the host may act

struct Wanted {
  std::int64_t width, blocks_a_unit, stages;
};
// Tiles that were fastest on some grid, widest first.
constexpr Wanted wanted[] = {{1024, 1, 3}, {1024, 1, 2}, {512, 2, 2}, {512, 1, 3}, {512, 1, 2}, {256, 1, 2}};

// The offsets of a grid with equal sides, assumed before the matrix is read.
bool assume_cube(const sxt_pcg_query &query, const Form &form, Stencil *out) {
  const bool solid = form.in_plane > 1, corners = form.across > 1;
  const double n = static_cast<double>(query.m.rows);
  const auto side = std::max<std::int64_t>(4, std::llround(std::ceil(solid ? std::cbrt(n) : std::sqrt(n))));
  std::vector<std::int64_t> offsets{1};
  if (solid)
    offsets = corners ? std::vector{std::int64_t{1}, side - 1, side, side + 1} : std::vector{std::int64_t{1}, side};
  const std::int64_t stride = solid ? side * side : side;
  if (!corners) offsets.push_back(stride);
  for (std::int64_t y = solid ? -1 : 0; corners && y <= (solid ? 1 : 0); ++y)
    for (std::int64_t x = -1; x <= 1; ++x) offsets.push_back(stride + y * side + x);
  return cut_into_planes(offsets, query.m.rows, out);
}

// The form that this many diagonals make; where only a lower bound is known (rows at the edges of a grid have fewer
// entries), the smallest form with this many: cutting the matrix shows whether it is one.
Form likely_form(const sxt_pcg_query &query, const sxt_features *found) {
  const double exact = plugin::feature(found, 1), known = plugin::dia_diagonals(query.m, found);
  if (exact == exact) return form_of(exact);
  for (const double diagonals : {5.0, 7.0, 9.0, 27.0})
    if (known <= diagonals) return form_of(diagonals);
  return {0, 0};
}

// Seconds of an iteration.
double iteration_seconds(const sxt_pcg_query &query, const Form &form, const Tiling &t, const Wanted &w,
                         const sxt_machine &machine) {
  const double n = static_cast<double>(query.m.rows),
               value = static_cast<double>(plugin::value_bytes(query.m.q.value_type)),
               stored = static_cast<double>(plugin::value_bytes(query.m.matrix_type));
  // A scaled matrix has ones on its main diagonal, which are not read.
  const double bytes = n * (7 * value + (form.in_plane + form.across) * stored);
  const double beside = 2.0 * t.halo / t.width, ghosts = 2.0 / t.chunk;
  const double again = n * (beside * (3 * value + form.across * stored / 2) + ghosts * 3 * value);
  // The excess of the busiest block, where tiles end within a plane or items do not fill the last round of blocks,
  // leaves the others idle; half of it counts.
  const double slots = std::max(1.0, static_cast<double>(machine.units * w.blocks_a_unit));
  const double rounds = std::ceil(t.items / slots), busiest = rounds * t.chunk * t.width;
  const double idle = std::max(1.0, busiest * slots / n);
  const double moving = (bytes + again) / ((w.blocks_a_unit > 1 ? rate_share_two : rate_share) * machine.stream_rate) *
                        (1 + 0.5 * (idle - 1));
  const double blocks = std::min(slots, static_cast<double>(t.items));
  const double plane_s = step_s + column_s * t.width + diagonal_s * (form.in_plane + form.across);
  return fixed_s + block_s * blocks + std::max(moving, rounds * (t.chunk + 2) * plane_s);
}

}  // namespace

sxt_status applicable(const sxt_pcg_query &query, const sxt_features *found, sxt_message *reason) {
  if (query.m.rows == 0) return plugin::refuse(reason, "there are no rows, and so no grid");
  if (query.recurrence != 0 && query.recurrence != SXT_RECURRENCE_PREDICT_RECOMPUTE)
    return plugin::refuse(reason, "this is recurrence %d (predict-recompute), the query asks for %d",
                          SXT_RECURRENCE_PREDICT_RECOMPUTE, query.recurrence);
  if (query.preconditioned)
    return plugin::refuse(reason,
                          "it is for M = identity (a matrix scaled beforehand), the query has preconditioned = 1");
  if (query.m.q.value_type == SXT_F32 && query.m.matrix_type != SXT_F32)
    return plugin::refuse(reason, "f32 vectors need A in f32");
  if (const sxt_status status = plugin::dia_refusal(query.m, found, true, reason); status != SXT_OK) return status;
  if (likely_form(query, found).across > 0) return SXT_OK;
  return plugin::refuse(reason, "%.0f diagonals; it knows stencils of 5, 7, 9 and 27 points",
                        plugin::dia_diagonals(query.m, found));
}

sxt_status candidates(const sxt_pcg_query &query, const sxt_features *found, const sxt_machine &machine,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  plugin::CandidateList list(out, capacity, count);
  const Form form = likely_form(query, found);
  if (form.across == 0) return SXT_OK;
  Stencil a{};
  if (!assume_cube(query, form, &a)) return SXT_OK;
  const auto value = static_cast<std::int64_t>(plugin::value_bytes(query.m.q.value_type)),
             stored = static_cast<std::int64_t>(plugin::value_bytes(query.m.matrix_type));
  const double iterations = plugin::pcg::iterations_of(query);
  for (const Wanted &w : wanted) {
    // Forms with many diagonals fill the registers of a multiprocessor with one block.
    if (w.width > most_threads(form.across) || (w.blocks_a_unit > 1 && most_threads(form.across) < 1024)) continue;
    const std::int64_t blocks = std::max(1, machine.units) * w.blocks_a_unit;
    const Tiling t = share_out(a, form, w.width, blocks, w.stages, value, stored);
    const auto room = static_cast<std::int64_t>(machine.shared_per_block) / w.blocks_a_unit - 4096;
    if (shared_bytes(t, value) > room) continue;
    const double seconds = iteration_seconds(query, form, t, w, machine);
    // Even, since x is updated every second iteration.
    const double block = 2 * std::clamp(std::round(launch_for_s / (2 * seconds)), 4.0, 512.0);
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = static_cast<std::int64_t>(block);
    candidate.launch[1] = w.width;
    candidate.launch[2] = w.blocks_a_unit;
    candidate.launch[3] = w.stages;
    candidate.run_s = (iterations + 1) * seconds + std::ceil(iterations / block) * host_s;
    candidate.state_bytes = static_cast<std::uint64_t>(6 * query.m.rows * value);
    candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
    candidate.units = static_cast<double>(std::min<std::int64_t>(machine.units, t.items));
  }
  return SXT_OK;
}

}  // namespace stencil
