// SPDX-License-Identifier: BSD-3-Clause
// A vector that is divided among the members of one process, and the same one divided otherwise among some of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/world/lanes.hpp"
#include "core/world/matrix.hpp"

namespace sextant {

// The other division: which members of the world have rows, in order, and where those of each begin; the end follows.
struct Regrouped {
  std::vector<std::size_t> members;  // places among this process's
  std::vector<std::int64_t> begin;
};

// One vector of it. One call at a time.
class MovedVector {
 public:
  // whole: one process's. Where each member has the rows that the matrix gives it the caller's memory is used.
  MovedVector(const WorldMatrix &matrix, const Regrouped &to);

  // The parts in the other division; from: the caller's parts.
  const std::vector<void *> &parts(const std::vector<void *> &from);
  // The caller's values there, or back. Enqueued on the lanes' streams.
  void bring(const std::vector<void *> &from, const Lanes &lanes) const { move(from, lanes, true); }
  void give_back(const std::vector<void *> &to, const Lanes &lanes) const { move(to, lanes, false); }

 private:
  struct Piece {  // values of member `mine` of the caller's division, and of part `theirs` of the other one
    std::size_t mine, theirs;
    std::int64_t at_mine, at_theirs, count;  // in values
  };
  void move(const std::vector<void *> &callers, const Lanes &lanes, bool there) const;

  const WorldMatrix &matrix_;
  const Regrouped &to_;
  std::int64_t each_;
  std::vector<Piece> pieces_;
  std::vector<DeviceBuffer> memory_;  // empty where the caller's is used
  std::vector<void *> parts_;
};

}  // namespace sextant
