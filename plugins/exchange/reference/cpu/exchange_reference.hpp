// SPDX-License-Identifier: BSD-3-Clause
// The reference kernels of kinds sxt.exchange/1 and sxt.rendezvous/1, and the kinds.
#pragma once

#include "sextant/plugin/kinds/alike.h"
#include "sextant/plugin/kinds/exchange.h"
#include "sextant/plugin/kinds/rendezvous.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::exchange_reference {

extern const sxt_kernel kernel, rendezvous_kernel;
extern const sxt_kind_alike kind;
extern const sxt_kind rendezvous_kind;

}  // namespace sextant::exchange_reference
