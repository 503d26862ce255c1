// SPDX-License-Identifier: BSD-3-Clause
// Where workers may run: wherever the process may, or, where the user binds OpenMP's threads, at the places given to
// them.
#pragma once

#include <sched.h>

namespace sextant::threads {

// Processors that the process may use.
int processors();

// The place of worker `number`, the caller being at the first one. False: no place is demanded.
bool place_of_worker(int number, cpu_set_t *place);

}  // namespace sextant::threads
