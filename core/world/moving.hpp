// SPDX-License-Identifier: BSD-3-Clause
// A vector that is divided among the members of one process, and the same one divided otherwise among some of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/world/lanes.hpp"
#include "core/world/matrix.hpp"
#include "core/world/route.hpp"

namespace sextant {

// The other division: which members of the world have rows, in order, and where those of each begin; the end follows.
struct Regrouped {
  std::vector<std::size_t> members;  // places among this process's
  std::vector<std::int64_t> begin;
};

// One vector of it. One call at a time.
class MovedVector {
 public:
  // matrix: of a world of one process. Where each member has the rows that it gives them already, the caller's memory
  // is used.
  MovedVector(WorldMatrix &matrix, const Regrouped &to);

  // The parts in the other division; from: the caller's parts.
  const std::vector<void *> &parts(const std::vector<void *> &from);
  // The caller's values there, or back; they have come when it returns.
  void bring(const std::vector<void *> &from, const Lanes &lanes) { move(from, lanes, true); }
  void give_back(const std::vector<void *> &to, const Lanes &lanes) { move(to, lanes, false); }

 private:
  struct Piece {  // values of member `mine` of the caller's division, and of part `theirs` of the other one
    std::size_t mine, theirs;
    std::int64_t at_mine, at_theirs, count;  // in values
    // Between two devices: by a kernel of kind sxt.exchange/1, which finds out whether they reach each other's memory.
    std::unique_ptr<Route> there = {}, back = {};
    DeviceBuffer landing = {};  // with `mine`: the caller's memory may be another in each solve
  };
  void make_routes(Piece &piece);
  void send(Piece &piece, const std::vector<void *> &callers, const Lanes &lanes, bool there);
  void receive(const Piece &piece, const std::vector<void *> &callers, const Lanes &lanes, bool there) const;
  void move(const std::vector<void *> &callers, const Lanes &lanes, bool there);
  void copy(std::size_t by, void *to, const void *from, std::int64_t count, const Lanes &lanes) const;
  void *callers_place(const Piece &piece, const std::vector<void *> &callers) const {
    return static_cast<char *>(callers[piece.mine]) + piece.at_mine * each_;
  }
  void *own_place(const Piece &piece) const { return memory_[piece.theirs].as<char>() + piece.at_theirs * each_; }

  WorldMatrix &matrix_;
  const Regrouped &to_;
  std::int64_t each_;
  std::vector<Piece> pieces_;
  std::vector<DeviceBuffer> memory_;  // empty where the caller's is used
  std::vector<void *> parts_;
};

}  // namespace sextant
