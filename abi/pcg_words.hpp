// SPDX-License-Identifier: BSD-3-Clause
// Sentences of conjugate gradients beside a status: what to try where A is not suitable, and lines of the log.
#pragma once

#include <cstdint>
#include <string>

#include "core/pcg/solver.hpp"

namespace sextant::abi {

// What the caller can try where a matrix was refused with this status; "": nothing.
std::string refusal_advice(sxt_status status, const Matrix &matrix);
// What the caller can try where a solve ended for this reason; null_space_size: of the set-up.
std::string ending_advice(sxt_reason reason, std::int64_t null_space_size);

// Lines at SXT_LOG_INFO: what was set up, and how a solve ended.
void log_setup(const PcgSolver &solver);
void log_solve(const PcgSolver &solver, const sxt_pcg_report &report);

}  // namespace sextant::abi
