// SPDX-License-Identifier: BSD-3-Clause
// One solve: blocks of iterations, each in one parallel region. The engine of a sextant::plugin::pcg::Conversation.
#pragma once

#include <cstdint>

#include "plugins/pcg/shared/blocks.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "state.hpp"

namespace team {

namespace pcg = sextant::plugin::pcg;

template <class T>
class Engine {
 public:
  Engine(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec);
  void talk_to(pcg::Conversation<Engine> &host) { host_ = &host; }

  void start() { measure_ = true; }
  void replace() { measure_ = true; }
  pcg::Outcome run(const pcg::Block &block);
  std::int64_t longest() const { return longest_block; }
  const void *iterate() const { return x_; }
  void finish() {}

 private:
  using Real = plugin::real_of<T>;
  static constexpr std::int64_t long_delay_ns = 1'000'000;
  enum class Turn { none, restart, add };  // what happens to p before the next product

  // The work of every member on its rows.
  void work(Member &me, bool resumed);
  void residual(Member &me);
  void turn(Member &me);
  void multiply(Member &me);
  void update(Member &me);
  template <class F>
  void each_block(const Member &me, F &&f);
  template <class F>
  void at_barrier(Member &me, F &&f) {
    session_.barrier.wait(me, f);
  }
  void sum_block(Dot dot, const T *u, const T *v, std::int64_t begin, std::int64_t end);

  // The work of the first member while the others wait.
  void begin();
  void find_step();
  void advance();
  void judge();
  bool crowded() const;
  double sum(Dot dot);
  void end(pcg::Ended why) { ended_ = why, running_ = false; }
  bool usable(double value);

  const State &state_;
  Session &session_;
  sxt_pcg_args &args_;
  const sxt_exec &exec_;
  pcg::Conversation<Engine> *host_ = nullptr;
  const T *b_;
  T *x_, *r_, *p_, *q_;
  const pcg::Block *block_ = nullptr;
  bool measure_ = false;  // r is to be computed from x
  bool guess_is_zero_;    // x still holds the caller's zeros
  bool running_ = false;
  bool leaving_ = false;                    // the team is to continue with fewer members
  int members_ = 0;                         // requested members; 0: not yet known
  std::int64_t entered_ = 0, delayed_ = 0;  // when this team began; the barrier's delays at that time
  bool direct_ = true;                      // this iteration's beta is computed from the new r'r, not predicted
  Turn turn_ = Turn::restart;
  pcg::Ended ended_{};
  std::int64_t k_ = 0;                 // the iterate of x and r
  double squared_ = 0, previous_ = 0;  // r'r of it and of the one before
  T alpha_{}, beta_{};
};

}  // namespace team
