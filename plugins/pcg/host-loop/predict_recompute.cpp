// SPDX-License-Identifier: BSD-3-Clause
// Chen and Carson's conjugate gradients (2020) with one synchronisation: the next r'r is predicted from this
// iteration's inner products to form beta, and recomputed with the next ones to form alpha. For M = identity (A scaled
// beforehand).
#include "recurrences.hpp"

namespace host_loop {

template <class T>
void predict_recompute(Operator<T> &op, Monitor &monitor) {
  T *const x = op.x(), *const r = op.vector(0), *const p = op.vector(1), *const q = op.vector(2);
  // The prediction's error is a few roundings of gamma; below this it has no digits left.
  const double vanished = 256 * std::numeric_limits<typename Operator<T>::Real>::epsilon();

  op.residual(r);
  op.copy(r, p);
  for (;;) {
    // q = A p; gamma is the recomputed r'r
    const auto [p_q, r_q, q_q, gamma] = op.apply(p, q, {{p, nullptr}, {r, nullptr}, {nullptr, nullptr}, {r, r}});

    switch (monitor.at(gamma)) {
      case Next::stop: return;
      case Next::replace: op.residual(r); continue;
      case Next::restart: op.copy(r, p); continue;
      case Next::step: break;
    }
    if (!monitor.curvature(p_q)) return;
    const double alpha = gamma / p_q;
    if (!monitor.step_length(alpha)) return;

    // ||r - alpha q||^2 without another pass; NaN and infinity fail the comparison as well.
    const double predicted = gamma - 2 * alpha * r_q + alpha * alpha * q_q;
    if (predicted > vanished * gamma && predicted <= std::numeric_limits<double>::max()) {
      // r -= alpha q, x += alpha p, p = r + beta p
      op.update(alpha, predicted / gamma, {x, r, p, q});
    } else {
      // Everything cancelled: compute it.
      op.axpby(alpha, p, 1, x);
      op.axpby(-alpha, q, 1, r);
      const double r_r = op.dots({{r, r}})[0];
      op.axpby(1, r, r_r / gamma, p);
    }
    monitor.advance();
  }
}

HOST_LOOP_INSTANTIATE(predict_recompute);

}  // namespace host_loop
