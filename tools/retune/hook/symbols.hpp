// SPDX-License-Identifier: BSD-3-Clause
// Symbols past this library: the next dlsym in the loader's order, and what dlsym hands out for the driver's names.
#pragma once

namespace sextant::retune {

// dlsym and dlvsym of the next library in order: another interposer's, or the system's.
void *next_dlsym(void *handle, const char *name);
// Whether a library behind this one defines the name.
bool defined_behind(const char *name);
// The driver, where the program has loaded it; it then stays loaded.
void *driver_handle();

}  // namespace sextant::retune
