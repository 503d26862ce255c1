// SPDX-License-Identifier: BSD-3-Clause
// Calibration: measures this machine and its kernels on synthetic problems, within a time budget, and fits their
// models.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/model/profile.hpp"

namespace sextant {

class Context;

struct CalibrationSettings {
  double seconds = 90;        // all of it; what has been measured when they are over is fitted
  double most_bytes = 256e6;  // of one synthetic problem
  std::string kind;           // "": storages, products, vector operations, reductions; else this kind alone
  // Part done (0 to 1), what is being measured, seconds left. Non-zero: stop and fit what is there.
  std::function<int(double, const std::string &, double)> progress;
  // Told of every run that was measured, and what its model, now fitted, says of it.
  std::function<void(const ModelKey &, const FittedModel &, const Sample &, double)> sample;
  // What the measured models are to be merged into. Those of it that predict what is measured now no worse than the new
  // ones predict what they have not seen stay.
  std::shared_ptr<const Profile> known;
};

// The profile that was measured; not yet written anywhere. Throws SXT_E_UNKNOWN_NAME for a kind that is not loaded.
// Nothing else may run in the context meanwhile. cancelled, if given, tells whether progress stopped it.
Profile calibrate(Context &context, const CalibrationSettings &settings, bool *cancelled = nullptr);

}  // namespace sextant
