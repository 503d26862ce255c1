// SPDX-License-Identifier: BSD-3-Clause
#include <complex>

#include "runs.hpp"

namespace sextant_cholesky_tasks {

using namespace sextant::plugin;
using sextant_cholesky::set_of;

sxt_status run_inverse(const Session &session, const sxt_cholesky_args &args, const sxt_exec &exec, int threads) {
  return with_value_type(args.value_type, [&](auto tag) -> sxt_status {
    using T = typename decltype(tag)::type;
    const InverseSpace space = session.inverse_space();
    for (std::int64_t set = 0; set < args.n_sets; ++set) {
      InverseCall<T> call{};
      call.l = set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set);
      call.z = set_of<T>(args.inverse, args.stride_inverse, set);
      call.unit = args.factors == SXT_FACTORS_LDLH;
      call.type = args.value_type, call.parts = session.parts;
      Inverse<T> inverse(session.state.plan, space, call, exec);
      if (!inverse.run(threads)) return SXT_NOT_CONVERGED;
      if (const sxt_status status = inverse.status()) return status;
    }
    return SXT_OK;
  });
}

}  // namespace sextant_cholesky_tasks
