// SPDX-License-Identifier: BSD-3-Clause
// The driver's functions that are substituted, known by the addresses that the driver itself gives for them.
#pragma once

#include <utility>
#include <vector>

#include "hook/driver.hpp"

namespace sextant::retune {

// Whether the name is one that is substituted.
bool is_entry(const char *name);
// Ours for an address that is known as one of the driver's, else the address itself.
void *substitute(void *address);
// How often each was handed out.
std::vector<std::pair<const char *, int>> handed_out();
// Whether the address is one of the functions that this library exports.
bool is_export(const void *address);
// Functions of the driver; null before it is loaded.
const driver::Calls *driver_calls();

}  // namespace sextant::retune
