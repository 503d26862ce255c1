// SPDX-License-Identifier: BSD-3-Clause
// What a few iterations of conjugate gradients tell about the rest: Ritz values of the Lanczos matrix that their
// coefficients make (Golub and Meurant 2010), and the iterations that the residuals lead to expect.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant {

class Ritz {
 public:
  // Iteration k of A x = b: the step alpha, beta to the next direction, and |r| / |b| after it.
  void add(double alpha, double beta, double residual);
  std::int64_t steps() const { return static_cast<std::int64_t>(diagonal_.size()); }
  double residual() const { return residuals_.back(); }
  double least_residual() const;
  // The first step whose residual is no greater; steps() + 1 where none is.
  std::int64_t reached(double residual) const;

  // Extreme Ritz values, within those of the matrix: their ratio is at most its condition number. 0 without a step.
  double least() const { return value(0, steps()); }
  double greatest() const { return value(steps() - 1, steps()); }
  // Whether the least one has stopped falling: it is then near the least eigenvalue that b has a part of.
  bool settled() const;
  // Whether the residuals say anything of the iterations left: they fell by half, and go on falling. Otherwise
  // iterations() is no estimate.
  bool tells(double rtol) const;
  // Until the residual is rtol |b|. Where it does not fall yet: four times `otherwise`, or what the condition asks
  // if that is more. An overestimate where convergence speeds up after the last step.
  double iterations(double rtol, double otherwise) const;

 private:
  double value(std::int64_t which, std::int64_t order) const;
  std::int64_t below(double bound, std::int64_t order) const;

  std::vector<double> diagonal_, off_, residuals_{1};
  double last_alpha_ = 0, last_beta_ = 0;
};

}  // namespace sextant
