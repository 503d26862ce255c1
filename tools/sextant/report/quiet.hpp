// SPDX-License-Identifier: BSD-3-Clause
// --quiet: no progress, on a terminal or elsewhere.
#pragma once

namespace tool {

// From now on no Progress is visible, and no Waiting tells anything.
void silence_progress();
bool progress_is_silenced();

}  // namespace tool
