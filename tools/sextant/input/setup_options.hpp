// SPDX-License-Identifier: BSD-3-Clause
// Options that solve and explain share: the cost that a set-up of conjugate gradients may have, and properties of its
// matrix.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "input/hints.hpp"
#include "input/numbers.hpp"
#include "sextant/sextant.h"

namespace tool {

struct SetupOptions {
  std::string reorder = "auto", null_space = "none";
  double expected_solves = 1, symmetry_tolerance = 0;
  bool assume_symmetric = false;

  void add(CLI::App &app, const std::string &group) {
    app.add_option("--reorder", reorder, "Rows of A in another order: auto, never or always")
        ->group(group)
        ->capture_default_str()
        ->check(one_of({"auto", "never", "always"}));
    app.add_option("--null-space", null_space, "What A turns into 0: none, or constant vectors, which are left out")
        ->group(group)
        ->capture_default_str()
        ->check(one_of({"none", "constant"}));
    app.add_option("--expected-solves", expected_solves, "How often the set-up will serve: it may cost the more")
        ->group(group)
        ->capture_default_str()
        ->check(positive_number());
    app.add_option("--symmetry-tolerance", symmetry_tolerance,
                   "How far a_ij and a_ji may lie apart, over sqrt(a_ii a_jj); 0: as far as rounding explains")
        ->group(group)
        ->capture_default_str()
        ->check(number_from_zero());
    app.add_flag("--assume-symmetric", assume_symmetric, "Do not compare A with its transpose")->group(group);
  }
  void apply(sxt_pcg_options &native) const {
    native.reorder = reorder == "auto" ? 0 : reorder == "never" ? -1 : 1;
    native.null_space_size = null_space == "constant" ? 1 : 0;
    native.expected_solves = expected_solves;
    native.symmetry_tolerance = symmetry_tolerance;
    native.check_symmetry = assume_symmetric ? 0 : 1;
  }
};

}  // namespace tool
