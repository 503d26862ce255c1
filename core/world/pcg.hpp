// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients over the members of a world: Chronopoulos and Gear's recurrence (1989), whose inner products come
// together once an iteration, preconditioned by each member on the part of A that it owns alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/explain/explain.hpp"
#include "core/matrix/checks.hpp"
#include "core/pcg/settings.hpp"
#include "core/run/prepared.hpp"
#include "core/world/matrix.hpp"

namespace sextant {

class WorldLoop;

// Iterations where neither the caller nor a probe knows.
inline constexpr double usual_iterations = 100;

// Predicted seconds of an iteration on the members of one process, by the models of the kernels that were chosen: of
// the slowest device, and all of the CPU's members, which work one after the other.
struct IterationPrice {
  double product_s = 0;   // blocks, and the preconditioner
  double exchange_s = 0;  // halos
  double vectors_s = 0;   // inner products and updates
  double meeting_s = 0;   // sums of all members, and the host where it drives
  double seconds() const { return product_s + exchange_s + vectors_s + meeting_s; }
  // With so many of `members`, where memory is what bounds a member's kernels but for a launch each.
  double on(std::int32_t count, std::int32_t members, double launch_s) const;
  std::string parts() const;  // in words
};

// What a member has of a matrix; without seconds.
sxt_member_report member_blocks(WorldMatrix &matrix, std::size_t own);

// One solve at a time.
class WorldPcg {
 public:
  // Collective. Throws the statuses that sxt_pcg_create documents, and SXT_E_NOT_SUPPORTED for what worlds lack.
  WorldPcg(std::shared_ptr<WorldMatrix> matrix, const PcgSettings &settings);
  WorldPcg(const WorldPcg &) = delete;
  WorldPcg &operator=(const WorldPcg &) = delete;
  ~WorldPcg();

  WorldMatrix &matrix() const noexcept { return *callers_; }
  SolveSettings default_solve() const { return sextant::default_solve(settings_, callers_->given().rows); }
  // b and x: the members' parts. Collective.
  sxt_pcg_report solve(const std::vector<const void *> &b, const std::vector<void *> &x, const SolveSettings &settings);
  Explanation explain() const;
  sxt_member_report member(std::size_t own) const;
  IterationPrice price() const;
  const std::string &method() const noexcept { return method_; }
  // What a solver of a world refuses of the settings, on any number of members.
  static void check_settings_of_world(const WorldMatrix &matrix, const PcgSettings &settings);

 private:
  friend class WorldSolve;
  friend class WorldLoop;
  // Of one member of this process.
  struct Part {
    std::shared_ptr<Matrix> joined;   // all of its rows, for true residuals; the interior where that is all
    std::unique_ptr<Runner> product;  // by the columns that it owns: symmetric where that was found
    std::unique_ptr<Runner> truth, preconditioner;
    DeviceBuffer r, p, s, w, u;    // w = A u; u = M r, or none where that is r
    DeviceBuffer residual;         // b - A x
    DeviceBuffer extended, norms;  // x and its ghosts; sxt_residual_norms
  };
  DiagonalRange check_matrix();
  void check_mirror_images();
  void take_in(const DiagonalRange &diagonal);
  World::Parcels boundary_entries(const std::vector<double> &diagonal) const;
  void compare_entries(std::size_t rank, const std::vector<char> &entries, const std::vector<double> &diagonal,
                       std::vector<std::int64_t> &cursor) const;
  void settle_method(const DiagonalRange &diagonal);
  void make_part(std::size_t own);
  std::unique_ptr<Runner> make_product(std::size_t own) const;
  std::unique_ptr<Runner> make_preconditioner(std::size_t own) const;
  void multiply_own(std::size_t own, const void *x, void *y) const;
  void set_up();
  IterationPrice price_of(std::size_t own) const;
  WorldMatrix &system() const noexcept { return *matrix_; }
  bool preconditioned() const noexcept { return method_ != "none"; }

  const std::shared_ptr<WorldMatrix> callers_;
  std::shared_ptr<WorldMatrix> matrix_;  // that is solved with: the caller's, or 2^exponent_ times it
  int exponent_ = 0;
  PcgSettings settings_;
  std::string method_, why_method_;
  std::vector<Part> parts_;
  std::vector<char> equal_;          // whether the i-th member's own columns equal their mirror images
  std::unique_ptr<WorldLoop> loop_;  // iterations on the devices; NULL with the reason
  std::string why_no_loop_;
  std::vector<std::string> notes_;
  std::uint64_t version_ = 0;                                            // of the matrix's values
  double setup_s_ = 0, product_s_ = 0, exchange_s_ = 0, waiting_s_ = 0;  // the latter three of the last solve
};

}  // namespace sextant
