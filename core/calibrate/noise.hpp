// SPDX-License-Identifier: BSD-3-Clause
// How quiet a machine was while it was measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sextant {

struct Noise {
  double repeats = 0;  // quartile distance of the same work repeated at once, over the median; of the usual look
  double drift = 0;    // of its time over the calibration: slowest tenth over fastest, less 1
  double stolen = 0;  // share of the time in which this thread could have run and did not: other programs, other guests
  bool quiet() const;
  std::string text() const;
  std::map<std::string, double> numbers() const;  // as a profile keeps them
};

// Runs the same piece of work from time to time, from one thread.
class NoiseWatch {
 public:
  NoiseWatch();
  void look();  // some ten microseconds of work, nine times
  Noise found() const;

 private:
  struct Times {
    double ran = 0, waited = 0, stolen = 0, all = 0;  // of this thread in seconds; of the machine in ticks
  };
  static Times times_now();
  const Times begin_;
  std::vector<double> medians_, spreads_;  // of every look
  std::vector<double> numbers_;            // that the work is done on
};

}  // namespace sextant
