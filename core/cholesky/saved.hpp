// SPDX-License-Identifier: BSD-3-Clause
// Orders of elimination in files, so that the next process need not search for them.
#pragma once

#include <memory>
#include <string>

#include "core/cholesky/analysis.hpp"

namespace sextant::cholesky {

// Throws SXT_E_FILE_WRITE.
void save_analysis(const Analysis &analysis, const std::string &path);
// settings: without an order or widths of their own. Throws SXT_E_FILE_READ, SXT_E_PLAN where the file is damaged or
// made of another pattern.
std::shared_ptr<Analysis> load_analysis(std::shared_ptr<Matrix> matrix, const Settings &settings,
                                        const std::string &path);

}  // namespace sextant::cholesky
