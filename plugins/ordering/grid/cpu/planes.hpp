// SPDX-License-Identifier: BSD-3-Clause
// Dissection of a grid by planes (George 1973): the longest axis is cut in the middle, the plane comes last, the halves
// are cut alike. Small boxes are ordered by minimum degree with the planes around them as a halo; one order serves all
// boxes of one shape.
#pragma once

#include <map>

#include "plugins/ordering/shared/minimum_degree.hpp"
#include "plugins/ordering/shared/tree.hpp"
#include "recognise.hpp"

namespace sextant::plugin::grid {

using elimination::TreeNode;
using elimination::Vertex;

class Planes {
 public:
  explicit Planes(const Grid &grid) : grid_(grid) {}

  // Nodes in order, and the tree.
  std::vector<Vertex> run(std::vector<TreeNode> &tree) {
    order_.reserve(static_cast<std::size_t>(grid_.nodes()));
    tree_ = &tree;
    dissect({{0, 0, 0}, {grid_.size[0], grid_.size[1], grid_.size[2]}});
    return std::move(order_);
  }

 private:
  static constexpr std::int64_t most_in_leaf = 150;

  struct Box {
    std::int64_t low[3], high[3];
    std::int64_t size(int axis) const { return high[axis] - low[axis]; }
    std::int64_t nodes() const { return size(0) * size(1) * size(2); }
    int longest() const {
      int axis = 0;
      for (int other = 1; other < 3; ++other)
        if (size(other) > size(axis)) axis = other;
      return axis;
    }
  };

  std::int64_t placed() const { return static_cast<std::int64_t>(order_.size()); }
  Vertex node(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<Vertex>(x + grid_.size[0] * (y + grid_.size[1] * z));
  }

  void dissect(const Box &box) {
    const std::int64_t below = placed();
    if (box.nodes() <= most_in_leaf) {
      place_leaf(box);
      tree_->push_back({below, placed(), below});
      return;
    }
    const int axis = box.longest();
    Box first = box, plane = box, second = box;
    cut(axis, first, plane, second);
    dissect(first);
    dissect(second);
    const std::int64_t begin = placed();
    place_plane(plane);
    tree_->push_back({begin, placed(), below});
  }

  static void cut(int axis, Box &first, Box &middle, Box &last) {
    const std::int64_t at = (first.low[axis] + first.high[axis]) / 2;
    first.high[axis] = middle.low[axis] = at;
    middle.high[axis] = last.low[axis] = at + 1;
  }

  // As the halves on both sides are cut, so that what they touch stands together.
  void place_plane(const Box &box) {
    constexpr std::int64_t few = 4;
    const int axis = box.longest();
    if (box.size(axis) <= few) {
      for_nodes(box, [&](std::int64_t x, std::int64_t y, std::int64_t z) { order_.push_back(node(x, y, z)); });
      return;
    }
    Box first = box, middle = box, last = box;
    cut(axis, first, middle, last);
    place_plane(first), place_plane(last), place_plane(middle);
  }

  template <class F>
  static void for_nodes(const Box &box, F &&f) {
    for (std::int64_t z = box.low[2]; z < box.high[2]; ++z)
      for (std::int64_t y = box.low[1]; y < box.high[1]; ++y)
        for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) f(x, y, z);
  }

  // Its sizes, and which of its six sides have neighbours.
  using Shape = std::array<std::int64_t, 4>;

  void place_leaf(const Box &box) {
    Shape shape{box.size(0), box.size(1), box.size(2), 0};
    for (int axis = 0; axis < 3; ++axis)
      shape[3] |= (box.low[axis] > 0 ? 1 : 0) << 2 * axis | (box.high[axis] < grid_.size[axis] ? 2 : 0) << 2 * axis;
    const auto found = leaves_.find(shape);
    for (const Vertex local : found != leaves_.end() ? found->second : leaves_[shape] = order_leaf(shape)) {
      const std::int64_t x = local % shape[0], y = local / shape[0] % shape[1], z = local / shape[0] / shape[1];
      order_.push_back(node(box.low[0] + x, box.low[1] + y, box.low[2] + z));
    }
  }

  std::vector<Vertex> order_leaf(const Shape &shape) {
    // The box with the layer around it where there is one; own nodes get the first numbers.
    std::int64_t low[3], high[3];
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = shape[3] >> 2 * axis & 1 ? -1 : 0;
      high[axis] = shape[static_cast<std::size_t>(axis)] + (shape[3] >> 2 * axis & 2 ? 1 : 0);
    }
    const std::int64_t wide[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    const auto cell = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      return static_cast<std::size_t>(x - low[0] + wide[0] * (y - low[1] + wide[1] * (z - low[2])));
    };
    std::vector<Vertex> number(static_cast<std::size_t>(wide[0] * wide[1] * wide[2]), -1);
    const Box own{{0, 0, 0}, {shape[0], shape[1], shape[2]}},
        all{{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
    std::vector<std::array<std::int64_t, 3>> nodes;
    for (const Box &box : {own, all})
      for_nodes(box, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        if (number[cell(x, y, z)] >= 0) return;
        number[cell(x, y, z)] = static_cast<Vertex>(nodes.size());
        nodes.push_back({x, y, z});
      });
    elimination::WeightedGraph graph;
    const auto own_nodes = static_cast<Vertex>(own.nodes());
    for (const auto &[x, y, z] : nodes) {
      const Vertex self = number[cell(x, y, z)];
      for (const Step &step : grid_.steps)
        for (const int way : {1, -1}) {
          const std::int64_t to[3] = {x + way * step[0], y + way * step[1], z + way * step[2]};
          bool inside = true;
          for (int axis = 0; axis < 3; ++axis) inside = inside && to[axis] >= low[axis] && to[axis] < high[axis];
          if (!inside) continue;
          const Vertex other = number[cell(to[0], to[1], to[2])];
          if (self < own_nodes || other < own_nodes) graph.neighbour.push_back(other);
        }
      graph.start.push_back(static_cast<std::int64_t>(graph.neighbour.size()));
      graph.weight.push_back(1);
    }
    std::vector<Vertex> out;
    degree_.order(graph, own_nodes, out);
    return out;
  }

  const Grid &grid_;
  std::vector<Vertex> order_;
  std::vector<TreeNode> *tree_ = nullptr;
  std::map<Shape, std::vector<Vertex>> leaves_;
  elimination::MinimumDegree degree_;
};

}  // namespace sextant::plugin::grid
