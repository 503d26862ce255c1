// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients with a matrix of a world, on as many of its members as are predicted to end soonest: all of them,
// fewer, or one, which has every engine and preconditioner of one context.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/explain/explain.hpp"
#include "core/pcg/solver.hpp"
#include "core/world/moving.hpp"
#include "core/world/pcg.hpp"

namespace sextant {

// What was predicted for a number of members.
struct MembersConsidered {
  std::int32_t members = 0;
  double iteration_s = 0, solve_s = 0;  // 0: not known
  std::string why;                      // of its parts, or why it is out
};

// One solve at a time.
class WorldSolver {
 public:
  // An engine's name before a number of members.
  static constexpr const char *on_members = "world.members:";
  // The number in such a name; 0: the engine is another. Throws SXT_E_NOT_SUPPORTED for what cannot be.
  static std::int32_t members_asked(const std::string &engine, const World &world);

  // Collective. Throws the statuses that sxt_pcg_create documents, and SXT_E_NOT_SUPPORTED for what worlds lack.
  WorldSolver(std::shared_ptr<WorldMatrix> matrix, const PcgSettings &settings);
  ~WorldSolver();
  WorldSolver(const WorldSolver &) = delete;
  WorldSolver &operator=(const WorldSolver &) = delete;

  WorldMatrix &matrix() const noexcept { return *matrix_; }
  WorldPcg *on_all() const noexcept { return all_.get(); }  // NULL where fewer members are used
  SolveSettings default_solve() const { return sextant::default_solve(settings_, matrix_->given().rows); }
  // b and x: the members' parts. Collective.
  sxt_pcg_report solve(const std::vector<const void *> &b, const std::vector<void *> &x, const SolveSettings &settings);
  Explanation explain() const;
  sxt_member_report member(std::size_t own) const;

 private:
  struct Fewer;  // the solver on fewer members, and its vectors
  std::string why_no_choice() const;
  void choose();
  void weigh_one();
  void weigh_all();
  void weigh_between();
  std::unique_ptr<Fewer> make_fewer(std::int32_t count) const;
  double least_of_one() const;
  double least_of_all() const;
  double iterations_of_all() const;
  void settle();
  void tell(Explanation &out) const;

  const std::shared_ptr<WorldMatrix> matrix_;
  PcgSettings settings_;
  std::vector<std::size_t> fastest_;  // members of this process, those with the highest memory rate first
  std::unique_ptr<WorldPcg> all_;
  std::unique_ptr<Fewer> fewer_;
  IterationPrice price_of_all_;
  MembersConsidered one_considered_, all_considered_, between_;
  std::vector<MembersConsidered> considered_;
  std::string why_;     // as many as there are were taken
  double solve_s_ = 0;  // of the last solve on fewer
};

}  // namespace sextant
