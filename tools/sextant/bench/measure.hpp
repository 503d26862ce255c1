// SPDX-License-Identifier: BSD-3-Clause
// Times several ways of doing the same thing in turns, so that disturbances affect all alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report/output.hpp"

namespace tool {

// One way of doing it. The first contender of a group is the textbook, with whose result the others are compared.
struct Contender {
  std::string name;
  std::function<void()> run;
  // How far its result is from the textbook's, relative to it, after a run; empty: not compared.
  std::function<double()> error;
  bool peer = false;         // another library's; the others are ours
  bool own_threads = false;  // its threads may spin after a run: the next contender waits for them
  double predicted_seconds = 0;
  double setup_seconds = 0;
  double bytes = 0;               // of its own storage and operands; 0: the least of the operation
  std::function<Json()> details;  // further keys of its row, asked after measuring
  std::shared_ptr<void> keep;     // what run needs
  // Filled by measure.
  double seconds = 0;  // median of one run
  double spread = 0;   // (third quartile - first quartile) / median
  double result_error = 0;
  std::string failure;  // why it was not measured: its first run failed, or gave a wrong result
};

// Runs every contender once and compares its result, warms it up, then takes `repeat` samples of each in turn, the
// order rotating. A sample is as many runs as last about half a millisecond, after one that is not timed.
void measure(std::vector<Contender> &contenders, int repeat);

// Seconds that f takes.
double seconds_of(const std::function<void()> &f);

}  // namespace tool
