// SPDX-License-Identifier: BSD-3-Clause
// The monitor of engines that test every iterate, under the names that the recurrences use.
#pragma once

#include "plugins/pcg/shared/monitor.hpp"

namespace host_loop {

using sextant::plugin::pcg::Monitor;
using sextant::plugin::pcg::Next;

}  // namespace host_loop
