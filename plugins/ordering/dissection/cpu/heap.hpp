// SPDX-License-Identifier: BSD-3-Clause
// The vertex of greatest gain first, with gains that change.
#pragma once

#include "plugins/ordering/shared/weighted_graph.hpp"

namespace sextant::plugin::elimination {

class GainHeap {
 public:
  void reset(Vertex n) {
    items_.clear();
    place_.assign(static_cast<std::size_t>(n), -1);
  }
  void clear() {
    for (const Item &item : items_) place_[at(item.vertex)] = -1;
    items_.clear();
  }
  bool empty() const { return items_.empty(); }
  bool has(Vertex v) const { return place_[at(v)] >= 0; }
  Vertex top() const { return items_.front().vertex; }
  std::int32_t top_gain() const { return items_.front().gain; }

  void insert(Vertex v, std::int32_t gain) {
    items_.push_back({gain, v});
    up(items_.size() - 1, {gain, v});
  }
  void change(Vertex v, std::int32_t gain) {
    const auto i = static_cast<std::size_t>(place_[at(v)]);
    const std::int32_t before = items_[i].gain;
    gain > before ? up(i, {gain, v}) : down(i, {gain, v});
  }
  void remove(Vertex v) {
    const auto i = static_cast<std::size_t>(place_[at(v)]);
    const Item last = items_.back();
    items_.pop_back();
    place_[at(v)] = -1;
    if (i == items_.size()) return;
    last.gain > items_[i].gain || (i > 0 && last.gain > items_[(i - 1) / 2].gain) ? up(i, last) : down(i, last);
  }

 private:
  struct Item {
    std::int32_t gain;
    Vertex vertex;
  };
  static std::size_t at(Vertex v) { return static_cast<std::size_t>(v); }
  void put(std::size_t i, const Item &item) {
    items_[i] = item;
    place_[at(item.vertex)] = static_cast<std::int32_t>(i);
  }
  void up(std::size_t i, const Item &item) {
    for (std::size_t above; i > 0 && items_[above = (i - 1) / 2].gain < item.gain; i = above) put(i, items_[above]);
    put(i, item);
  }
  void down(std::size_t i, const Item &item) {
    for (std::size_t below; (below = 2 * i + 1) < items_.size(); i = below) {
      if (below + 1 < items_.size() && items_[below + 1].gain > items_[below].gain) ++below;
      if (items_[below].gain <= item.gain) break;
      put(i, items_[below]);
    }
    put(i, item);
  }

  std::vector<Item> items_;
  std::vector<std::int32_t> place_;
};

}  // namespace sextant::plugin::elimination
