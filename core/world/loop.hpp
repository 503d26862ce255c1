// SPDX-License-Identifier: BSD-3-Clause
// Iterations of conjugate gradients that run on the members' devices alone: captured once, launched in blocks. Members
// meet by kernels of kind sxt.rendezvous/1, and the host looks at what a block ended with.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/run/prepared.hpp"
#include "core/world/lanes.hpp"
#include "sextant/plugin/kinds/rendezvous.h"

namespace sextant {

class WorldPcg;

// One call at a time.
class WorldLoop {
 public:
  // The engine's name, and that of the loop which the host drives.
  static constexpr const char *on_devices = "world.on-devices", *by_host = "world.by-host";
  // NULL with the reason where the host drives the iterations. Throws SXT_E_NOT_SUPPORTED where this engine was asked
  // for and the members cannot meet so, and what building a kernel throws.
  static std::unique_ptr<WorldLoop> make(WorldPcg &pcg, std::string &why_not);
  ~WorldLoop();
  WorldLoop(const WorldLoop &) = delete;
  WorldLoop &operator=(const WorldLoop &) = delete;

  // Before the first block of a solve: r holds the residual of x. Captures where x are others than those of the last
  // one.
  void start(const std::vector<void *> &x, const Lanes &lanes);
  struct Block {
    double tolerance = 0;
    std::int64_t last = 0;  // iterate that ends it
    bool restart = false;   // the next direction has no history
    bool brief = false;     // few iterations: the end is near
  };
  struct Outcome {
    std::int64_t k = 0;  // the last iterate that was judged; its step was taken where nothing ended
    std::int32_t ended = SXT_RENDEZVOUS_RUNNING;
    std::int64_t iterations = 0;  // of the block, those after the end included
  };
  // Returns when all members' lanes are done. Throws SXT_E_DEVICE where a member did not come, or failed.
  Outcome run(const Block &block, const Lanes &lanes);
  double squared(std::int64_t k) const noexcept;  // r'r of iterate k of the last block
  // Seconds of blocks since the times were cleared, and those of them that a member's device waited for others.
  double seconds() const noexcept { return seconds_; }
  double waited(std::size_t member) const noexcept;
  void clear_times() noexcept;
  std::vector<ChoicePtr> choices(std::size_t member) const;

  static constexpr std::int64_t long_block = 16, brief_block = 4;  // iterations

 private:
  struct Member;
  explicit WorldLoop(WorldPcg &pcg);
  static std::string why_not(const WorldPcg &pcg);
  void make_rooms();
  void make_runners(std::size_t i);
  void warm_up(std::size_t i);
  sxt_rendezvous_args rendezvous_args(std::size_t i, std::int32_t step) const;
  void *preconditioned(std::size_t i) const;
  void enqueue_preconditioner(std::size_t i);
  void enqueue_dots(std::size_t i);
  void enqueue_step(std::size_t i);
  void enqueue_update(std::size_t i, void *x);
  void enqueue_iteration(std::size_t i, void *x);
  void capture(std::size_t i, void *x, std::int64_t iterations, void **graph);
  void drop_graphs() noexcept;

  WorldPcg &pcg_;
  std::vector<Member> members_;
  std::vector<void *> x_;                 // that was captured
  std::vector<std::uint64_t *> packets_;  // of every member
  double seconds_ = 0;
};

}  // namespace sextant
