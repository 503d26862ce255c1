// SPDX-License-Identifier: BSD-3-Clause
// The points of a set: products of one kernel with generated matrices, what its model sees of each, and a measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "commands/generate.hpp"
#include "core/model/fit.hpp"
#include "input/handle.hpp"
#include "input/matrix_input.hpp"

namespace tool {

struct ModelPoint {
  std::string name;  // of the matrix
  std::string generator;
  std::int64_t rows = 0;   // asked of the generator
  sextant::Sample sample;  // terms and working set; seconds once it is measured
  std::vector<double> analytic;
  double before_s = 0;                                           // predicted by the models in use
  double compared_s = std::numeric_limits<double>::quiet_NaN();  // and by another profile, where one was named
  std::uint32_t version = 0, model_class = 0;
  std::vector<std::string> terms;
  std::string vector_type, matrix_type;
  bool measured = false;
  double noise = 0;
};

struct ModelSet {
  std::string generate;  // names with commas; "" for all that there are
  bool full = false;     // larger matrices, and more sizes
  sxt_value_type type = SXT_F64;
};

// Every point to which the kernel applies, with what its model sees; nothing is measured or built. Only those of the
// model class that most of them have: a model is of one class. Throws where the kernel is not loaded, is of another
// kind than products, or applies nowhere. Each matrix is made for it: after each `stop` is asked whether those so far
// are to do.
std::vector<ModelPoint> points_of(sxt_context *context, const std::string &kernel, const ModelSet &set,
                                  const std::function<bool()> &stop);
// What the models in use in this context predict for a point of any; NaN where the kernel does not apply.
double predicted_seconds(sxt_context *context, const std::string &kernel, const ModelSet &set, const ModelPoint &point);
// Measures one. Returns why it could not, "" where it was measured.
std::string measure(sxt_context *context, const std::string &kernel, const ModelSet &set, double seconds,
                    ModelPoint &point);

}  // namespace tool
