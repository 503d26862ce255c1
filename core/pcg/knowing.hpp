// SPDX-License-Identifier: BSD-3-Clause
// What it is worth to a choice to know how often its kernel will run.
#pragma once

#include <span>

#include "core/run/choice.hpp"

namespace sextant {

// The seconds that a choice made for `assumed` iterations loses on average to one that knew how many there are: over
// numbers up to so many octaves below and above the expected one, each twice the one before and all as likely (the
// expected value of perfect information). Runs were priced for `assumed` iterations, and there are `solves` of them.
// Infinite where nothing was chosen.
double value_of_knowing(std::span<const Considered> considered, double assumed, double expected, double solves,
                        int octaves);

}  // namespace sextant
