// SPDX-License-Identifier: BSD-3-Clause
// Confirmation: who tells the truth. The kernel of b - A x by which alone a solve is called converged comes from the
// directory beside the library, reads CSR that the library's own kernel built, and nothing else has a say in its
// choice: no plan, no force, no environment, no plugin of a stranger, whatever its name and version. What is done with
// its answers stands in confirm.cpp.
#pragma once

#include <memory>
#include <string>

#include "core/pcg/planning.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

// The kernel alone, for so many expected runs; passed_over: why one that was forced was not taken, or "". Throws as
// build_truth. Any thread.
ChoicePtr choose_truth(Matrix &matrix, double runs, const std::string &role, std::string &passed_over);
// Of the matrix as it was taken in. Throws SXT_E_NO_KERNEL where no such kernel came with the library. Any thread.
std::unique_ptr<Runner> build_truth(const PcgProblem &problem, CostBook &costs, Notes &notes);

}  // namespace sextant
