// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/moving.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/types.hpp"

namespace sextant {

MovedVector::MovedVector(const WorldMatrix &matrix, const Regrouped &to)
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
}

const std::vector<void *> &MovedVector::parts(const std::vector<void *> &from) {
  parts_.clear();
  for (std::size_t k = 0; k < to_.members.size(); ++k)
    parts_.push_back(memory_.empty() ? from[to_.members[k]] : memory_[k].data());
  return parts_;
}

void MovedVector::move(const std::vector<void *> &callers, const Lanes &lanes, bool there) const {
  if (memory_.empty()) return;
  const World &world = matrix_.world();
  for (const Piece &piece : pieces_) {
    char *const mine = static_cast<char *>(callers[piece.mine]) + piece.at_mine * each_;
    char *const theirs = memory_[piece.theirs].as<char>() + piece.at_theirs * each_;
    void *const to = there ? theirs : mine;
    const void *const from = there ? mine : theirs;
    // By the member whose stream orders its memory; the CPU has none, so the other one's device.
    const std::size_t other = to_.members[piece.theirs];
    const std::size_t by = world.context(piece.mine).device().on_host() ? other : piece.mine;
    Device &device = world.context(by).device();
    const auto bytes = static_cast<std::uint64_t>(piece.count * each_);
    if (device.on_host()) {
      std::memcpy(to, from, bytes);
      continue;
    }
    const sxt_status status = device.enqueue_copy(lanes.stream(by), to, from, bytes);
    require(status == SXT_OK, status, "could not move ", bytes, " bytes of a vector from member ",
            there ? piece.mine : other, " to member ", there ? other : piece.mine);
  }
}

}  // namespace sextant
