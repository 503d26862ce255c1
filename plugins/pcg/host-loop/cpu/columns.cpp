// SPDX-License-Identifier: BSD-3-Clause
#include "columns.hpp"

#include <array>
#include <complex>

#include "plugins/pcg/shared/columns.hpp"
#include "session.hpp"

namespace host_loop {

namespace plugin = sextant::plugin;

sxt_status run_columns(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  return plugin::guard(exec, [&] {
    const State &state = *static_cast<const State *>(opaque);
    const auto &session = *static_cast<const Session *>(opened);
    std::array<std::complex<double>, plugin::pcg::columns_results> results{};  // of any type
    return plugin::pcg::run_columns({state.type, state.n, state.preconditioned, state.columns, &session.parts(),
                                     static_cast<char *>(session.vector(0)), session.stride(), results.data(), false},
                                    head, exec);
  });
}

}  // namespace host_loop
