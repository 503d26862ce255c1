// SPDX-License-Identifier: BSD-3-Clause
// The number of lines of x that consecutive entries touch, and the share that a cache can keep. For feature kernels on
// any device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sextant::plugin {

// f(w), the distinct lines among w consecutive entries, at w = 0, 512, 1024, 2048, ...; one point more where the matrix
// ends between two of these. Sums over several walks are kept, so that points are means.
class Footprint {
 public:
  static constexpr int first_power = 9, capacity = 24;
  explicit Footprint(double line_bytes = 64) : line_bytes_(line_bytes) {}

  // A walk touched `lines` distinct lines in its first 2^power entries, or in all of the matrix (power -1).
  void add(int power, double lines) {
    Point &point = points_[power < 0 ? capacity - 1 : power - first_power];
    point.sum += lines;
    ++point.walks;
  }
  void merge(const Footprint &other) {
    for (int i = 0; i < capacity; ++i) {
      points_[i].sum += other.points_[i].sum;
      points_[i].walks += other.points_[i].walks;
    }
  }
  void set_entries(double entries) { entries_ = entries; }
  // All lines of x: no window touches more.
  void set_most_lines(double lines) { most_lines_ = lines; }

  // Interpolated between the points that were measured; constant slope beyond the last, as far as x reaches.
  double lines(double window) const {
    const Piece p = piece([=](double w1, double) { return window <= w1; });
    const double f = p.f0 + p.slope * (window - p.w0);
    return p.open ? std::min(f, limit(p)) : f;
  }

  // The window in which x fills this many bytes; all entries where it never does.
  double window_of_bytes(double bytes) const {
    const double full = bytes / line_bytes_;
    if (entries_ == 0 || lines(entries_) <= full) return entries_;
    const Piece p = piece([=](double, double f1) { return f1 >= full; });
    return p.w0 + (full - p.f0) / p.slope;
  }

  // The fraction of entries whose line is not among those that the window before them touched.
  double new_lines(double window) const {
    return new_lines(piece([=](double w1, double) { return window < w1; }), window);
  }

  // Misses an entry in a cache of this many bytes, when the whole matrix is streamed repeatedly. 0: all of it stays.
  double misses(double cache_bytes, double entry_bytes) const {
    const auto bytes = [&](double window, double lines) { return window * entry_bytes + line_bytes_ * lines; };
    if (entries_ == 0 || bytes(entries_, lines(entries_)) <= cache_bytes) return 0;
    const Piece p = piece([&](double w1, double f1) { return bytes(w1, f1) >= cache_bytes; });
    return new_lines(p, p.w0 + (cache_bytes - bytes(p.w0, p.f0)) / (entry_bytes + line_bytes_ * p.slope));
  }

 private:
  struct Point {
    double sum = 0;
    int walks = 0;
  };
  // The linear piece of f from a point.
  struct Piece {
    double w0, f0, slope;
    bool open;  // beyond the last point
  };
  // The first piece for whose end w1, f1 ends(w1, f1) holds; the one beyond the last point if it holds for none.
  template <class Ends>
  Piece piece(Ends &&ends) const {
    Piece p{};
    double w = 0, f = 0;
    for (int i = 0; i < capacity; ++i) {
      if (!points_[i].walks) continue;
      const double w1 = window_of(i), f1 = std::max(f, points_[i].sum / points_[i].walks);
      if (w1 <= w) continue;
      p = {w, f, (f1 - f) / (w1 - w), false};
      if (ends(w1, f1)) return p;
      w = w1, f = f1;
    }
    return {w, f, p.slope, true};
  }
  // No window touches more than all lines of x, which the points themselves may have overshot.
  double limit(const Piece &p) const { return std::max(most_lines_, p.f0); }
  double new_lines(const Piece &p, double window) const {
    const bool all = window > p.w0 && p.f0 + p.slope * (window - p.w0) >= limit(p);
    return all ? 0 : std::clamp(p.slope, 0.0, 1.0);
  }
  double window_of(int i) const {
    return i == capacity - 1 ? entries_ : static_cast<double>(std::int64_t{1} << (first_power + i));
  }
  Point points_[capacity];
  double entries_ = 0, most_lines_ = std::numeric_limits<double>::infinity(), line_bytes_;
};

}  // namespace sextant::plugin
