// SPDX-License-Identifier: BSD-3-Clause
// Which kernel tells the truth: that of b - A x by which alone an answer is judged. It comes from the directory beside
// the library and reads CSR that the library's own kernel built. No plan, no force, no environment and no plugin of a
// third party can change its choice, for any name and version.
#pragma once

#include <string>

#include "core/run/choice.hpp"

namespace sextant {

class Matrix;

// For so many expected runs; passed_over: why a forced kernel was not taken, or "". Throws SXT_E_NO_KERNEL where no
// such kernel came with the library. [any-thread]
ChoicePtr choose_truth(Matrix &matrix, double runs, const std::string &role, std::string &passed_over);

}  // namespace sextant
