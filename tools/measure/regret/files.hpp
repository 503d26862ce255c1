// SPDX-License-Identifier: BSD-3-Clause
// Measurements of gpu_regret on disk: one line a candidate and length, for studies of models without a GPU.
#pragma once

#include <string>
#include <vector>

#include "core/context/context.hpp"
#include "points.hpp"

namespace regret {

void write_csv(const std::string &path, const std::vector<Subject> &subjects);

// Adds the points of a file to these subjects; lines of other subjects, and of candidates that are no longer offered,
// are skipped. Returns how many were.
int read_csv(sextant::Context &context, const std::string &path, std::vector<Subject> &subjects);

// Fits models to the measurements of a file; they replace those of the context and are written to `profile`, if one is
// named.
void learn(sextant::Context &context, const std::string &csv, const std::string &profile);

}  // namespace regret
