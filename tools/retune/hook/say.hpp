// SPDX-License-Identifier: BSD-3-Clause
// The hook's few words: one line each on the stderr that the program was started with, and nothing once that is closed.
#pragma once

#include <string>

namespace sextant::retune {

void remember_stderr();
void say(const std::string &sentence);

}  // namespace sextant::retune
