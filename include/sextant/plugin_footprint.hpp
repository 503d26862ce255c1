// SPDX-License-Identifier: BSD-3-Clause
// How many lines of x consecutive entries touch, and what a cache can therefore keep of it. For feature kernels on any
// device.
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

  // A walk met `lines` distinct lines in its first 2^power entries, or in all of the matrix (power -1).
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
    double w0 = 0, f0 = 0, slope = 0;
    for (int i = 0; i < capacity; ++i) {
      if (!points_[i].walks) continue;
      const double w1 = window_of(i), f1 = std::max(f0, points_[i].sum / points_[i].walks);
      if (w1 <= w0) continue;
      slope = (f1 - f0) / (w1 - w0);
      if (window <= w1) return f0 + slope * (window - w0);
      w0 = w1, f0 = f1;
    }
    return std::min(f0 + slope * (window - w0), std::max(most_lines_, f0));
  }

  // The window in which x fills so many bytes; all entries where it never does.
  double window_of_bytes(double bytes) const {
    if (entries_ == 0 || line_bytes_ * lines(entries_) <= bytes) return entries_;
    double low = 0, high = entries_;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (line_bytes_ * lines(middle) < bytes ? low : high) = middle;
    }
    return low;
  }

  // The fraction of entries whose line is not among those that the window before them touched.
  double new_lines(double window) const {
    double w0 = 0, f0 = 0, slope = 0;
    for (int i = 0; i < capacity; ++i) {
      if (!points_[i].walks) continue;
      const double w1 = window_of(i), f1 = std::max(f0, points_[i].sum / points_[i].walks);
      if (w1 <= w0) continue;
      slope = (f1 - f0) / (w1 - w0);
      if (window < w1) break;
      w0 = w1, f0 = f1;
    }
    if (window > w0 && f0 + slope * (window - w0) >= std::max(most_lines_, f0)) return 0;
    return std::clamp(slope, 0.0, 1.0);
  }

  // Misses an entry in a cache of so many bytes, when all of the matrix passes again and again. 0: all of it stays.
  double misses(double cache_bytes, double entry_bytes) const {
    const auto bytes = [&](double window) { return window * entry_bytes + line_bytes_ * lines(window); };
    if (entries_ == 0 || bytes(entries_) <= cache_bytes) return 0;
    double low = 0, high = entries_;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (bytes(middle) < cache_bytes ? low : high) = middle;
    }
    return new_lines(low);
  }

 private:
  struct Point {
    double sum = 0;
    int walks = 0;
  };
  double window_of(int i) const {
    return i == capacity - 1 ? entries_ : static_cast<double>(std::int64_t{1} << (first_power + i));
  }
  Point points_[capacity];
  double entries_ = 0, most_lines_ = std::numeric_limits<double>::infinity(), line_bytes_;
};

}  // namespace sextant::plugin
