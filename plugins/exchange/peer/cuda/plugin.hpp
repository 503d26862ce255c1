// SPDX-License-Identifier: BSD-3-Clause
// What the files of this plugin share.
#pragma once

#include "sextant/sdk/kernel.hpp"

namespace sextant::exchange_cuda {

extern const sxt_kernel rendezvous_kernel;

}  // namespace sextant::exchange_cuda
