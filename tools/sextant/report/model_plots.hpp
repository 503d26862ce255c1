// SPDX-License-Identifier: BSD-3-Clause
// The drawings of verify-model and calibrate: predictions against measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/sextant.h"

namespace tool {

// Predicted over measured time of every candidate, one colour a kernel, with the diagonal and lines 20 % beside it.
std::string verify_svg(const std::vector<sxt_verify_line> &lines, const std::string &title);

// A run that a calibration measured; the library only lends its strings.
struct ModelSample {
  std::string kernel, types;
  std::int64_t model_class = 0;
  double working_set = 0, measured_s = 0, fitted_s = 0;
};
// Bytes of working set per second over the working set: measured runs as marks, their fitted models as lines. kernels:
// which to draw; none: the four with the most samples. Of each one model, in double precision if possible. Throws for a
// kernel without any.
std::string samples_svg(const std::vector<ModelSample> &samples, const std::vector<std::string> &kernels);

}  // namespace tool
