// SPDX-License-Identifier: BSD-3-Clause
// Approximate minimum degree (Amestoy, Davis and Duff, SIAM J. Matrix Anal. Appl. 17, 1996) on a quotient graph: an
// eliminated vertex becomes an element that stands for the clique it leaves; degrees are bounded from above by what the
// elements next to a vertex have outside the newest one. Vertices that cannot be told apart are merged, vertices that
// see nothing but the newest element go with it. A halo of vertices may be there to be seen and not to be ordered
// (Pellegrini, Roman and Amestoy, Concurrency 12, 2000).
#pragma once

#include "plugins/ordering/shared/weighted_graph.hpp"

namespace sextant::plugin::elimination {

class MinimumDegree {
 public:
  // Orders vertices 0 .. own-1 of the graph; the others are halo. The elements and the lists of vertices that they
  // leave are kept in `work_`, which an object keeps for its next graph.
  void order(const WeightedGraph &graph, Vertex own, std::vector<Vertex> &out) {
    begin(graph, own);
    set_dense_aside();
    while (eliminated_ < to_eliminate_) {
      const Vertex pivot = take_least();
      build_element(pivot);
      measure_elements();
      update_degrees(pivot);
      merge_twins();
      finish_element(pivot);
    }
    write(out);
  }

 private:
  using Size = std::int64_t;
  static constexpr Vertex none = -1;
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  // A vertex keeps elements, then vertices, at work_[place_ .. place_ + length_); an element keeps vertices.
  void begin(const WeightedGraph &g, Vertex own) {
    n_ = g.size(), own_ = own;
    const auto n = static_cast<std::size_t>(n_);
    place_.assign(g.start.begin(), g.start.end() - 1);
    length_.resize(n), elements_.assign(n, 0), degree_.resize(n), host_.assign(n, none), stamp_.assign(n, 1);
    weight_ = g.weight;
    next_.assign(n, none), last_.assign(n, none), bucket_.assign(n, none);
    pivots_.clear();
    dense_.clear();
    total_ = to_eliminate_ = eliminated_ = 0;
    used_ = g.edges();
    work_.resize(static_cast<std::size_t>(used_ + used_ / 5 + 2 * n_ + 1));
    std::copy(g.neighbour.begin(), g.neighbour.end(), work_.begin());
    for (Vertex v = 0; v < n_; ++v) {
      length_[at(v)] = static_cast<Vertex>(g.degree(v));
      total_ += weight_[at(v)];
      if (v < own_) to_eliminate_ += weight_[at(v)];
      Size degree = 0;
      g.for_each_neighbour(v, [&](Vertex u) { degree += g.weight[at(u)]; });
      degree_[at(v)] = degree;
    }
    heads_.assign(static_cast<std::size_t>(total_) + 1, none);
    least_ = 0, mark_ = 2, widest_ = 0;
  }

  // Vertices next to a great part of all come last: looking through their lists again and again is what takes long.
  void set_dense_aside() {
    Size limit = 16;
    while (limit * limit < 100 * static_cast<Size>(n_)) limit += limit / 8;
    for (Vertex v = 0; v < own_; ++v)
      if (length_[at(v)] > limit) {
        dense_.push_back(v);
        eliminated_ += weight_[at(v)];
        weight_[at(v)] = 0, elements_[at(v)] = -1;
      } else {
        insert(v, degree_[at(v)]);
      }
  }

  void insert(Vertex v, Size degree) {
    Vertex &head = heads_[at(degree)];
    if (head != none) last_[at(head)] = v;
    next_[at(v)] = head, last_[at(v)] = none, head = v;
    least_ = std::min(least_, degree);
  }
  void remove(Vertex v) {
    const Vertex before = last_[at(v)], after = next_[at(v)];
    if (after != none) last_[at(after)] = before;
    (before != none ? next_[at(before)] : heads_[at(degree_[at(v)])]) = after;
  }
  Vertex take_least() {
    while (heads_[at(least_)] == none) ++least_;
    const Vertex v = heads_[at(least_)];
    remove(v);
    return v;
  }

  // Live lists move to the front; an element's new list needs at most `room`.
  void make_room(Size room) {
    if (used_ + room < static_cast<Size>(work_.size())) return;
    // The first number of each live list names its owner while lists move.
    for (Vertex v = 0; v < n_; ++v)
      if (is_live(v) && length_[at(v)] > 0) {
        Vertex &first = work_[at(place_[at(v)])];
        place_[at(v)] = first;  // kept here meanwhile
        first = -v - 2;
      }
    Size to = 0;
    for (Size from = 0; from < used_;) {
      const Vertex owner = -work_[at(from++)] - 2;
      if (owner < 0) continue;
      work_[at(to)] = static_cast<Vertex>(place_[at(owner)]);
      place_[at(owner)] = to++;
      for (Vertex k = 1; k < length_[at(owner)]; ++k) work_[at(to++)] = work_[at(from++)];
    }
    used_ = to;
    if (used_ + room >= static_cast<Size>(work_.size())) work_.resize(at(2 * (used_ + room)));
  }
  bool is_live(Vertex v) const { return host_[at(v)] == none && (weight_[at(v)] != 0 || elements_[at(v)] == element); }
  static constexpr Vertex element = -2;

  // The pivot's vertices: those of its elements, which it takes in, and its own. Marked by negative weights.
  void build_element(Vertex pivot) {
    make_room(least_ + length_[at(pivot)] + 1);
    const Vertex elements = elements_[at(pivot)];
    pivot_weight_ = weight_[at(pivot)];
    eliminated_ += pivot_weight_;
    weight_[at(pivot)] = -static_cast<std::int32_t>(pivot_weight_);
    Size p = place_[at(pivot)];
    begin_ = elements == 0 ? p : used_;
    end_ = begin_;
    reach_ = 0;
    const Size own_end = p + length_[at(pivot)];
    for (Vertex k = 0; k <= elements; ++k) {
      const bool own = k == elements;
      const Vertex e = own ? pivot : work_[at(p++)];
      Size from = own ? p : place_[at(e)];
      const Size to = own ? own_end : from + length_[at(e)];
      for (; from < to; ++from) {
        const Vertex v = work_[at(from)];
        const std::int32_t weight = weight_[at(v)];
        if (weight <= 0) continue;
        reach_ += weight;
        weight_[at(v)] = -weight;
        work_[at(end_++)] = v;
        if (v < own_) remove(v);
      }
      if (!own) host_[at(e)] = pivot, stamp_[at(e)] = 0;
    }
    if (elements != 0) used_ = end_;
    place_[at(pivot)] = begin_, length_[at(pivot)] = static_cast<Vertex>(end_ - begin_);
    elements_[at(pivot)] = element;
    degree_[at(pivot)] = reach_;
    pivots_.push_back(pivot);
  }

  // stamp_ of every element next to the new one: mark_ + the weight that it has outside.
  void measure_elements() {
    for (Size k = begin_; k < end_; ++k) {
      const Vertex v = work_[at(k)];
      const Size weight = -weight_[at(v)];
      for (Size p = place_[at(v)], end = p + elements_[at(v)]; p < end; ++p) {
        Size &stamp = stamp_[at(work_[at(p)])];
        if (stamp >= mark_)
          stamp -= weight;
        else if (stamp != 0)
          stamp = degree_[at(work_[at(p)])] + mark_ - weight;
      }
    }
  }

  void update_degrees(Vertex pivot) {
    for (Size k = begin_; k < end_; ++k) {
      const Vertex v = work_[at(k)];
      const Size first = place_[at(v)], middle = first + elements_[at(v)], last = first + length_[at(v)];
      Size to = first, degree = 0;
      std::uint64_t key = 0;
      for (Size p = first; p < middle; ++p) {
        const Vertex e = work_[at(p)];
        if (stamp_[at(e)] == 0) continue;
        if (const Size outside = stamp_[at(e)] - mark_; outside > 0)
          degree += outside, key += static_cast<std::uint64_t>(e), work_[at(to++)] = e;
        else
          host_[at(e)] = pivot, stamp_[at(e)] = 0;  // it has nothing that the new element has not
      }
      const Size kept = to;
      for (Size p = middle; p < last; ++p) {
        const Vertex u = work_[at(p)];
        if (weight_[at(u)] <= 0) continue;
        degree += weight_[at(u)], key += static_cast<std::uint64_t>(u), work_[at(to++)] = u;
      }
      if (degree == 0 && v < own_) {
        go_along(v, pivot);
        continue;
      }
      degree_[at(v)] = std::min(degree_[at(v)], degree);
      // The new element goes to the front; there is room, as the pivot or one of its elements stood here.
      work_[at(to)] = work_[at(kept)];
      work_[at(kept)] = work_[at(first)];
      work_[at(first)] = pivot;
      elements_[at(v)] = static_cast<Vertex>(kept - first + 1);
      length_[at(v)] = static_cast<Vertex>(to - first + 1);
      const auto slot = static_cast<Vertex>(key % static_cast<std::uint64_t>(n_));
      next_[at(v)] = bucket_[at(slot)], bucket_[at(slot)] = v, last_[at(v)] = slot;
    }
    degree_[at(pivot)] = reach_;
    widest_ = std::max(widest_, reach_);
    mark_ += widest_;
  }

  void go_along(Vertex v, Vertex pivot) {
    host_[at(v)] = pivot;
    const Size weight = -weight_[at(v)];
    reach_ -= weight, pivot_weight_ += weight, eliminated_ += weight;
    weight_[at(v)] = 0, elements_[at(v)] = -1;
  }

  void merge_twins() {
    for (Size k = begin_; k < end_; ++k) {
      const Vertex v = work_[at(k)];
      if (weight_[at(v)] >= 0) continue;
      const auto slot = at(last_[at(v)]);
      Vertex i = bucket_[slot];
      bucket_[slot] = none;
      for (; i != none && next_[at(i)] != none; i = next_[at(i)], ++mark_) {
        for (Size p = place_[at(i)] + 1, end = place_[at(i)] + length_[at(i)]; p < end; ++p)
          stamp_[at(work_[at(p)])] = mark_;
        for (Vertex before = i, j = next_[at(i)]; j != none; j = next_[at(before)])
          if (are_twins(i, j)) {
            host_[at(j)] = i;
            weight_[at(i)] += weight_[at(j)];  // both negative
            weight_[at(j)] = 0, elements_[at(j)] = -1;
            next_[at(before)] = next_[at(j)];
          } else {
            before = j;
          }
      }
    }
  }
  bool are_twins(Vertex i, Vertex j) const {
    if (length_[at(i)] != length_[at(j)] || elements_[at(i)] != elements_[at(j)] || (i < own_) != (j < own_))
      return false;
    for (Size p = place_[at(j)] + 1, end = place_[at(j)] + length_[at(j)]; p < end; ++p)
      if (stamp_[at(work_[at(p)])] != mark_) return false;
    return true;
  }

  void finish_element(Vertex pivot) {
    Size to = begin_;
    for (Size k = begin_; k < end_; ++k) {
      const Vertex v = work_[at(k)];
      const Size weight = -weight_[at(v)];
      if (weight <= 0) continue;
      weight_[at(v)] = static_cast<std::int32_t>(weight);
      const Size degree = std::min(degree_[at(v)] + reach_ - weight, total_ - eliminated_ - weight);
      degree_[at(v)] = degree;
      if (v < own_) insert(v, degree);
      work_[at(to++)] = v;
    }
    weight_[at(pivot)] = 0;
    length_[at(pivot)] = static_cast<Vertex>(to - begin_);
    if (used_ == end_) used_ = to;
    if (to == begin_) host_[at(pivot)] = pivot, stamp_[at(pivot)] = 0;  // nothing is left of it
  }

  // Pivots in order, each followed by what went with it; dense vertices last.
  void write(std::vector<Vertex> &out) {
    std::vector<Vertex> &number = next_;
    std::fill(number.begin(), number.end(), none);
    for (std::size_t k = 0; k < pivots_.size(); ++k) number[at(pivots_[k])] = static_cast<Vertex>(k);
    std::vector<Vertex> &first = last_;
    first.assign(pivots_.size() + 1, 0);
    for (const Vertex v : dense_) host_[at(v)] = v;
    const auto pivot_of = [&](Vertex v) {
      Vertex top = v;
      while (number[at(top)] == none) top = host_[at(top)];
      for (Vertex up; number[at(v)] == none; v = up) up = host_[at(v)], host_[at(v)] = top;  // for the next that asks
      return number[at(top)];
    };
    std::vector<bool> dense(static_cast<std::size_t>(n_), false);
    for (const Vertex v : dense_) dense[at(v)] = true;
    const auto for_own = [&](auto &&f) {
      for (Vertex v = 0; v < own_; ++v)
        if (!dense[at(v)]) f(v, pivot_of(v));
    };
    for_own([&](Vertex, Vertex pivot) { ++first[at(pivot) + 1]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    out.resize(static_cast<std::size_t>(own_));
    for_own([&](Vertex v, Vertex pivot) { out[at(first[at(pivot)]++)] = v; });
    std::copy(dense_.begin(), dense_.end(), out.end() - static_cast<std::ptrdiff_t>(dense_.size()));
  }

  Vertex n_ = 0, own_ = 0;
  Size total_ = 0, to_eliminate_ = 0, eliminated_ = 0, used_ = 0, least_ = 0, mark_ = 2, widest_ = 0;
  Size begin_ = 0, end_ = 0, reach_ = 0, pivot_weight_ = 0;  // of the newest element
  std::vector<Size> place_, degree_, stamp_;
  std::vector<Vertex> work_, length_, elements_, host_, next_, last_, heads_, bucket_, pivots_, dense_;
  std::vector<std::int32_t> weight_;
};

}  // namespace sextant::plugin::elimination
