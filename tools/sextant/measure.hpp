// SPDX-License-Identifier: BSD-3-Clause
// Times several ways of doing the same thing side by side, so that what disturbs one disturbs all.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tool {

// One way of doing it. The first contender of a group is the peer that the others are compared with.
struct Contender {
  std::string name;
  std::function<void()> run;
  // How far its result is from the peer's, relative to it, after a run; empty: not compared.
  std::function<double()> error;
  double predicted_seconds = 0;
  // Filled by measure.
  double seconds = 0;  // median of one run
  double spread = 0;   // (third quartile - first quartile) / median
  double result_error = 0;
  std::string failure;  // why its first run failed; it is then not measured
};

// Runs every contender once and compares its result, warms it up, then takes `repeat` samples of each in turn, the
// order rotating. A sample is as many runs as last about half a millisecond.
void measure(std::vector<Contender> &contenders, int repeat);

}  // namespace tool
