// SPDX-License-Identifier: BSD-3-Clause
// Predicted seconds of a candidate: from its physical terms and the machine's analytic coefficients, corrected by the
// machine profile where it knows the kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sextant/plugin.h"

namespace sextant {

struct Prediction {
  double seconds = 0;    // NaN or infinite: no usable estimate
  double rel_error = 0;  // one sigma of seconds, relative
};

// What a profile file may say: machine numbers that replace analytic ones, and one factor a kernel.
struct Profile {
  std::string path;                       // "" for none
  std::map<std::string, double> machine;  // names of sxt_machine's numbers
  struct Correction {
    double factor = 1;
    double rel_error = 0.15;
  };
  std::map<std::string, Correction> kernels;

  void apply(sxt_machine &machine_numbers) const;
};

// Reads a profile; throws SXT_E_FILE_READ or SXT_E_FILE_FORMAT with "path:line: what".
Profile read_profile(const std::string &path);

// Without a profile an analytic estimate is trusted to about a factor of 1.5.
inline constexpr double analytic_rel_error = 0.5;

Prediction predict(const sxt_kernel &kernel, const sxt_candidate &candidate, const sxt_machine &machine,
                   const Profile &profile, sxt_value_type type);

// Bytes a second at which `units` units stream a working set of so many bytes, from whichever level holds it.
double stream_rate(const sxt_machine &machine, double working_set_bytes, double units);

}  // namespace sextant
