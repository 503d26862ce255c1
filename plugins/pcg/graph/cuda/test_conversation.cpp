// SPDX-License-Identifier: BSD-3-Clause
// The conversation of engines that run blocks of iterations (plugins/pcg/shared/blocks.hpp), with an engine that plays
// a script: the reports and their order, the request of a block, and the handling of each ending.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "plugins/pcg/shared/blocks.hpp"

namespace {

using namespace sextant::plugin::pcg;

// r'r of iterate k is 4^-k unless the script says otherwise; a block ends where the script says, or at its last
// iterate.
class Script {
 public:
  struct Ending {
    std::int64_t iterate;
    Ended ended;
  };
  std::vector<Ending> endings;  // one a block, in order
  std::vector<Block> asked;
  std::vector<double> squares;
  double spoilt = 0;  // in place of the last r'r of the next block, when not 0
  std::int64_t length = 4;
  int starts = 0, replacements = 0, finished = 0;

  void start() { ++starts; }
  void replace() { ++replacements; }
  Outcome run(const Block &block) {
    const std::size_t i = asked.size();
    asked.push_back(block);
    const Ending ending = i < endings.size() ? endings[i] : Ending{block.last, Ended::at_last};
    squares.clear();
    for (std::int64_t k = block.first; k <= ending.iterate; ++k)
      squares.push_back(std::pow(0.25, static_cast<double>(k)));
    if (spoilt != 0) squares.back() = spoilt;
    return {ending.ended, ending.iterate, squares.data()};
  }
  std::int64_t longest() const { return length; }
  const void *iterate() const { return this; }
  void finish() { ++finished; }
};

struct Log {
  std::vector<std::int64_t> iterates;
  std::vector<double> residuals;
  std::vector<std::int64_t> confirmed;
  std::vector<std::int32_t> answers;  // to confirm, in order; then STOP
  sxt_reason stop_at_observe = SXT_REASON_NONE;
};

class ConversationTest : public testing::Test {
 protected:
  ConversationTest() {
    args.max_iterations = 100;
    args.tolerance = 0.1;
    args.user = &log;
    args.observe = [](void *user, std::int64_t first, std::int64_t count, const double *residuals) -> sxt_reason {
      auto &log = *static_cast<Log *>(user);
      for (std::int64_t i = 0; i < count; ++i) {
        log.iterates.push_back(first + i);
        log.residuals.push_back(residuals[i]);
      }
      return log.stop_at_observe;
    };
    args.confirm = [](void *user, const void *, std::int64_t iteration, double, double *tolerance,
                      sxt_reason *reason) -> std::int32_t {
      auto &log = *static_cast<Log *>(user);
      const std::size_t i = log.confirmed.size();
      log.confirmed.push_back(iteration);
      if (i < log.answers.size()) {
        *tolerance /= 10;
        return log.answers[i];
      }
      *reason = SXT_REASON_CONVERGED;
      return SXT_CONFIRM_STOP;
    };
  }
  void run() { Conversation(args, exec, engine, room).run(); }

  sxt_pcg_args args{};
  sxt_exec exec{};
  Script engine;
  Log log;
  std::vector<double> room;
};

TEST_F(ConversationTest, EveryIterateIsReportedOnceAndInOrder) {
  engine.endings = {{4, Ended::at_last}, {8, Ended::at_last}, {10, Ended::met}};
  run();
  EXPECT_EQ(args.reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(args.iterations, 10);
  EXPECT_EQ(log.confirmed, std::vector<std::int64_t>{10});
  ASSERT_EQ(log.iterates.size(), 11u);
  for (std::int64_t k = 0; k <= 10; ++k) {
    EXPECT_EQ(log.iterates[k], k);
    EXPECT_DOUBLE_EQ(log.residuals[k], std::pow(0.5, static_cast<double>(k)));
  }
  EXPECT_EQ(engine.starts, 1);
  EXPECT_EQ(engine.finished, 1);
  ASSERT_EQ(engine.asked.size(), 3u);
  EXPECT_TRUE(engine.asked[0].restart && engine.asked[0].test_first);
  EXPECT_FALSE(engine.asked[1].restart || engine.asked[1].test_first);
  EXPECT_EQ(engine.asked[1].first, 4);
  EXPECT_EQ(engine.asked[1].last, 8);
}

TEST_F(ConversationTest, TheLimitIsExact) {
  args.max_iterations = 6;
  run();
  EXPECT_EQ(args.reason, SXT_REASON_ITERATION_LIMIT);
  EXPECT_EQ(args.iterations, 6);
  EXPECT_EQ(engine.asked.back().last, 6);
  args.max_iterations = 0;
  engine = {};
  run();
  EXPECT_EQ(args.reason, SXT_REASON_ITERATION_LIMIT);
  EXPECT_EQ(args.iterations, 0);
}

TEST_F(ConversationTest, AnAnswerThatIsNotAcceptedGoesOnWithTheNewTolerance) {
  log.answers = {SXT_CONFIRM_GO_ON};
  engine.endings = {{3, Ended::met}, {7, Ended::at_last}, {9, Ended::met}};
  run();
  EXPECT_EQ(args.reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(log.confirmed, (std::vector<std::int64_t>{3, 9}));
  EXPECT_EQ(engine.asked[1].first, 3);
  EXPECT_FALSE(engine.asked[1].test_first) << "the same iterate would be confirmed for ever";
  EXPECT_DOUBLE_EQ(engine.asked[1].tolerance, 0.01);
  EXPECT_EQ(engine.replacements, 0);
}

TEST_F(ConversationTest, ReplacingIsDoneOnceAnIterate) {
  log.answers = {SXT_CONFIRM_REPLACE, SXT_CONFIRM_REPLACE};
  engine.endings = {{3, Ended::met}, {3, Ended::met}, {7, Ended::at_last}, {8, Ended::met}};
  run();
  EXPECT_EQ(engine.replacements, 1);
  EXPECT_EQ(args.replacements, 1);
  EXPECT_TRUE(engine.asked[1].test_first) << "the new residual may meet the tolerance as well";
  EXPECT_DOUBLE_EQ(engine.asked[1].replaced_from, 0.125);
  EXPECT_FALSE(engine.asked[2].test_first);
  EXPECT_DOUBLE_EQ(engine.asked[2].replaced_from, 0.125) << "whether it is near is still to be seen";
  EXPECT_LT(engine.asked[3].replaced_from, 0);
}

TEST_F(ConversationTest, ResidualsAreReplacedWhenDue) {
  args.replace_every = 6;
  args.max_iterations = 13;
  run();
  EXPECT_EQ(engine.replacements, 2);
  std::vector<std::int64_t> lasts;
  for (const Block &block : engine.asked) lasts.push_back(block.last);
  EXPECT_EQ(lasts, (std::vector<std::int64_t>{4, 6, 10, 12, 13}));
  EXPECT_EQ(log.iterates.size(), 14u);
}

TEST_F(ConversationTest, ADirectionThatIsNoGoodIsDropped) {
  log.answers = {SXT_CONFIRM_REPLACE};
  engine.endings = {{3, Ended::met}, {3, Ended::far}, {5, Ended::met}};
  run();
  EXPECT_TRUE(engine.asked[2].restart);
  EXPECT_LT(engine.asked[2].replaced_from, 0);
  EXPECT_EQ(args.iterations, 5);
}

TEST_F(ConversationTest, AFailureBelongsToTheIterationItWasFoundIn) {
  const std::pair<Ended, sxt_reason> failures[] = {{Ended::a_indefinite, SXT_REASON_A_INDEFINITE},
                                                   {Ended::m_indefinite, SXT_REASON_M_INDEFINITE},
                                                   {Ended::breakdown, SXT_REASON_BREAKDOWN},
                                                   {Ended::not_a_number, SXT_REASON_NOT_A_NUMBER}};
  for (const auto &[ended, reason] : failures) {
    engine = {};
    engine.endings = {{2, ended}};
    run();
    EXPECT_EQ(args.reason, reason);
    EXPECT_EQ(args.iterations, 3);
    EXPECT_DOUBLE_EQ(args.residual, 0.25) << "of the iterate before";
  }
  // A residual that is no number is the iterate's own, and is not reported.
  engine = {};
  log = {};
  engine.endings = {{2, Ended::not_a_number}};
  engine.spoilt = std::numeric_limits<double>::quiet_NaN();
  run();
  EXPECT_EQ(args.reason, SXT_REASON_NOT_A_NUMBER);
  EXPECT_EQ(args.iterations, 2);
  EXPECT_EQ(log.iterates, (std::vector<std::int64_t>{0, 1}));
}

TEST_F(ConversationTest, CoreMayStopAfterABlock) {
  log.stop_at_observe = SXT_REASON_TIME_LIMIT;
  run();
  EXPECT_EQ(args.reason, SXT_REASON_TIME_LIMIT);
  EXPECT_EQ(args.iterations, 4);
  EXPECT_EQ(engine.finished, 1) << "x is returned for every reason";
}

TEST_F(ConversationTest, Cancelling) {
  const volatile std::int32_t cancel = 1;
  exec.cancel = &cancel;
  run();
  EXPECT_EQ(args.reason, SXT_REASON_CANCELLED);
  EXPECT_EQ(engine.asked.size(), 1u);
}

TEST_F(ConversationTest, ADeviceThatDoesNothingIsAnErrorAndNoEndlessLoop) {
  engine.endings = {{0, Ended::at_last}};
  EXPECT_THROW(run(), std::runtime_error);
  engine = {};
  engine.endings = {{9, Ended::at_last}};  // beyond the block
  EXPECT_THROW(run(), std::runtime_error);
}

}  // namespace
