// SPDX-License-Identifier: BSD-3-Clause
// Chronopoulos and Gear's conjugate gradients (1989): s = A p by recurrence, so that all inner products of an iteration
// are formed together: one reduction.
#include <cmath>

#include "recurrences.hpp"

namespace host_loop {

template <class T>
void chronopoulos_gear(Operator<T> &op, Monitor &monitor) {
  T *const x = op.x(), *const r = op.vector(0), *const w = op.vector(1), *const p = op.vector(2),
           *const s = op.vector(3);
  T *const u = op.preconditioned() ? op.vector(4) : r;
  // p'Ap comes from a difference; when this much cancels, the result has lost half of its digits.
  const double cancelled = std::sqrt(std::numeric_limits<typename Operator<T>::Real>::epsilon());
  double gamma_old = 0, alpha_old = 0;
  bool restart = true;

  op.residual(r);
  for (;;) {
    // u = M r, w = A u, gamma = r'u, delta = u'w
    double delta = 0, gamma = 0, r_r = 0;
    if (op.preconditioned()) {
      op.precondition(r, u);
      const auto [u_w, r_u, squared] = op.apply(u, w, {{u, nullptr}, {r, u}, {r, r}});
      delta = u_w, gamma = r_u, r_r = squared;
    } else {
      const auto [u_w, squared] = op.apply(u, w, {{u, nullptr}, {u, u}});
      delta = u_w, gamma = r_r = squared;
    }

    switch (monitor.at(r_r)) {
      case Next::stop: return;
      case Next::replace: op.residual(r); continue;
      case Next::restart: restart = true; break;
      case Next::step: break;
    }
    // delta = u'Au is measured and never below p'Ap, so its sign is proof enough.
    if (!monitor.preconditioned_residual(gamma) || !monitor.curvature(delta)) return;

    const double beta = restart ? 0 : gamma / gamma_old;
    double p_a_p = restart ? delta : delta - beta * gamma / alpha_old;
    const bool trusted = p_a_p > cancelled * delta;
    if (restart) op.copy(u, p), op.copy(w, s);  // times beta = 0, but finite
    if (!trusted) {
      // Rounding alone may have made this small or negative: form p and s = A p, and measure.
      op.axpby(1, u, beta, p);
      p_a_p = op.apply(p, s, {{p, nullptr}})[0];
      if (!monitor.curvature(p_a_p)) return;
    }
    const double alpha = gamma / p_a_p;
    if (!monitor.step_length(alpha)) return;

    if (trusted) {
      // p = u + beta p, s = w + beta s, x += alpha p, r -= alpha s
      op.update(alpha, beta, {x, r, p, s, u, w});
    } else {
      op.axpby(alpha, p, 1, x);
      op.axpby(-alpha, s, 1, r);
    }
    gamma_old = gamma;
    alpha_old = alpha;
    restart = false;
    monitor.advance();
  }
}

HOST_LOOP_INSTANTIATE(chronopoulos_gear);

}  // namespace host_loop
