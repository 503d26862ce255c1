// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/moving.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/types.hpp"

namespace sextant {

MovedVector::MovedVector(WorldMatrix &matrix, const Regrouped &to)
    : matrix_(matrix), to_(to), each_(value_bytes(matrix.value_type())) {
  const World &world = matrix.world();
  bool same = true;  // each part lies with its member already, whole
  for (std::size_t k = 0; k < to.members.size(); ++k) {
    const std::int64_t begin = to.begin[k], end = to.begin[k + 1];
    for (std::size_t i = 0; i < world.own(); ++i) {
      const std::int64_t first = matrix.first_row_of(i), last = first + matrix.rows_of(i);
      const std::int64_t from = std::max(begin, first), until = std::min(end, last);
      if (from >= until) continue;
      pieces_.push_back({i, k, from - first, from - begin, until - from});
      same = same && i == to.members[k] && from == first && until == last;
    }
  }
  if (same) return;
  for (std::size_t k = 0; k < to.members.size(); ++k)
    memory_.emplace_back(world.context(to.members[k]).device(),
                         static_cast<std::uint64_t>((to.begin[k + 1] - to.begin[k]) * each_));
  for (Piece &piece : pieces_) make_routes(piece);
}

void MovedVector::make_routes(Piece &piece) {
  const World &world = matrix_.world();
  const std::size_t other = to_.members[piece.theirs];
  Context &mine = world.context(piece.mine), &theirs = world.context(other);
  const bool two_devices = !mine.device().on_host() && !std::strcmp(mine.device_name(), theirs.device_name()) &&
                           matrix_.halo().are_apart(piece.mine, other);
  if (!two_devices) return;
  piece.landing = DeviceBuffer(mine.device(), static_cast<std::uint64_t>(piece.count * each_));
  const auto route = [&](Context &giver, std::int64_t first, void *to) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(piece.count));
    std::iota(rows.begin(), rows.end(), first);
    RouteWanted wanted{SXT_REACH_PROCESS};
    wanted.add(rows, 0, piece.count, to, true);
    return std::make_unique<Route>(giver, matrix_.value_type(), std::move(wanted));
  };
  piece.there = route(mine, piece.at_mine, own_place(piece));
  piece.back = route(theirs, piece.at_theirs, piece.landing.data());
}

const std::vector<void *> &MovedVector::parts(const std::vector<void *> &from) {
  parts_.clear();
  for (std::size_t k = 0; k < to_.members.size(); ++k)
    parts_.push_back(memory_.empty() ? from[to_.members[k]] : memory_[k].data());
  return parts_;
}

void MovedVector::copy(std::size_t by, void *to, const void *from, std::int64_t count, const Lanes &lanes) const {
  Device &device = matrix_.world().context(by).device();
  const auto bytes = static_cast<std::uint64_t>(count * each_);
  if (device.on_host()) return static_cast<void>(std::memcpy(to, from, bytes));
  const sxt_status status = device.enqueue_copy(lanes.stream(by), to, from, bytes);
  require(status == SXT_OK, status, "could not move ", bytes, " bytes of a vector on the device of member ", by);
}

void MovedVector::send(Piece &piece, const std::vector<void *> &callers, const Lanes &lanes, bool there) {
  const std::size_t other = to_.members[piece.theirs];
  if (piece.there) {
    const auto scope = lanes.enter(there ? piece.mine : other);
    return there ? piece.there->run(callers[piece.mine]) : piece.back->run(memory_[piece.theirs].data());
  }
  // By the member that has a stream, if one of the two has.
  const std::size_t by = matrix_.world().context(piece.mine).device().on_host() ? other : piece.mine;
  void *const mine = callers_place(piece, callers), *const theirs = own_place(piece);
  copy(by, there ? theirs : mine, there ? mine : theirs, piece.count, lanes);
}

// What a route left in host memory, or beside the caller's.
void MovedVector::receive(const Piece &piece, const std::vector<void *> &callers, const Lanes &lanes,
                          bool there) const {
  if (!piece.there) return;
  const void *const staged = (there ? piece.there : piece.back)->staged(0);
  if (there && !staged) return;
  const std::size_t by = there ? to_.members[piece.theirs] : piece.mine;
  copy(by, there ? own_place(piece) : callers_place(piece, callers), staged ? staged : piece.landing.data(),
       piece.count, lanes);
}

void MovedVector::move(const std::vector<void *> &callers, const Lanes &lanes, bool there) {
  if (memory_.empty()) return;
  const auto wait = [&] {
    for (std::size_t i = 0; i < matrix_.world().own(); ++i) lanes.wait(i);
  };
  for (Piece &piece : pieces_) send(piece, callers, lanes, there);
  wait();
  for (const Piece &piece : pieces_) receive(piece, callers, lanes, there);
  wait();
}

}  // namespace sextant
