// SPDX-License-Identifier: BSD-3-Clause
// What the process has launched, as JSON: docs/retune.md lists the keys.
#pragma once

#include <string>

namespace sextant::retune {

std::string report_text();

}  // namespace sextant::retune
