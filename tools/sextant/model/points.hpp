// SPDX-License-Identifier: BSD-3-Clause
// The points of a set: what the model of one kernel sees of each, and a measurement.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/trial.hpp"

namespace tool {

// A kernel whose model is built, of those that are loaded.
struct ModelledKernel {
  std::string name, kind;
  const PointSource *source = nullptr;
};
// Those that can be, of products first, by kind and name; references are left out. Plugins are loaded by then.
std::vector<ModelledKernel> modelled_kernels();
// Throws where the kernel is not loaded, or of a kind whose models are not built here.
ModelledKernel modelled_kernel(const std::string &name);

// Every point to which the kernel applies, with what its model sees; nothing is measured or built. Only those of the
// model class that most of them have: a model is of one class. Throws where the kernel applies nowhere, or has no model
// of its own. Each problem is made for it: after each `stop` is asked whether those so far are to do.
std::vector<ModelPoint> points_of(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set,
                                  const std::function<bool()> &stop);
// What the models in use in this context predict for a point of any; NaN where the kernel does not apply.
double predicted_seconds(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set,
                         const ModelPoint &point);
// Measures one. Returns why it could not, "" where it was measured. Throws where the device failed.
std::string measure(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set, double seconds,
                    ModelPoint &point);

}  // namespace tool
