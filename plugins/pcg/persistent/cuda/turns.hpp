// SPDX-License-Identifier: BSD-3-Clause
// In which turn a row reads which of its entries. As many lanes as there are banks read shared memory at once, and wait
// for each other where two want different places of one bank. A row's entries may come in any order, so each takes a
// turn in which its place is read already, or else its bank is used least; then entries of one row change places where
// a turn has more than one place of a bank. Host only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace persistent {

class Turns {
 public:
  static constexpr std::int32_t most = 64;  // turns that are considered together

  struct Item {
    std::int32_t place = -1;  // in shared memory; -1: the lane has nothing to read
    std::int32_t entry = -1, position = -1;
  };

  // banks: a power of two, 32 at most; places: how many there are.
  Turns(std::int32_t banks, std::int32_t places)
      : banks_(banks), items_(static_cast<std::size_t>(most) * banks), read_(static_cast<std::size_t>(places)) {}

  void begin(std::int32_t turns) {
    turns_ = turns;
    all_ = turns == most ? ~std::uint64_t{0} : bit(turns) - 1;
    std::fill_n(items_.begin(), turns * banks_, Item{});
    for (; deepest_ > 0; --deepest_) std::fill_n(more_[deepest_ - 1], banks_, 0);
    ++round_;
  }
  // The row of lanes first .. first + lanes - 1; it has at most lanes x turns items.
  void add_row(std::int32_t first, std::int32_t lanes, const Item *items, std::int32_t count) {
    std::uint64_t free = all_;
    std::uint8_t taken[most] = {};
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int32_t place = items[i].place, bank = bank_of(place);
      std::uint64_t suits = turns_of(place) & free;
      for (std::int32_t depth = 0; suits == 0; ++depth) suits = free & ~more_[depth][bank];
      const std::int32_t turn = std::countr_zero(suits);
      enter(place, turn);
      at(turn, first + taken[turn]) = items[i];
      if (++taken[turn] == lanes) free &= ~bit(turn);
    }
  }
  // Called once all rows are added, which have `lanes` lanes each.
  void exchange(std::int32_t lanes) {
    for (std::int32_t depth = deepest_; depth > 1; --depth) {
      std::uint64_t crowded = 0;
      for (std::int32_t bank = 0; bank < banks_; ++bank) crowded |= more_[depth - 1][bank];
      for (; crowded != 0; crowded &= crowded - 1) relieve(std::countr_zero(crowded), depth, lanes);
    }
  }
  const Item &item(std::int32_t turn, std::int32_t lane) const { return items_[turn * banks_ + lane]; }

 private:
  static std::uint64_t bit(std::int32_t turn) { return std::uint64_t{1} << turn; }
  std::int32_t bank_of(std::int32_t place) const { return place & (banks_ - 1); }
  Item &at(std::int32_t turn, std::int32_t lane) { return items_[turn * banks_ + lane]; }

  std::uint64_t turns_of(std::int32_t place) const { return read_[place].round == round_ ? read_[place].turns : 0; }
  // The turns where a place waits for fewer than `places` others.
  std::uint64_t fewer(std::int32_t place, std::int32_t places) const {
    return turns_of(place) | (places > 0 ? ~more_[places - 1][bank_of(place)] : 0);
  }
  void enter(std::int32_t place, std::int32_t turn) {
    const std::uint64_t turns = turns_of(place);
    if (turns & bit(turn)) return;
    read_[place] = {turns | bit(turn), round_};
    std::int32_t depth = 0;
    while (more_[depth][bank_of(place)] & bit(turn)) ++depth;
    more_[depth][bank_of(place)] |= bit(turn);
    deepest_ = std::max(deepest_, depth + 1);
  }
  void leave(std::int32_t place, std::int32_t turn) {
    read_[place].turns &= ~bit(turn);
    std::int32_t depth = 0;
    while (more_[depth + 1][bank_of(place)] & bit(turn)) ++depth;
    more_[depth][bank_of(place)] &= ~bit(turn);
  }
  bool read_twice(std::int32_t turn, std::int32_t place) const {
    std::int32_t times = 0;
    for (std::int32_t lane = 0; lane < banks_; ++lane) times += item(turn, lane).place == place;
    return times > 1;
  }

  // Moves items of those banks that have `depth` places in the turn.
  void relieve(std::int32_t turn, std::int32_t depth, std::int32_t lanes) {
    for (std::int32_t lane = 0; lane < banks_; ++lane) {
      const std::int32_t place = at(turn, lane).place;
      if (place >= 0 && (more_[depth - 1][bank_of(place)] & bit(turn)) && !read_twice(turn, place))
        move(turn, lane, depth - 1, lanes);
    }
  }
  // Changes an item for another one of its row where each then waits for fewer than this one does now.
  void move(std::int32_t turn, std::int32_t lane, std::int32_t waits, std::int32_t lanes) {
    const std::int32_t place = at(turn, lane).place, first = lane / lanes * lanes;
    for (std::uint64_t better = fewer(place, waits) & all_ & ~bit(turn); better != 0; better &= better - 1) {
      const std::int32_t there = std::countr_zero(better);
      for (std::int32_t other = first; other < first + lanes; ++other) {
        const std::int32_t back = at(there, other).place;
        if (back >= 0 && (bank_of(back) == bank_of(place) || !(fewer(back, waits) & bit(turn)))) continue;
        leave(place, turn);
        if (back >= 0 && !read_twice(there, back)) leave(back, there);
        std::swap(at(turn, lane), at(there, other));
        enter(place, there);
        if (back >= 0) enter(back, turn);
        return;
      }
    }
  }

  struct Read {
    std::uint64_t turns = 0;
    std::uint32_t round = 0;
  };
  std::int32_t banks_, turns_ = 0, deepest_ = 0;
  std::uint32_t round_ = 0;
  std::uint64_t all_ = 0;
  std::uint64_t more_[34][32] = {};  // [k][bank]: turns that read more than k places of it
  std::vector<Item> items_;          // by turn, then by lane
  std::vector<Read> read_;           // in which turns each place is read; of an earlier round: in none
};

}  // namespace persistent
