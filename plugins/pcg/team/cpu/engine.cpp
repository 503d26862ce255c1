// SPDX-License-Identifier: BSD-3-Clause
// An iteration: q = A p with its inner products, a barrier where the step length is computed, the vectors' update with
// r'r, a barrier where the new iterate is tested. Classical conjugate gradients turn p in a third step; predict-and-
// recompute knows beta already (Chen and Carson 2020), and turns so only where its prediction has no digits left.
#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace team {

template <class T>
Engine<T>::Engine(const State &state, Session &session, sxt_pcg_args &args, const sxt_exec &exec)
    : state_(state),
      session_(session),
      args_(args),
      exec_(exec),
      b_(static_cast<const T *>(args.b)),
      x_(static_cast<T *>(args.x)),
      r_(session.vector<T>(0)),
      p_(session.vector<T>(1)),
      q_(session.vector<T>(2)),
      guess_is_zero_(args.x_is_zero != 0) {}

template <class T>
pcg::Outcome Engine<T>::run(const pcg::Block &block) {
  block_ = &block;
  k_ = block.first;
  running_ = true;
  if (block.restart) turn_ = Turn::restart;
  if (!members_) members_ = plugin::team_size(static_cast<std::int64_t>(state_.parts.size()), exec_);
  bool resumed = false;
  do {
    leaving_ = false;
    entered_ = Barrier::now();
    delayed_ = session_.barrier.delayed();
    plugin::in_team(members_, [&](int index, int count) {
      Member me = session_.barrier.member(index, count);
      work(me, resumed);
    });
    resumed = true;
    if (leaving_) members_ = std::max(1, members_ / 2);
  } while (running_);
  return {ended_, k_, session_.squared.data()};
}

template <class T>
void Engine<T>::work(Member &me, bool resumed) {
  if (!resumed) {
    if (measure_) residual(me);
    at_barrier(me, [this] { begin(); });
  }
  while (running_ && !leaving_) {
    if (turn_ != Turn::none) {
      turn(me);
      at_barrier(me, [] {});
    }
    multiply(me);
    at_barrier(me, [this] { find_step(); });
    if (!running_) return;
    update(me);
    at_barrier(me, [this] { advance(); });
  }
}

template <class T>
template <class F>
void Engine<T>::each_block(const Member &me, F &&f) {
  // As many members as parts, unless fewer threads were lent.
  for (auto p = static_cast<std::size_t>(me.index); p < state_.parts.size(); p += static_cast<std::size_t>(me.count)) {
    const Part &part = state_.parts[p];
    for (std::int64_t begin = part.begin; begin < part.end; begin += state_.block)
      f(begin, std::min(part.end, begin + state_.block));
  }
}

template <class T>
void Engine<T>::sum_block(Dot dot, const T *u, const T *v, std::int64_t begin, std::int64_t end) {
  state_.steps.dot(u, v, begin, end - begin, session_.block_sums<T>(dot) + begin / state_.block);
}

// r = b - A x, as engines of other kernels form it: a product that adds to b. Rows of a block stay in it.
template <class T>
void Engine<T>::residual(Member &me) {
  const auto call = state_.product.call(x_, r_, -1, 1);
  each_block(me, [&](std::int64_t begin, std::int64_t end) {
    std::copy(b_ + begin, b_ + end, r_ + begin);
    if (!guess_is_zero_) state_.product.rows(call, begin, end);
    sum_block(r_r, r_, r_, begin, end);
  });
}

template <class T>
void Engine<T>::turn(Member &me) {
  void *const vectors[] = {p_, r_};
  const plugin::GroupCall call{vectors, nullptr, &beta_};
  each_block(me, [&](std::int64_t begin, std::int64_t end) {
    if (turn_ == Turn::restart)
      std::copy(r_ + begin, r_ + end, p_ + begin);
    else
      state_.steps.turn(call, begin, end);
  });
}

template <class T>
void Engine<T>::multiply(Member &me) {
  const auto call = state_.product.call(p_, q_, 1, 0);
  each_block(me, [&](std::int64_t begin, std::int64_t end) {
    state_.product.rows(call, begin, end);
    sum_block(p_q, p_, q_, begin, end);
    if (!state_.predicting) return;
    sum_block(r_q, r_, q_, begin, end);
    sum_block(q_q, q_, q_, begin, end);
  });
}

template <class T>
void Engine<T>::update(Member &me) {
  void *const vectors[] = {x_, r_, p_, q_};
  const plugin::GroupCall call{vectors, &alpha_, &beta_};
  const Update step = direct_ ? state_.steps.descend : state_.steps.predicted;
  each_block(me, [&](std::int64_t begin, std::int64_t end) {
    step(call, begin, end);
    sum_block(r_r, r_, r_, begin, end);
  });
}

// ---- the work of the first member
// --------------------------------------------------------------------------------------

template <class T>
double Engine<T>::sum(Dot dot) {
  return static_cast<double>(std::real(plugin::tree::combine(session_.block_sums<T>(dot), state_.blocks)));
}

template <class T>
void Engine<T>::begin() {
  if (measure_) {
    squared_ = sum(r_r);
    args_.products += !guess_is_zero_;
    ++args_.reductions;
    measure_ = guess_is_zero_ = false;
    // A direction that is kept is combined with the new r in the next iteration.
    if (turn_ == Turn::add) beta_ = static_cast<Real>(squared_ / previous_);
  }
  judge();
}

// Whether this iterate ends the block, in the order of the questions to core.
template <class T>
void Engine<T>::judge() {
  const bool first = k_ == block_->first;
  session_.squared[static_cast<std::size_t>(k_ - block_->first)] = squared_;
  const double residual = std::sqrt(squared_);
  if (!std::isfinite(squared_)) return end(pcg::Ended::not_a_number);
  if (host_->tell(k_, squared_) != SXT_REASON_NONE) return end(pcg::Ended::at_last);
  if ((!first || block_->test_first) && residual <= block_->tolerance) return end(pcg::Ended::met);
  if (k_ >= block_->last || host_->cancelled()) return end(pcg::Ended::at_last);
  const double before = first ? block_->replaced_from : -1;
  if (before >= 0 && !(std::fabs(residual - before) <= pcg::near_enough * before)) return end(pcg::Ended::far);
  // Nothing is left to divide by, yet core did not take the answer.
  if (squared_ < static_cast<double>(std::numeric_limits<Real>::min())) end(pcg::Ended::breakdown);
}

// Fit to divide by.
template <class T>
bool Engine<T>::usable(double value) {
  if (!std::isfinite(value)) return end(pcg::Ended::not_a_number), false;
  if (value <= 0) return end(pcg::Ended::a_indefinite), false;
  if (value < static_cast<double>(std::numeric_limits<Real>::min())) return end(pcg::Ended::breakdown), false;
  return true;
}

template <class T>
void Engine<T>::find_step() {
  using Limits = std::numeric_limits<Real>;
  // The prediction's error is a few roundings of r'r; below this it has no digits left.
  constexpr double vanished = 256 * static_cast<double>(Limits::epsilon());
  turn_ = Turn::none;
  ++args_.products;
  ++args_.reductions;
  const double curvature = sum(p_q);
  if (!usable(curvature)) return;
  const double alpha = squared_ / curvature;
  // Written so that NaN fails.
  if (!(alpha >= static_cast<double>(Limits::min()) && alpha <= static_cast<double>(Limits::max())))
    return end(pcg::Ended::breakdown);
  alpha_ = static_cast<Real>(alpha);
  direct_ = true;
  if (!state_.predicting) return;
  // ||r - alpha q||^2 without another pass; NaN and infinity fail the comparison as well.
  const double predicted = squared_ - 2 * alpha * sum(r_q) + alpha * alpha * sum(q_q);
  direct_ = !(predicted > vanished * squared_ && predicted <= std::numeric_limits<double>::max());
  if (!direct_) beta_ = static_cast<Real>(predicted / squared_);
}

template <class T>
void Engine<T>::advance() {
  ++k_;
  previous_ = squared_;
  squared_ = sum(r_r);
  ++args_.reductions;
  if (direct_) {
    turn_ = Turn::add;
    beta_ = static_cast<Real>(squared_ / previous_);
  }
  judge();
  leaving_ = running_ && crowded();
}

// Whether the first member has waited for others, beyond its normal polling, for half of the time since the team began:
// their cores are busy elsewhere. Fewer members are then faster; the sums do not depend on their number.
template <class T>
bool Engine<T>::crowded() const {
  const std::int64_t delayed = session_.barrier.delayed() - delayed_;
  return delayed > long_delay_ns && 2 * delayed > Barrier::now() - entered_;
}

template class Engine<float>;
template class Engine<double>;
template class Engine<std::complex<float>>;
template class Engine<std::complex<double>>;

}  // namespace team
