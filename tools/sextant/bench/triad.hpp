// SPDX-License-Identifier: BSD-3-Clause
// The bandwidth that traffic bounds are stated against, and the machine in words.
#pragma once

#include <cstdint>
#include <string>

namespace tool {

// Bytes a second of a[i] = b[i] + s * c[i] on this many threads and on arrays far larger than the last cache, 24 bytes
// an element; the best of several passes, with ordinary or with non-temporal stores, whichever is faster.
double triad_bandwidth(int threads);
// Bytes of the largest cache; 0 when the system does not say.
std::int64_t last_cache_bytes();
// "Intel(R) Xeon(R) ..." as the system calls it; "" when it does not.
std::string processor_name();

}  // namespace tool
