// SPDX-License-Identifier: BSD-3-Clause
// The parts of an iteration are those that all engines with slots have; nothing is demanded of them.
#pragma once

#include "plugins/pcg/shared/parts.hpp"

namespace host_loop {

using sextant::plugin::pcg::collect;
using sextant::plugin::pcg::Parts;
using sextant::plugin::pcg::Recurrence;

inline const Recurrence &recurrence(std::int32_t id) { return sextant::plugin::pcg::recurrence<0>(id); }

}  // namespace host_loop
