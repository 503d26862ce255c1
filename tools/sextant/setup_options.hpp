// SPDX-License-Identifier: BSD-3-Clause
// What a set-up of conjugate gradients may cost, and whether its matrix may be renumbered: options that solve and
// explain share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "sextant/sextant.h"

namespace tool {

struct SetupOptions {
  std::string reorder = "auto";
  double expected_solves = 1;

  void add(CLI::App &app, const std::string &group) {
    app.add_option("--reorder", reorder, "Rows of A in another order: auto, never or always")
        ->group(group)
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "never", "always"}));
    app.add_option("--expected-solves", expected_solves, "How often the set-up will serve: it may cost the more")
        ->group(group)
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
  }
  void apply(sxt_pcg_options &native) const {
    native.reorder = reorder == "auto" ? 0 : reorder == "never" ? -1 : 1;
    native.expected_solves = expected_solves;
  }
};

}  // namespace tool
