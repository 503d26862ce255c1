// SPDX-License-Identifier: BSD-3-Clause
// Points that are matrices: generated ones of several families and sizes, or files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/trial.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace tool {

class MatrixPoints : public PointSource {
 public:
  // most_entries: of a generated matrix.
  explicit MatrixPoints(double most_entries) : most_entries_(most_entries) {}
  bool of_matrices() const override { return true; }
  std::vector<ModelPoint> places(const ModelSet &set) const override;

 protected:
  // Fills in the point's name, rows and entries.
  static Matrix matrix_at(sxt_context *context, const ModelSet &set, ModelPoint &point);

 private:
  double most_entries_;
};

// A query about a matrix, whose sizes the library fills in. kind: lives as long as the query.
template <class Q>
void begin_query(Q &query, sxt_matrix_query &m, const std::string &kind, sxt_value_type type, double runs) {
  m.q.h = {sizeof query, kind.c_str()};
  m.q.expected_runs = runs;
  m.q.flags = SXT_QUERY_MATRIX;
  m.q.value_type = type;
}

}  // namespace tool
