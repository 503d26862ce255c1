// SPDX-License-Identifier: BSD-3-Clause
// hermitian.panel.cuda for f64.
#include "panel_launch.cuh"

namespace sextant::hermitian_panel {

template std::int64_t shared_bytes<double>();
template sxt_status load_panel<double>(const sxt_exec *);
template sxt_status enqueue_panel<double>(const Set &, const std::int32_t *, std::int32_t, bool, int, const sxt_exec *);

}  // namespace sextant::hermitian_panel
