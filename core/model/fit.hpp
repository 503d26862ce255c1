// SPDX-License-Identifier: BSD-3-Clause
// Fitted models of run time: non-negative coefficients of physical terms in relative error, as a sum or a soft maximum
// of memory and compute, with at most two breakpoints on the working set. What form and which breakpoints is decided by
// cross-validation whose folds keep neighbours together.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/model/fit_curve.hpp"
#include "core/model/fit_neighbours.hpp"
#include "sextant/plugin/plugin.h"

namespace sextant {

enum class Group { latency, memory, compute, tail };
inline constexpr int group_count = 4;
// Group of a term: that of SXT_TERM_TABLE, or what its name begins with ("latency.x"), or memory.
Group group_of(const char *term);

// latency + (memory^p + compute^p + tail^p)^(1/p), each a sum of coefficient * term; tail: what the busiest worker has
// to do, which goes on beside all that the others do. Below, between and above the breakpoints
// memory and compute have coefficients of their own, blended over one octave so that predictions are continuous;
// latency has the same everywhere.
struct FittedModel {
  double power = 1;                               // p: 1 is the plain sum, infinity the maximum
  std::vector<std::string> names;                 // of the terms, in the kernel's order
  std::vector<Group> groups;                      // of the names; empty: to be looked up each time
  std::vector<double> breakpoints;                // bytes of working set, increasing, at most two
  std::vector<std::vector<double>> coefficients;  // [regime][term], seconds a unit
  Curve curve;                                    // what measurements add, where the model is over one length
  Neighbours neighbours;                          // what they correct, where it is over matrices
  double median_error = 0, p90_error = 0;         // cross-validated, relative
  double scatter = 0;                             // one sigma of prediction / measured - 1, cross-validated
  std::int64_t samples = 0;                       // 0: only the set-up was measured
  double setup_factor = 1;                        // measured set-up over the candidate's own figure
  std::int64_t setup_samples = 0;

  double evaluate(const double *terms, double working_set_bytes) const;
  // Without what measurements of similar matrices correct; and without a curve.
  double uncorrected(const double *terms, double working_set_bytes) const {
    return form(terms, working_set_bytes) + curve.at(working_set_bytes);
  }
  double form(const double *terms, double working_set_bytes) const;
  // Whether all its numbers are, but the power, which may be infinite.
  bool finite() const;
};

struct Sample {
  std::array<double, SXT_MAX_TERMS> terms{};
  double working_set = 0;                // bytes
  double seconds = 0;                    // measured
  int family = 0;                        // samples of one family are never in the fit that predicts them
  std::array<std::int64_t, 4> launch{};  // what follows only tells people where a sample comes from
  double rows = 0, entries = 0;          // of the matrix, or 0 and the length
  double weight = 1;                     // in the fit
};

struct FitProblem {
  std::vector<std::string> names;
  std::vector<double> prior;  // what each coefficient would be without measurements; 0: unknown
  std::vector<Sample> samples;
  // Of the kernel's other classes, whose terms cost about as much: they help where a class has few samples of its own.
  std::vector<Sample> kin;
  bool over_matrices = false;    // residuals of samples with similar terms may correct the form
  bool over_one_length = false;  // equal working sets have equal terms: residuals of neighbours may correct the form
};

// Samples whose time is not positive and finite are ignored. Too few for their terms, and no kin, give the prior times
// one factor.
// samples == 0 in the result: nothing could be fitted.
FittedModel fit(const FitProblem &problem);

// Minimises |A c - 1|^2 over c >= 0 with weights, by the active set method of Lawson and Hanson (1974) on the normal
// equations. rows: one vector of coefficients of c for each equation, already divided by its measured value.
std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>> &rows,
                                              const std::vector<double> &weights,
                                              const std::vector<double> &prior = {});

}  // namespace sextant
