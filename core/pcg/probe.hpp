// SPDX-License-Identifier: BSD-3-Clause
// The probe: some iterations of preconditioned conjugate gradients on the matrix itself, to learn how many a solve
// takes.
#pragma once

#include <cstdint>
#include <string>

#include "core/matrix/matrix.hpp"
#include "core/pcg/null_space.hpp"
#include "core/pcg/ritz.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

struct ProbeOutcome {
  Ritz ritz;
  double seconds = 0;
  std::string defect;  // why it ended early: A or M not positive definite, numbers out of range
};

class Probe {
 public:
  // product: y = alpha A x + beta y. scaling: NULL, or s with s_i^2 = 1 / a_ii in device space, which evens the
  // right-hand side out; null_space: what that holds nothing of. Each must outlive the object.
  Probe(Matrix &matrix, Runner &product, const void *scaling, const NullSpace &null_space);
  // At most `steps` iterations, or until the residual is rtol |b|; preconditioner NULL: none.
  ProbeOutcome run(Runner *preconditioner, std::int64_t steps, double rtol);
  // So many more, after run with the same preconditioner.
  void go_on(Runner *preconditioner, std::int64_t steps, double rtol, ProbeOutcome &out);
  // Predicted seconds of one iteration, and of beginning.
  double step_seconds(const Choice *preconditioner) const;
  double start_seconds() const;

 private:
  using Pair = double[2];
  void random_values(void *to);
  void start(Runner *preconditioner);
  double most_seconds(const Runner *preconditioner, std::int64_t steps) const;
  void iterate(Runner *preconditioner, std::int64_t steps, double rtol, ProbeOutcome &out);
  void multiply(const void *x, void *y);
  void precondition(Runner &preconditioner, const void *from, void *to);
  void dots(std::int32_t count, const void *const *u, const void *const *v, double *results);
  void axpby(double alpha, const void *x, double beta, void *y);

  Matrix &matrix_;
  Runner &product_;
  const void *scaling_;
  const NullSpace &null_space_;
  sxt_value_type type_;
  std::int64_t n_;
  double first_ = -1;               // r'r at the beginning; negative: not known yet
  DeviceBuffer r_, z_, p_, q_, s_;  // z = M r and s = M q, where there is an M
};

}  // namespace sextant
