// SPDX-License-Identifier: BSD-3-Clause
// Dissection of a grid by planes (George 1973). Where neighbours are those along the axes alone, the nodes of a plane
// that lies askew (x + y = c, x + y + z = c, ...) separate as well as those of a straight one, and parts with such
// faces have fewer neighbours (Bhat, Habashi, Liu, Nguyen and Peeters, SIAM J. Matrix Anal. Appl. 14, 1993): each part
// is cut by the plane, of all that separate, that has the fewest nodes there. Parts that are small enough are ordered
// by minimum degree with the nodes around them as a halo; parts of one shape share an order.
#pragma once

#include <exception>
#include <string>
#include <unordered_map>

#include "plugins/ordering/shared/minimum_degree.hpp"
#include "plugins/ordering/shared/tree.hpp"
#include "recognise.hpp"

namespace sextant::plugin::grid {

using elimination::TreeNode;
using elimination::Vertex;

class Planes {
 public:
  Planes(const Grid &grid, int threads) : grid_(grid), threads_(std::max(1, threads)) {
    for (int z = 0; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
          if (const Step normal{x, y, z}; is_first(normal) && lies_in(normal) && separates(normal))
            normals_.push_back(normal);
  }

  // Nodes in order, and the tree.
  std::vector<Vertex> run(std::vector<TreeNode> &tree) {
    const std::int64_t nodes = grid_.nodes();
    points_.reserve(static_cast<std::size_t>(nodes));
    for (std::int32_t z = 0; z < grid_.size[2]; ++z)
      for (std::int32_t y = 0; y < grid_.size[1]; ++y)
        for (std::int32_t x = 0; x < grid_.size[0]; ++x) points_.push_back({x, y, z});
    order_.resize(points_.size());
    workers_.resize(static_cast<std::size_t>(threads_));
    // The first cuts by one thread, until there are parts enough for all.
    constexpr std::int64_t parts_each = 8;
    std::vector<Part> parts{{0, nodes}};
    const std::int64_t large = threads_ > 1 ? std::max<std::int64_t>(4096, nodes / (parts_each * threads_)) : nodes;
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (parts[k].end - parts[k].begin > large) {
        Part halves[2];
        if (!cut(parts[k], halves, workers_[0])) continue;
        parts[k].end = parts[k].begin;
        parts.insert(parts.end(), std::begin(halves), std::end(halves));
      }
    std::atomic<std::size_t> next{0};
    for_each_part(threads_, threads_, [&](int worker) {
      for (std::size_t k; (k = next.fetch_add(1)) < parts.size();)
        finish(parts[k], workers_[static_cast<std::size_t>(worker)]);
    });
    for (const Worker &worker : workers_) {
      if (worker.problem) std::rethrow_exception(worker.problem);
      tree.insert(tree.end(), worker.tree.begin(), worker.tree.end());
    }
    std::sort(tree.begin(), tree.end(), [](const TreeNode &a, const TreeNode &b) { return a.begin < b.begin; });
    return std::move(order_);
  }

 private:
  static constexpr std::int64_t most_in_leaf = 150;
  static constexpr double most_on_a_side = 0.6;

  struct Point {
    std::int32_t x, y, z;
  };
  struct Part {
    std::int64_t begin, end;  // in points_
  };
  struct Worker {
    std::vector<TreeNode> tree;
    std::vector<std::int32_t> counts;
    std::vector<Point> aside[2];
    elimination::MinimumDegree degree;
    std::unordered_map<std::string, std::vector<Vertex>> leaves;
    std::vector<Vertex> local;
    std::exception_ptr problem;
  };

  static bool is_first(const Step &s) { return s[2] > 0 || (s[2] == 0 && (s[1] > 0 || (s[1] == 0 && s[0] > 0))); }
  // Along axes that the grid has.
  bool lies_in(const Step &n) const {
    return (n[0] == 0 || grid_.size[0] > 1) && (n[1] == 0 || grid_.size[1] > 1) && (n[2] == 0 || grid_.size[2] > 1);
  }
  // No edge leads from one side of a plane with this normal to the other.
  bool separates(const Step &n) const {
    return std::all_of(grid_.steps.begin(), grid_.steps.end(), [&](const Step &s) {
      const int across = n[0] * s[0] + n[1] * s[1] + n[2] * s[2];
      return across >= -1 && across <= 1;
    });
  }
  static std::int32_t level(const Step &n, const Point &p) { return n[0] * p.x + n[1] * p.y + n[2] * p.z; }
  Vertex node(const Point &p) const { return static_cast<Vertex>(p.x + grid_.size[0] * (p.y + grid_.size[1] * p.z)); }

  struct Plane {
    Step normal{};
    std::int32_t level = 0;
    std::int64_t nodes = std::numeric_limits<std::int64_t>::max(), uneven = 0;
  };

  Plane best_plane(const Part &part, Worker &worker) const {
    Plane best;
    const Point *const first = points_.data() + part.begin, *const last = points_.data() + part.end;
    for (const Step &normal : normals_) {
      std::int32_t low = level(normal, *first), high = low;
      for (const Point *p = first; p < last; ++p) {
        const std::int32_t at = level(normal, *p);
        low = std::min(low, at), high = std::max(high, at);
      }
      worker.counts.assign(static_cast<std::size_t>(high - low) + 1, 0);
      for (const Point *p = first; p < last; ++p) ++worker.counts[static_cast<std::size_t>(level(normal, *p) - low)];
      const std::int64_t all = last - first;
      const auto most = static_cast<std::int64_t>(most_on_a_side * static_cast<double>(all));
      std::int64_t before = 0;
      for (std::int32_t at = low; at <= high; ++at) {
        const std::int64_t nodes = worker.counts[static_cast<std::size_t>(at - low)], after = all - before - nodes;
        const std::int64_t uneven = before > after ? before - after : after - before;
        if (before > 0 && after > 0 && before <= most && after <= most &&
            (nodes < best.nodes || (nodes == best.nodes && uneven < best.uneven)))
          best = {normal, at, nodes, uneven};
        before += nodes;
      }
    }
    return best;
  }

  // False: no plane separates the part evenly.
  bool cut(const Part &part, Part (&halves)[2], Worker &worker) {
    const Plane plane = best_plane(part, worker);
    if (plane.nodes == std::numeric_limits<std::int64_t>::max()) return false;
    for (auto &side : worker.aside) side.clear();
    Point *to = points_.data() + part.begin;
    for (std::int64_t k = part.begin; k < part.end; ++k) {
      const Point p = points_[static_cast<std::size_t>(k)];
      const std::int32_t at = level(plane.normal, p);
      if (at < plane.level)
        *to++ = p;
      else
        worker.aside[at == plane.level].push_back(p);
    }
    halves[0] = {part.begin, to - points_.data()};
    to = std::copy(worker.aside[0].begin(), worker.aside[0].end(), to);
    halves[1] = {halves[0].end, to - points_.data()};
    std::int64_t place = halves[1].end;
    worker.tree.push_back({place, part.end, part.begin});
    for (const Point &p : worker.aside[1]) order_[static_cast<std::size_t>(place++)] = node(p);
    return true;
  }

  void finish(const Part &part, Worker &worker) noexcept {
    try {
      dissect(part, worker);
    } catch (...) {
      worker.problem = std::current_exception();
    }
  }
  void dissect(const Part &part, Worker &worker) {
    if (part.begin == part.end) return;
    Part halves[2];
    if (part.end - part.begin <= most_in_leaf || !cut(part, halves, worker)) return place_leaf(part, worker);
    dissect(halves[0], worker);
    dissect(halves[1], worker);
  }

  bool inside(const Point &p) const {
    return p.x >= 0 && p.y >= 0 && p.z >= 0 && p.x < grid_.size[0] && p.y < grid_.size[1] && p.z < grid_.size[2];
  }

  // What tells the leaf's shape, and the neighbours that its nodes have in the grid.
  std::string key_of(const Part &part) const {
    std::string key;
    const Point &origin = points_[static_cast<std::size_t>(part.begin)];
    const auto put = [&](std::int32_t value) { key.append(reinterpret_cast<const char *>(&value), sizeof value); };
    for (std::int64_t k = part.begin; k < part.end; ++k) {
      const Point &p = points_[static_cast<std::size_t>(k)];
      put(p.x - origin.x), put(p.y - origin.y), put(p.z - origin.z);
      const auto rim = [](std::int64_t at, std::int64_t size) { return (at == 0 ? 1 : 0) + (at + 1 == size ? 2 : 0); };
      put(rim(p.x, grid_.size[0]) + 4 * rim(p.y, grid_.size[1]) + 16 * rim(p.z, grid_.size[2]));
    }
    return key;
  }

  void place_leaf(const Part &part, Worker &worker) {
    std::string key = key_of(part);
    auto found = worker.leaves.find(key);
    if (found == worker.leaves.end()) found = worker.leaves.emplace(std::move(key), order_leaf(part, worker)).first;
    for (std::int64_t k = part.begin; k < part.end; ++k) {
      const std::int64_t local = found->second[static_cast<std::size_t>(k - part.begin)];
      order_[static_cast<std::size_t>(k)] = node(points_[static_cast<std::size_t>(part.begin + local)]);
    }
    worker.tree.push_back({part.begin, part.end, part.begin});
  }

  std::vector<Vertex> order_leaf(const Part &part, Worker &worker) {
    std::vector<Vertex> &local = worker.local;
    if (local.empty()) local.assign(points_.size(), -1);
    std::vector<Point> points(points_.begin() + part.begin, points_.begin() + part.end);
    const auto own = static_cast<Vertex>(points.size());
    const auto name = [&](const Point &p) -> Vertex & { return local[static_cast<std::size_t>(node(p))]; };
    for (Vertex k = 0; k < own; ++k) name(points[static_cast<std::size_t>(k)]) = k;
    elimination::WeightedGraph graph;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const bool is_own = k < static_cast<std::size_t>(own);
      for (const Step &step : grid_.steps)
        for (const int way : {1, -1}) {
          const Point from = points[k], to{from.x + way * step[0], from.y + way * step[1], from.z + way * step[2]};
          if (!inside(to)) continue;
          if (is_own && name(to) < 0) name(to) = static_cast<Vertex>(points.size()), points.push_back(to);
          if (const Vertex other = name(to); other >= 0 && (is_own || other < own)) graph.neighbour.push_back(other);
        }
      graph.start.push_back(static_cast<std::int64_t>(graph.neighbour.size()));
      graph.weight.push_back(1);
    }
    for (const Point &p : points) name(p) = -1;
    std::vector<Vertex> out;
    worker.degree.order(graph, own, out);
    return out;
  }

  const Grid &grid_;
  const int threads_;
  std::vector<Step> normals_;
  std::vector<Point> points_;
  std::vector<Vertex> order_;
  std::vector<Worker> workers_;
};

}  // namespace sextant::plugin::grid
