// SPDX-License-Identifier: BSD-3-Clause
// Chen and Carson's conjugate gradients (2020) with one synchronisation: the next r'r is predicted from this
// iteration's inner products to form beta, and recomputed with the next ones to form alpha. With M, z = M r and t = M q
// go beside r and q by the same recurrence, and r'z takes the place of r'r.
#include "recurrences.hpp"

namespace host_loop {

template <class T>
void predict_recompute(Operator<T> &op, Monitor &monitor) {
  const bool m = op.preconditioned();
  T *const x = op.x(), *const r = op.vector(0), *const p = op.vector(1), *const q = op.vector(2);
  T *const z = m ? op.vector(3) : r, *const t = m ? op.vector(4) : q;
  // The prediction's error is a few roundings of gamma; below this it has no digits left.
  const double vanished = 256 * std::numeric_limits<typename Operator<T>::Real>::epsilon();

  const auto renew = [&] {
    op.residual(r);
    if (m) op.precondition(r, z);
  };
  renew();
  op.copy(z, p);
  for (;;) {
    // q = A p, t = M q; gamma is the recomputed r'z
    double p_q = 0, z_q = 0, q_t = 0, gamma = 0, r_r = 0;
    if (m) {
      const auto all = op.apply_both(p, q, t, {{p, nullptr}, {z, nullptr}, {r, z}, {r, r}});
      p_q = all[0], z_q = all[1], gamma = all[2], r_r = all[3], q_t = all[4];
    } else {
      const auto all = op.apply(p, q, {{p, nullptr}, {r, nullptr}, {nullptr, nullptr}, {r, r}});
      p_q = all[0], z_q = all[1], q_t = all[2], gamma = r_r = all[3];
    }

    switch (monitor.at(r_r)) {
      case Next::stop: return;
      case Next::replace: renew(); continue;
      case Next::restart: op.copy(z, p); continue;
      case Next::step: break;
    }
    if ((m && !monitor.preconditioned_residual(gamma)) || !monitor.curvature(p_q)) return;
    const double alpha = gamma / p_q;
    if (!monitor.step_length(alpha)) return;

    // (r - alpha q)'(z - alpha t) without another pass; NaN and infinity fail the comparison as well.
    const double predicted = gamma - 2 * alpha * z_q + alpha * alpha * q_t;
    if (predicted > vanished * gamma && predicted <= std::numeric_limits<double>::max()) {
      // z -= alpha t, x += alpha p, p = z + beta p; r -= alpha q
      op.update(alpha, predicted / gamma, {x, z, p, t});
      if (m) op.axpby(-alpha, q, 1, r);
    } else {
      // Everything cancelled: compute it.
      op.axpby(alpha, p, 1, x);
      op.axpby(-alpha, q, 1, r);
      if (m) op.precondition(r, z);
      op.axpby(1, z, op.dots({{r, z}})[0] / gamma, p);
    }
    monitor.advance();
  }
}

HOST_LOOP_INSTANTIATE(predict_recompute);

}  // namespace host_loop
