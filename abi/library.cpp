// SPDX-License-Identifier: BSD-3-Clause
// Version, statuses, reasons.
#include "abi/handles.hpp"

#define SXT_STRING2(x) #x
#define SXT_STRING(x) SXT_STRING2(x)

void sxt_version(int32_t *major, int32_t *minor, int32_t *patch) {
  if (major) *major = SXT_VERSION_MAJOR;
  if (minor) *minor = SXT_VERSION_MINOR;
  if (patch) *patch = SXT_VERSION_PATCH;
}

const char *sxt_version_string(void) {
  return SXT_STRING(SXT_VERSION_MAJOR) "." SXT_STRING(SXT_VERSION_MINOR) "." SXT_STRING(SXT_VERSION_PATCH);
}

const char *sxt_status_name(sxt_status status) { return sextant::status_name(status); }
const char *sxt_status_sentence(sxt_status status) { return sextant::status_sentence(status); }
const char *sxt_reason_name(sxt_reason reason) { return sextant::reason_name(reason); }
const char *sxt_reason_sentence(sxt_reason reason) { return sextant::reason_sentence(reason); }
