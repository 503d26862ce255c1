// SPDX-License-Identifier: BSD-3-Clause
// Thread-local data of modules that came by dlopen. glibc makes it when a thread first uses it, and ends the process
// where there is no memory for it; a throw uses some, the C++ runtime's, of which a module may have a copy of its own.
// Here it is made beforehand, where a shortage can still be told.
#pragma once

namespace sextant::thread_storage {

// Threads are to have the data of the module that this address lies in.
void add(const void *address) noexcept;
// Makes what the calling thread lacks. False: memory is short; a later call tries again.
bool ready() noexcept;

}  // namespace sextant::thread_storage
