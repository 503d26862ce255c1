// SPDX-License-Identifier: BSD-3-Clause
// The number of devices, and the analytic description of one.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/device.h"

namespace sextant::device_cuda {

// 0 with the reason when there is no driver, none that suits, or no device.
// failed: set where the driver failed, rather than having no device.
std::int32_t count_devices(sxt_message *why_none, bool *failed = nullptr);

// Fills out from the device's attributes; SXT_E_DEVICE with a sentence when one is missing.
sxt_status describe_device(const sxt_host *host, std::int32_t ordinal, sxt_machine *out);

}  // namespace sextant::device_cuda
