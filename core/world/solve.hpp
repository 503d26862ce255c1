// SPDX-License-Identifier: BSD-3-Clause
// One solve of a world. All decisions follow from scalars that are equal on every rank, or from wishes that every rank
// was told of at the gather before: so all ranks end in the same iteration for the same reason.
#pragma once

#include <array>
#include <cmath>
#include <exception>
#include <vector>

#include "core/pcg/clock.hpp"
#include "core/pcg/judging.hpp"
#include "core/pcg/scale.hpp"
#include "core/world/loop.hpp"
#include "core/world/pcg.hpp"
#include "sextant/plugin/kinds/residual.h"

namespace sextant {

class WorldSolve {
 public:
  // b, x: the caller's, on each member.
  WorldSolve(WorldPcg &pcg, const std::vector<const void *> &b, const std::vector<void *> &x,
             const SolveSettings &settings)
      : pcg_(pcg),
        matrix_(*pcg.matrix_),
        world_(matrix_.world()),
        b_(b),
        x_(x),
        settings_(settings),
        lanes_(world_),
        type_(matrix_.value_type()) {}
  sxt_pcg_report run();

 private:
  struct Scalars {
    double gamma = 0, delta = 0, squared = 0;  // r'M r, (M r)'A M r, r'r
  };
  struct Truth {
    double norm = 0, bound = 0, rhs = 0, rhs_bound = 0, norm_2 = 0, size = 0;
    bool accepted = false;
  };
  std::size_t own() const { return world_.own(); }
  WorldPcg::Part &part(std::size_t i) const { return pcg_.parts_[i]; }
  void *preconditioned(std::size_t i) const { return pcg_.preconditioned() ? part(i).u.data() : part(i).r.data(); }
  // f(i) for the members of this process that have rows, with their streams.
  template <class F>
  void each(F &&f);
  // The same; what it throws is thrown at the next gather, where all ranks learn of it.
  template <class F>
  void deferred(F &&f) noexcept;
  void throw_deferred();
  sxt_pcg_report solve();
  void start();
  struct Sizes {
    double rhs = 0, rhs_most = 0, guess_most = 0;  // b in the caller's norm; the largest numbers
  };
  Sizes meet_sizes();
  void bring_near(const Sizes &sizes);
  void save_guess();
  Scalars meet_scalars();
  void own_scalars(Frame &mine);
  void own_dots(std::size_t i, std::array<double, Frame::most_values> &sums);
  // Of the iterates, or other vectors of theirs.
  Truth true_residual() { return true_residual_of(x_); }
  Truth true_residual_of(const std::vector<void *> &x);
  sxt_residual_norms residual_of(std::size_t i, const void *x, bool has_ghosts);
  sxt_reason judge(const Scalars &now);
  sxt_reason observe(double residual);
  sxt_reason confirm(double residual, bool &replace);
  sxt_reason usable(double value, sxt_reason not_positive) const;
  sxt_reason step(const Scalars &now);
  sxt_reason run_by_host();
  sxt_reason run_on_devices();
  sxt_reason judge_block(const WorldLoop::Outcome &outcome);
  sxt_reason local_wish() const;
  void fill(void *to, std::size_t i, double value);
  void update(std::size_t i, double alpha, double beta);
  void copy(const void *from, void *to, std::size_t i);
  void subtract_from(const void *from, void *y, std::size_t i);
  void turn_over(std::size_t i);
  void conclude(sxt_pcg_report &report);
  void settle(sxt_pcg_report &report);
  bool is_worse_than_start() const { return !last_.accepted && !(last_.norm <= begun_.norm); }
  void hand_over();
  void take_back();
  void shift(void *vector, std::size_t i, int by);
  double most(const void *vector, std::size_t i);
  // x of the system is 2^this times the caller's: b is scaled by shift_, and A as it was taken in.
  int x_shift() const { return shift_ - pcg_.exponent_; }
  double callers(double norm) const { return callers_norm(norm, shift_); }

  WorldPcg &pcg_;
  WorldMatrix &matrix_;
  World &world_;
  std::vector<const void *> b_;
  const std::vector<void *> &x_;  // iterates, too, in the scale of the system until they are handed over
  SolveSettings settings_;
  const Clock clock_;
  const Lanes lanes_;
  const sxt_value_type type_;
  std::vector<DeviceBuffer> guess_, near_;  // the caller's guess; b where it was scaled
  int shift_ = 0;                           // b, norms and atol are here 2^shift times the caller's
  Truth last_, begun_;
  double target_ = 0, tolerance_ = 0, residual_ = 0;
  double gamma_old_ = 0, alpha_old_ = 0;
  std::int64_t k_ = 0, found_in_ = 0;
  std::int64_t confirmations_ = 0, replacements_ = 0, products_ = 0, reductions_ = 0;
  Progress progress_;
  Misses misses_;
  std::exception_ptr failure_;
  bool restart_ = true, replaced_ = false, cancelled_here_ = false;
  sxt_reason wished_ = SXT_REASON_NONE;
};

template <class F>
void WorldSolve::each(F &&f) {
  for (std::size_t i = 0; i < own(); ++i) {
    if (matrix_.rows_of(i) == 0) continue;
    const auto scope = lanes_.enter(i);
    f(i);
  }
}

template <class F>
void WorldSolve::deferred(F &&f) noexcept {
  if (failure_) return;
  try {
    each(f);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

}  // namespace sextant
