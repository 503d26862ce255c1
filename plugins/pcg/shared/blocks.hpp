// SPDX-License-Identifier: BSD-3-Clause
// The conversation between core and an engine of kind sxt.pcg/1 that runs iterations in blocks on a device, without the
// host: the request of a block, its outcome, and the consequences. The rules are those of an engine that asks after
// every iterate (plugin/kinds/pcg.h); only core's own limits (time, stagnation, progress) act once a block.
// Header-only, no part of the ABI.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/pcg/shared/ended.hpp"
#include "plugins/pcg/shared/parts.hpp"
#include "sextant/sdk/cancel.hpp"

namespace sextant::plugin::pcg {

struct Block {
  std::int64_t first = 0, last = 0;  // from this iterate, which is computed, to that one
  double tolerance = 0;              // on ||r||
  bool test_first = true;            // whether iterate `first` may end the block as met
  bool restart = true;               // p = r (or M r) before the first iteration
  double replaced_from = -1;         // ||r|| before it was replaced; negative: it was not
};

struct Outcome {
  Ended ended;
  std::int64_t iterate;             // that x, r and p belong to; a failure was found in the iteration after it
  const double *squared_residuals;  // r'r of iterates first .. iterate; valid until the next block
};

// Engine: start() makes r = b - A x, counting products; replace() does the same from the present x;
// run(block) -> Outcome runs a block and waits for it; longest() is how many iterations a block should have; iterate()
// is the place of x meanwhile; finish() copies it to args.x.
template <class Engine>
class Conversation {
 public:
  // residuals: room for those of a block, so that a solve need not allocate.
  Conversation(sxt_pcg_args &args, const sxt_exec &exec, Engine &engine, std::vector<double> &residuals)
      : args_(args), cancel_(exec.cancel), engine_(engine), residuals_(residuals) {}

  // Leaves reason, iterations, residual and replacements in the args. Exceptions of the engine pass through.
  void run() {
    begin();
    while (take(engine_.run(next()))) {
    }
  }
  // The same in steps, for an engine that runs blocks of several solves at once: begin(), then next() and take() in
  // turn until take says that the solve is over, which it then is for the engine as well.
  void begin() {
    args_.reason = SXT_REASON_NONE;
    args_.iterations = 0;
    args_.residual = 0;
    args_.replacements = args_.products = args_.reductions = 0;
    args_.launches = 0;
    engine_.start();
  }
  const Block &next() {
    block_.tolerance = args_.tolerance;
    block_.last = last_after(block_.first);
    return block_;
  }
  bool take(const Outcome &outcome) {
    if (follow(block_, outcome)) return true;
    engine_.finish();
    return false;
  }

  // For an engine that runs on the host: reports an iterate at once instead of with its block. With a reason the block
  // ends there.
  sxt_reason tell(std::int64_t k, double squared) {
    if (k <= observed_ || !args_.observe) return SXT_REASON_NONE;
    observed_ = k;
    const double residual = std::sqrt(squared);
    return told_ = args_.observe(args_.user, k, 1, &residual);
  }
  // For the same engines: whether the solve was cancelled, so that the block is to end with the present iterate.
  bool cancelled() {
    if (is_cancelled(cancel_)) told_ = SXT_REASON_CANCELLED;
    return told_ != SXT_REASON_NONE;
  }

 private:
  // Blocks end where the host must be asked: at the limit, and where r is due to be replaced.
  std::int64_t last_after(std::int64_t first) const {
    std::int64_t last = std::min(args_.max_iterations, first + std::max<std::int64_t>(1, engine_.longest()));
    if (args_.replace_every > 0) last = std::min(last, (first / args_.replace_every + 1) * args_.replace_every);
    return std::max(first, last);
  }

  // Takes an outcome and makes the next block. False: the solve is over.
  bool follow(Block &block, const Outcome &out) {
    const std::int64_t k = out.iterate;
    const bool told = told_ != SXT_REASON_NONE;
    const bool stuck = out.ended <= Ended::at_last && k == block.first && block.last > block.first && !told;
    if (k < block.first || k > block.last || stuck)
      throw std::runtime_error("a block from iterate " + std::to_string(block.first) + " to " +
                               std::to_string(block.last) + " returned iterate " + std::to_string(k) +
                               ": the device did not do its work");
    const double squared = out.squared_residuals[k - block.first];
    args_.iterations = k;
    args_.residual = std::sqrt(squared);
    if (told) return stop(told_);
    const bool finite = std::isfinite(squared);
    if (const sxt_reason reason = observe(block, out, finite ? k : k - 1)) return stop(reason);
    block = {k, k, 0, false, out.ended == Ended::far, block.first == k ? block.replaced_from : -1};
    switch (out.ended) {
      case Ended::not_a_number: return finite ? fail(SXT_REASON_NOT_A_NUMBER) : stop(SXT_REASON_NOT_A_NUMBER);
      case Ended::a_indefinite: return fail(SXT_REASON_A_INDEFINITE);
      case Ended::m_indefinite: return fail(SXT_REASON_M_INDEFINITE);
      case Ended::breakdown: return fail(SXT_REASON_BREAKDOWN);
      case Ended::far: block.replaced_from = -1; return true;
      default: return obey(block, k, out.ended == Ended::met);
    }
  }

  // Iterates are reported once each, in order.
  sxt_reason observe(const Block &block, const Outcome &out, std::int64_t newest) {
    if (newest <= observed_) return SXT_REASON_NONE;
    residuals_.clear();
    for (std::int64_t i = observed_ + 1; i <= newest; ++i)
      residuals_.push_back(std::sqrt(out.squared_residuals[i - block.first]));
    const std::int64_t first = observed_ + 1;
    observed_ = newest;
    if (!args_.observe) return SXT_REASON_NONE;
    return args_.observe(args_.user, first, static_cast<std::int64_t>(residuals_.size()), residuals_.data());
  }

  // Convergence first: an answer that core accepts outweighs a limit or a cancellation at the same iterate.
  bool obey(Block &block, std::int64_t k, bool met) {
    const bool fresh = k != replaced_at_;  // one replacement an iterate: a second would compute the same numbers
    bool replace = fresh && args_.replace_every > 0 && k > 0 && k % args_.replace_every == 0;
    if (met) {
      sxt_reason reason = SXT_REASON_NONE;
      const std::int32_t answer =
          args_.confirm(args_.user, engine_.iterate(), k, args_.residual, &args_.tolerance, &reason);
      if (answer == SXT_CONFIRM_STOP) return stop(reason);
      replace = fresh && (replace || answer == SXT_CONFIRM_REPLACE);
    }
    if (is_cancelled(cancel_)) return stop(SXT_REASON_CANCELLED);
    if (k >= args_.max_iterations) return stop(SXT_REASON_ITERATION_LIMIT);
    if (!replace) return true;
    engine_.replace();
    replaced_at_ = k;
    ++args_.replacements;
    block.test_first = true;
    block.replaced_from = args_.residual;
    return true;
  }

  bool stop(sxt_reason reason) {
    args_.reason = reason;
    return false;
  }
  // A failure belongs to the iteration it was found in; x and the residual stay those of the iterate before.
  bool fail(sxt_reason reason) {
    ++args_.iterations;
    return stop(reason);
  }

  sxt_pcg_args &args_;
  const volatile std::int32_t *cancel_;
  Engine &engine_;
  Block block_;
  std::int64_t observed_ = -1, replaced_at_ = -1;
  sxt_reason told_ = SXT_REASON_NONE;  // the answer of observe to tell, or that the solve was cancelled
  std::vector<double> &residuals_;
};

}  // namespace sextant::plugin::pcg
