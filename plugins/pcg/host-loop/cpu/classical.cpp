// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients as Hestenes and Stiefel wrote them (1952): two reductions an iteration.
#include "recurrences.hpp"

namespace host_loop {

template <class T>
void classical(Operator<T> &op, Monitor &monitor) {
  T *const x = op.x(), *const r = op.vector(0), *const p = op.vector(1), *const q = op.vector(2);
  // Without a preconditioner z is r itself.
  T *const z = op.preconditioned() ? op.vector(3) : r;
  double gamma_old = 0;
  bool restart = true;

  op.residual(r);
  for (;;) {
    // z = M r, gamma = r'z
    double gamma = 0, r_r = 0;
    if (op.preconditioned()) {
      op.precondition(r, z);
      const auto [r_z, squared] = op.dots({{r, z}, {r, r}});
      gamma = r_z, r_r = squared;
    } else {
      gamma = r_r = op.dots({{r, r}})[0];
    }

    switch (monitor.at(r_r)) {
      case Next::stop: return;
      case Next::replace: op.residual(r); continue;
      case Next::restart: restart = true; break;
      case Next::step: break;
    }
    if (!monitor.preconditioned_residual(gamma)) return;

    // p = z + beta p
    if (restart)
      op.copy(z, p);
    else
      op.axpby(1, z, gamma / gamma_old, p);

    // q = A p, alpha = gamma / p'q
    const double p_q = op.apply(p, q, {{p, nullptr}})[0];
    if (!monitor.curvature(p_q)) return;
    const double alpha = gamma / p_q;
    if (!monitor.step_length(alpha)) return;

    // x += alpha p, r -= alpha q
    op.update(alpha, 0, {x, r, p, q});
    gamma_old = gamma;
    restart = false;
    monitor.advance();
  }
}

HOST_LOOP_INSTANTIATE(classical);

}  // namespace host_loop
