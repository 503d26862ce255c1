// SPDX-License-Identifier: BSD-3-Clause
// hermitian.panel.cuda for f32.
#include "panel_launch.cuh"

namespace sextant::hermitian_panel {

template std::int64_t shared_bytes<float>();
template sxt_status load_panel<float>(const sxt_exec *);
template sxt_status enqueue_panel<float>(const Set &, const std::int32_t *, std::int32_t, bool, int, const sxt_exec *);

}  // namespace sextant::hermitian_panel
