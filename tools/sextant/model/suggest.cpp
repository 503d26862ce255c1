// SPDX-License-Identifier: BSD-3-Clause
#include "model/suggest.hpp"

#include <algorithm>
#include <cmath>

#include "core/model/quantile.hpp"

namespace tool {
namespace {

constexpr double ignorance = 100;          // variance of a coefficient before any measurement, relative to its size
constexpr double seconds_an_entry = 2e-7;  // of making a matrix and building a storage

// How much of a point belongs to small working sets and how much to large ones, so that both are measured: coefficients
// may differ between them.
double large_part(double working_set, double least, double most) {
  if (!(most > least) || !(least > 0)) return 0;
  return std::clamp(std::log(working_set / least) / std::log(most / least), 0.0, 1.0);
}

}  // namespace

Design::Design(const std::vector<ModelPoint> &points, double measure_seconds) : done_(points.size(), false) {
  std::vector<double> sizes;
  for (const ModelPoint &point : points) sizes.push_back(point.sample.working_set);
  const double least = sextant::quantile(sizes, 0.1), most = sextant::quantile(sizes, 0.9);
  const std::size_t terms = points.empty() ? 0 : points.front().terms.size();
  for (const ModelPoint &point : points) {
    double total = 0;
    for (std::size_t j = 0; j < terms; ++j) total += point.analytic[j] * point.sample.terms[j];
    const double large = large_part(point.sample.working_set, least, most);
    Row row(2 * terms, 0);
    for (std::size_t j = 0; j < terms; ++j) {
      // Shares of the time, as the machine alone predicts it; a term whose seconds are not known counts a little.
      const double known = total > 0 ? point.analytic[j] * point.sample.terms[j] / total : 0;
      const double share = known > 0 ? known : point.sample.terms[j] > 0 ? 0.1 : 0;
      row[j] = share * (1 - large);
      row[terms + j] = share * large;
    }
    rows_.push_back(std::move(row));
    seconds_.push_back(measure_seconds + seconds_an_entry * point.sample.entries + 10 * point.before_s);
  }
  inverse_.assign(2 * terms, Row(2 * terms, 0));
  for (std::size_t j = 0; j < 2 * terms; ++j) inverse_[j][j] = ignorance;
  Design all = *this;
  for (const Row &row : rows_) all.learn(row);
  in_the_end_ = all.scatter();
}

double Design::along(const Row &a, const Row &b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sum += a[i] * inverse_[i][j] * b[j];
  return sum;
}

std::vector<Suggestion> Design::suggestions() const {
  double total = 0;
  for (const Row &row : rows_) total += along(row, row);
  std::vector<Suggestion> out;
  for (std::size_t p = 0; p < rows_.size(); ++p) {
    if (done_[p]) continue;
    double lowered = 0;
    for (const Row &row : rows_) lowered += std::pow(along(row, rows_[p]), 2);
    out.push_back({p, total > 0 ? lowered / (1 + along(rows_[p], rows_[p])) / total : 0, seconds_[p]});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Suggestion &a, const Suggestion &b) { return a.gain / a.seconds > b.gain / b.seconds; });
  return out;
}

void Design::measured(std::size_t point) {
  done_[point] = true;
  learn(rows_[point]);
}

void Design::learn(const Row &x) {
  Row mx(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) mx[i] += inverse_[i][j] * x[j];
  double scale = 1;
  for (std::size_t i = 0; i < x.size(); ++i) scale += x[i] * mx[i];
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) inverse_[i][j] -= mx[i] * mx[j] / scale;
}

double Design::scatter() const {
  double total = 0;
  for (const Row &row : rows_) total += along(row, row);
  return rows_.empty() ? 1 : std::sqrt(1 + total / static_cast<double>(rows_.size()));
}

double Design::inflation() const { return scatter() / in_the_end_; }

}  // namespace tool
