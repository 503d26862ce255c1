// SPDX-License-Identifier: BSD-3-Clause
// The allocator of this process, which can be told to fail.
#pragma once

namespace failing_malloc {

// Allocations since `begin`, from 1 on, that fail: those from `first` to `last`. Counted while it is on.
void begin(long first, long last);
void pause();
void resume();
long count();

}  // namespace failing_malloc
