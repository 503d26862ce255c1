// SPDX-License-Identifier: BSD-3-Clause
// The steps of an iteration, each one call of a bound kernel or of a scalar kernel. All only enqueue, so that the same
// calls serve launching and capturing.
#pragma once

#include <cstdint>

#include "session.hpp"

namespace graph {

class Iteration {
 public:
  Iteration(const State &state, const Session &session, const sxt_exec &exec)
      : state_(state), session_(session), parts_(session.parts()), exec_(exec) {}

  void copy(const void *from, void *to);
  void residual(const void *b, bool x_is_zero);  // r = b - A x
  void renew();                                  // the work after a residual was computed again
  void begin_direction();                        // the work of a restart before the first evaluation
  void turn_over();                              // p = u - p, after an odd number of idle steps
  void take_direction_back();           // p, and the vectors that depend on it, as saved when evaluations stopped
  void evaluate();                      // of the present iterate
  void step();                          // to the next one
  void measure_curvature(double beta);  // p'Ap of Chronopoulos-Gear's next direction, first of the dots

  // For solves without a host: steps by the scalars alpha and beta.
  void clear_directions();    // so that they hold numbers
  void direct_by_scalars();   // p = alpha u + beta p, where the recurrence begins with p = u
  void turn_by_scalars();     // p = alpha u + beta p, and the vectors that depend on p
  void measure_by_scalars();  // the same of p alone, and p'Ap, first of the dots; Chronopoulos-Gear
  Scalars scalars() const;    // of the kernel that it is made for

  void *x() const { return session_.vector(0); }
  void *r() const { return session_.vector(1); }

 private:
  // q = A p of the classical and predict-recompute, w = A u of Chronopoulos-Gear.
  void *product() const;
  void *p() const;
  void *s() const { return session_.vector(4); }  // Chronopoulos-Gear
  void *u() const;                                // M r, or r itself
  void *t() const { return session_.vector(5); }  // M q, predict-recompute
  bool is(std::int32_t recurrence) const { return state_.recurrence->id == recurrence; }

  struct Pair {
    const void *u, *v;  // NULL: the product
  };
  void evaluate_iterate();
  void keep_direction();
  void call(const sxt_bound &part, const sxt_head &args);
  void count() const;
  void precondition(const void *from, void *to);
  void measure_direction();
  void multiply(const void *alpha, const void *x, const void *beta, void *y, const Pair *pairs, int count,
                void *results);
  void multidot(const sxt_bound &part, const Pair *pairs, int count, void *results);
  void update();
  void axpby(sxt_scalar alpha, const void *x, sxt_scalar beta, void *y);

  const State &state_;
  const Session &session_;
  const pcg::Parts &parts_;
  const sxt_exec &exec_;
};

}  // namespace graph
