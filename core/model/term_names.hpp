// SPDX-License-Identifier: BSD-3-Clause
// Names of terms.
#pragma once

namespace sextant {

// Whether a kernel's term is this one of SXT_TERM_TABLE, or a part of it ("flops.wide").
bool is_term(const char *term, const char *standard);

}  // namespace sextant
