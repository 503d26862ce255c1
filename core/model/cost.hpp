// SPDX-License-Identifier: BSD-3-Clause
// Predicted seconds of a candidate: by the model fitted for it on this machine where the profile has one, else from its
// physical terms and the machine's analytic coefficients.
#pragma once

#include <array>
#include <cstdint>

#include "core/model/profile.hpp"
#include "sextant/plugin/plugin.h"

namespace sextant {

struct Prediction {
  double seconds = 0;    // NaN or infinite: no usable estimate
  double rel_error = 0;  // of seconds, relative: nine in ten runs are within it
  double setup_s = 0;    // of prepare, as predict_setup says
};

// Without a profile an analytic estimate is trusted to about a factor of 1.5.
inline constexpr double analytic_rel_error = 0.5;

// known: the model saw all the features it asked for, else nothing is corrected by what was measured of similar
// matrices.
Prediction predict(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                   const sxt_machine &machine, const Profile &profile, bool known = true);
// Seconds of prepare: the candidate's own figure, times what calibration found for it.
double predict_setup(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                     const Profile &profile);

// The profile's key of a candidate's model. Types come from the query; a query about a matrix has two.
ModelKey model_key(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate);

// A candidate's terms as a fit sees them, with what the machine alone would say of each.
struct ModelTerms {
  std::uint32_t count = 0;
  // Memory and compute terms are divided by how many times faster the candidate's units are together than one alone:
  // candidates with different numbers of units then share one fit.
  std::array<double, SXT_MAX_TERMS> values{};
  std::array<double, SXT_MAX_TERMS> analytic{};  // seconds of one unit of values[i]
  std::array<Group, SXT_MAX_TERMS> groups{};
};
// A candidate that gives run_s only has one term, "run_s". Count 0: the kernel names fewer terms than it fills.
ModelTerms model_terms(const sxt_kernel &kernel, const sxt_query &query, const sxt_candidate &candidate,
                       const sxt_machine &machine);
// "stream_bytes" of kernel.term_names, or "run_s".
const char *term_name(const sxt_kernel &kernel, std::uint32_t i);

// Bytes a second at which `units` units stream a working set of so many bytes, from whichever level holds it.
double stream_rate(const sxt_machine &machine, double working_set_bytes, double units);

}  // namespace sextant
