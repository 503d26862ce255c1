// SPDX-License-Identifier: BSD-3-Clause
// Nested dissection (George 1973) of a general graph: a separator comes after the two parts that it leaves, which are
// dissected alike; parts that are small enough are ordered by minimum degree, with the vertices around them as a halo.
// What becomes of a part follows from the part alone, so the order is the same for every number of threads.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>

#include "plugins/ordering/shared/minimum_degree.hpp"
#include "plugins/ordering/shared/tree.hpp"
#include "separator.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin::elimination {

class Dissector {
 public:
  Dissector(const WeightedGraph &graph, int threads) : graph_(graph), threads_(std::max(1, threads)) {}

  // The vertices in order; nodes of the dissection in `nodes`. Throws std::bad_alloc.
  std::vector<Vertex> run(std::vector<TreeNode> &nodes) {
    order_.resize(at(graph_.size()));
    workers_.resize(at(threads_));
    start();
    in_team(threads_, [&](int rank, int) { work(workers_[at(rank)]); });
    if (problem_) std::rethrow_exception(problem_);
    for (const Worker &worker : workers_) nodes.insert(nodes.end(), worker.nodes.begin(), worker.nodes.end());
    std::sort(nodes.begin(), nodes.end(), [](const TreeNode &a, const TreeNode &b) { return a.begin < b.begin; });
    return std::move(order_);
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  // Parts of fewer vertices are leaves; those of fewer than `own` stay with the thread that made them.
  static constexpr Vertex leaf = 200, own = 5000;

  struct Part {
    WeightedGraph graph;
    std::vector<Vertex> name;  // in graph_
    Vertex begin = 0;          // in order_
    std::uint64_t path = 1;    // from the root: the seed of what is random
  };
  struct Worker {
    std::vector<TreeNode> nodes;
    SeparatorFinder finder;
    MinimumDegree degree;
    std::vector<Vertex> local;  // of vertices of graph_, while a leaf is looked at; else -1
    WeightedGraph leaf;
    std::vector<Vertex> leaf_names, leaf_order;
  };

  // Vertices next to a great part of all are a separator of their own; each component is a part, small ones together.
  void start() {
    const Vertex n = graph_.size();
    std::int64_t limit = 64;
    while (limit * limit < 100 * std::int64_t{n}) limit += limit / 8;
    std::vector<Vertex> component(at(n), -1), queue;
    Vertex next = n;
    for (Vertex v = n - 1; v >= 0; --v)
      if (graph_.degree(v) > limit) component[at(v)] = n, order_[at(--next)] = v;
    const Vertex dense = n - next;
    if (dense > 0) workers_[0].nodes.push_back({next, n, 0});
    std::vector<Vertex> few;
    Vertex begin = 0;
    for (Vertex v = 0; v < n; ++v) {
      if (component[at(v)] >= 0) continue;
      queue.assign(1, v);
      component[at(v)] = v;
      for (std::size_t head = 0; head < queue.size(); ++head)
        graph_.for_each_neighbour(queue[head], [&](Vertex u) {
          if (component[at(u)] < 0) component[at(u)] = v, queue.push_back(u);
        });
      if (static_cast<Vertex>(queue.size()) <= leaf) {
        few.insert(few.end(), queue.begin(), queue.end());
        if (few.size() > at(20 * leaf)) begin = add(few, begin, false);
        continue;
      }
      std::sort(queue.begin(), queue.end());
      begin = add(queue, begin, true);
    }
    if (!few.empty()) add(few, begin, false);
  }

  // A part of these vertices, which is left empty; a part that is a leaf gets no graph.
  Vertex add(std::vector<Vertex> &vertices, Vertex begin, bool dissect) {
    Part part;
    part.begin = begin;
    part.path = static_cast<std::uint64_t>(begin) + 1;
    part.name = std::move(vertices);
    vertices.clear();
    if (dissect) take_graph(part);
    const auto end = begin + static_cast<Vertex>(part.name.size());
    queue_.push_back(std::move(part));
    ++open_;
    return end;
  }

  void take_graph(Part &part) {
    if (static_cast<Vertex>(part.name.size()) == graph_.size()) {
      part.graph = graph_;
      return;
    }
    std::vector<Vertex> local(at(graph_.size()), -1);
    for (std::size_t k = 0; k < part.name.size(); ++k) local[at(part.name[k])] = static_cast<Vertex>(k);
    for (const Vertex v : part.name) {
      graph_.for_each_neighbour(v, [&](Vertex u) {
        if (local[at(u)] >= 0) part.graph.neighbour.push_back(local[at(u)]);
      });
      part.graph.start.push_back(static_cast<std::int64_t>(part.graph.neighbour.size()));
      part.graph.weight.push_back(graph_.weight[at(v)]);
    }
  }

  // Parts are taken as they come, until none is open.
  void work(Worker &worker) noexcept {
    for (;;) {
      Part part;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !queue_.empty() || open_ == 0 || problem_; });
        if (queue_.empty() || problem_) return;
        part = std::move(queue_.front());
        queue_.pop_front();
      }
      try {
        dissect_all(std::move(part), worker);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!problem_) problem_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      if (--open_ == 0 || problem_) changed_.notify_all();
    }
  }

  void dissect_all(Part part, Worker &worker) {
    std::vector<Part> stack;
    stack.push_back(std::move(part));
    while (!stack.empty()) {
      Part next = std::move(stack.back());
      stack.pop_back();
      Part halves[2];
      if (!halve(next, halves, worker)) continue;
      for (Part &half : halves) {
        if (half.name.empty()) continue;
        if (threads_ == 1 || half.graph.size() < own) {
          stack.push_back(std::move(half));
          continue;
        }
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(half));
        ++open_;
        changed_.notify_one();
      }
    }
  }

  // False: the part was a leaf, and is done.
  bool halve(Part &part, Part (&halves)[2], Worker &worker) {
    const auto size = static_cast<Vertex>(part.name.size());
    if (part.graph.size() <= leaf || part.graph.edges() == 0) return order_leaf(part, worker), false;
    Separation found;
    Random random(part.path);
    worker.finder.find(part.graph, found, random);
    // What has no good separator is left to minimum degree.
    const std::int64_t all = found.weight[0] + found.weight[1] + found.weight[2];
    if (found.weight[0] == 0 || found.weight[1] == 0 || 2 * found.weight[between] > all)
      return order_leaf(part, worker), false;
    split(part, found, halves);
    Vertex to = part.begin + static_cast<Vertex>(halves[0].name.size() + halves[1].name.size());
    const Vertex end = part.begin + size;
    if (to < end) worker.nodes.push_back({to, end, part.begin});
    for (Vertex v = 0; v < size; ++v)
      if (found.side[at(v)] == between) order_[at(to++)] = part.name[at(v)];
    return true;
  }

  static void split(const Part &part, const Separation &found, Part (&halves)[2]) {
    std::vector<Vertex> local(part.name.size());
    for (std::size_t v = 0; v < part.name.size(); ++v)
      if (const int side = found.side[v]; side != between) {
        local[v] = static_cast<Vertex>(halves[side].name.size());
        halves[side].name.push_back(part.name[v]);
      }
    halves[0].begin = part.begin;
    halves[1].begin = part.begin + static_cast<Vertex>(halves[0].name.size());
    for (int side = 0; side < 2; ++side) {
      Part &half = halves[side];
      half.path = part.path * 2 + static_cast<std::uint64_t>(side) + (part.path >> 63);
      half.graph.start.reserve(half.name.size() + 1);
      half.graph.weight.reserve(half.name.size());
      half.graph.neighbour.reserve(at(part.graph.edges() / 2));
    }
    for (std::size_t v = 0; v < part.name.size(); ++v) {
      const int side = found.side[v];
      if (side == between) continue;
      WeightedGraph &to = halves[side].graph;
      part.graph.for_each_neighbour(static_cast<Vertex>(v), [&](Vertex u) {
        if (found.side[at(u)] == side) to.neighbour.push_back(local[at(u)]);
      });
      to.start.push_back(static_cast<std::int64_t>(to.neighbour.size()));
      to.weight.push_back(part.graph.weight[v]);
    }
  }

  void order_leaf(const Part &part, Worker &worker) {
    const auto size = static_cast<Vertex>(part.name.size());
    take_leaf(part, worker);
    worker.degree.order(worker.leaf, size, worker.leaf_order);
    for (Vertex k = 0; k < size; ++k) order_[at(part.begin + k)] = part.name[at(worker.leaf_order[at(k)])];
    worker.nodes.push_back({part.begin, part.begin + size, part.begin});
  }

  // The part with the vertices around it.
  void take_leaf(const Part &part, Worker &worker) {
    std::vector<Vertex> &local = worker.local, &names = worker.leaf_names;
    if (local.empty()) local.assign(at(graph_.size()), -1);
    names = part.name;
    for (std::size_t k = 0; k < names.size(); ++k) local[at(names[k])] = static_cast<Vertex>(k);
    WeightedGraph &leaf_graph = worker.leaf;
    leaf_graph.start.assign(1, 0), leaf_graph.neighbour.clear(), leaf_graph.weight.clear();
    for (const Vertex v : part.name) {
      graph_.for_each_neighbour(v, [&](Vertex u) {
        if (local[at(u)] < 0) local[at(u)] = static_cast<Vertex>(names.size()), names.push_back(u);
        leaf_graph.neighbour.push_back(local[at(u)]);
      });
      leaf_graph.start.push_back(static_cast<std::int64_t>(leaf_graph.neighbour.size()));
    }
    for (std::size_t k = part.name.size(); k < names.size(); ++k) {
      graph_.for_each_neighbour(names[k], [&](Vertex u) {
        if (const Vertex own_vertex = local[at(u)]; own_vertex >= 0 && at(own_vertex) < part.name.size())
          leaf_graph.neighbour.push_back(own_vertex);
      });
      leaf_graph.start.push_back(static_cast<std::int64_t>(leaf_graph.neighbour.size()));
    }
    for (const Vertex v : names) leaf_graph.weight.push_back(graph_.weight[at(v)]), local[at(v)] = -1;
  }

  const WeightedGraph &graph_;
  const int threads_;
  std::vector<Vertex> order_;
  std::vector<Worker> workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Part> queue_;
  std::int64_t open_ = 0;
  std::exception_ptr problem_;
};

}  // namespace sextant::plugin::elimination
