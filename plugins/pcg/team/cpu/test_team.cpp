// SPDX-License-Identifier: BSD-3-Clause
// The team's engines: bits on any number of threads, iterate by iterate the stops that plugin/kinds/pcg.h demands, and
// concurrent actions of callers. Cases of the kind in every storage are in the conformance tests.
#include <cstdint>
#include <limits>

#include "partition.hpp"
#include "plugins/pcg/host-loop/cpu/test_parts.hpp"

using namespace pcg_test;

namespace {

const char *const recurrences[] = {"classical", "predict-recompute"};

// A team's engine on a matrix in CSR, and a session that further solves use again.
template <class T>
class Team {
 public:
  Team(const std::string &recurrence, const Matrix<T> &a, int threads, std::uint32_t flags = 0)
      : kernel_(find_kernel(load_own("pcg-team"), "pcg.team." + recurrence + ".cpu")), a_(a.view()) {
    query_.m = a.query();
    query_.m.q.h = {sizeof query_, SXT_KIND_PCG};
    query_.m.q.flags |= flags;
    sxt_candidate candidate{};
    candidate.launch[0] = threads;
    const sxt_problem problem{sizeof problem, &query_.m.q, &a_.s.h, nullptr};
    const sxt_exec exec = make_exec(threads);
    status = kernel_.prepare(&problem, &candidate, nullptr, &exec, &state_);
    if (status == SXT_OK) status = kernel_.open(state_, nullptr, &exec, &session_);
  }
  ~Team() {
    if (session_) kernel_.close(session_);
    if (state_) kernel_.release(state_);
  }
  Team(const Team &) = delete;

  sxt_status solve(Solve<T> &s, int lent, const volatile std::int32_t *cancel = nullptr) const {
    s.history.clear();
    s.args = {};
    s.args.h = sextant::plugin::head<sxt_pcg_args>(SXT_KIND_PCG);
    s.args.n = static_cast<std::int64_t>(s.b.size());
    s.args.b = s.b.data(), s.args.x = s.x.data(), s.args.x_is_zero = s.x_is_zero;
    s.args.tolerance = s.tolerance, s.args.max_iterations = s.max_iterations, s.args.replace_every = s.replace_every;
    s.args.user = &s, s.args.observe = Solve<T>::observe_edge, s.args.confirm = Solve<T>::confirm_edge;
    sxt_exec exec = make_exec(lent);
    exec.cancel = cancel;
    return kernel_.run(state_, session_, &s.args.h, &exec);
  }
  sxt_status refresh(const Matrix<T> &a) {
    a_ = a.view();
    const sxt_problem problem{sizeof problem, &query_.m.q, &a_.s.h, nullptr};
    const sxt_exec exec = make_exec(1);
    return kernel_.refresh(state_, &problem, &exec);
  }
  sxt_status status = SXT_OK;

 private:
  const sxt_kernel &kernel_;
  sxt_csr a_;
  sxt_pcg_query query_{};
  void *state_ = nullptr, *session_ = nullptr;
};

template <class T>
Solve<T> random_solve(const Matrix<T> &a, double relative = 1e-10) {
  Solve<T> s;
  s.b = noise_vector<T>(a.n, 9);
  s.x = noise_vector<T>(a.n, 10);
  s.tolerance = relative * norm(s.b);
  return s;
}

Solve<double> from_zero(const Matrix<double> &a, double relative = 1e-10) {
  Solve<double> s = random_solve(a, relative);
  s.x.assign(s.x.size(), 0);
  return s;
}

// x after exactly k iterations.
std::vector<double> iterate(const Team<double> &team, Solve<double> s, std::int64_t k) {
  s.max_iterations = k;
  EXPECT_EQ(team.solve(s, 2), SXT_OK);
  EXPECT_EQ(s.args.iterations, k);
  return s.x;
}

// Weights on the edges, some rows far longer than others: parts of equal work have very different numbers of rows.
template <class T>
Matrix<T> uneven(std::int32_t n) {
  std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(n));
  const auto join = [&](std::int32_t i, std::int32_t j, double weight) {
    if (i == j || rows[i].count(j)) return;
    const auto w = static_cast<sextant::plugin::real_of<T>>(weight);
    rows[i][j] = rows[j][i] = -w;
    rows[i][i] += w, rows[j][j] += w;
  };
  for (std::int32_t i = 0; i < n; ++i) rows[i][i] = 0.01f;
  for (std::int32_t i = 0; i < n; ++i) join(i, (i * 17 + 1) % n, 1 + 0.5 * noise(i));
  for (std::int32_t i = 0; i < n; i += 3) join(7, i, 0.125);
  Matrix<T> a;
  for (const auto &row : rows) a.append_row(row);
  return a;
}

template <class T>
void expect_equal_bits(const char *name, const Matrix<T> &a, std::uint32_t flags, double relative) {
  Solve<T> one = random_solve(a, relative);
  const Team<T> alone(name, a, 1, flags);
  ASSERT_EQ(alone.solve(one, 1), SXT_OK) << Host::sentence;
  EXPECT_EQ(one.args.reason, SXT_REASON_CONVERGED);
  EXPECT_LE(true_residual(a, one.b, one.x), 2 * one.tolerance);
  for (const int threads : {2, 3, 11}) {
    const Team<T> team(name, a, threads, flags);
    ASSERT_EQ(team.status, SXT_OK) << Host::sentence;
    for (const int lent : {std::min(threads, 3), 2, 1}) {
      Solve<T> more = random_solve(a, relative);
      ASSERT_EQ(team.solve(more, lent), SXT_OK) << Host::sentence;
      EXPECT_TRUE(one.x == more.x && one.history == more.history) << threads << " threads, " << lent << " lent";
    }
  }
}

TEST(Team, BitsDoNotDependOnThreads) {
  for (const char *name : recurrences)
    for (const std::uint32_t flags : {0u, std::uint32_t{SXT_QUERY_DETERMINISTIC}}) {
      SCOPED_TRACE(std::string(name) + (flags ? ", deterministic" : ""));
      expect_equal_bits<double>(name, grid<double>(50), flags, 1e-10);
      expect_equal_bits<double>(name, uneven<double>(3001), flags, 1e-10);
      expect_equal_bits<std::complex<double>>(name, grid<std::complex<double>>(30), flags, 1e-10);
      expect_equal_bits<float>(name, uneven<float>(1100), flags, 1e-4);
      expect_equal_bits<double>(name, tridiagonal<double>(1, 2, 0), flags, 1e-10);
    }
}

TEST(Team, PartsAreWholeBlocksOfAboutEqualWork) {
  for (const std::int64_t n : {0, 1, 255, 256, 1000, 5000})
    for (const int parts : {1, 2, 3, 8, 40}) {
      const auto shares = team::share_rows(n, 256, parts, [](std::int64_t row) { return row * row; });
      ASSERT_EQ(shares.size(), static_cast<std::size_t>(parts));
      std::int64_t at = 0;
      for (const team::Part &part : shares) {
        EXPECT_EQ(part.begin, at);
        EXPECT_LE(part.begin, part.end);
        EXPECT_TRUE(part.end % 256 == 0 || part.end == n);
        // No border is farther from its place than a block's work.
        const double share = static_cast<double>(n) * static_cast<double>(n) / parts;
        const double work = static_cast<double>(part.end * part.end - part.begin * part.begin);
        EXPECT_LE(work, share + 2 * 512.0 * static_cast<double>(n) + 1) << n << " rows, " << parts << " parts";
        at = part.end;
      }
      EXPECT_EQ(at, n);
    }
}

TEST(Team, IndefiniteMatrixIsFoundInItsIteration) {
  const Matrix<double> a = grid<double>(
      40, [](std::int32_t) { return 1.0; }, 0.5);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> expected = from_zero(a);
    ASSERT_EQ(Engine<double>(name, a).solve(expected), SXT_OK);
    const Team<double> team(name, a, 2);
    Solve<double> s = from_zero(a);
    ASSERT_EQ(team.solve(s, 2), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_A_INDEFINITE);
    EXPECT_EQ(s.args.iterations, expected.args.iterations);
    EXPECT_EQ(s.x, iterate(team, from_zero(a), s.args.iterations - 1));
    EXPECT_NEAR(s.args.residual, true_residual(a, s.b, s.x), 1e-9 * s.args.residual);
  }
}

TEST(Team, NaNNeverReachesX) {
  Matrix<double> a = grid<double>(40);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Team<double> team(name, a, 2);
    // In the values from now on.
    Matrix<double> broken = a;
    broken.values[1234] = std::numeric_limits<double>::quiet_NaN();
    ASSERT_EQ(team.refresh(broken), SXT_OK);
    Solve<double> s = from_zero(a);
    s.x_is_zero = true;
    ASSERT_EQ(team.solve(s, 2), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_NOT_A_NUMBER);
    EXPECT_EQ(s.args.iterations, 1);
    EXPECT_EQ(s.x, std::vector<double>(s.b.size(), 0.0));
    // And restored.
    ASSERT_EQ(team.refresh(a), SXT_OK);
    ASSERT_EQ(team.solve(s, 2), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_CONVERGED);
    s = from_zero(a);
    s.b[5] = std::numeric_limits<double>::infinity();
    ASSERT_EQ(team.solve(s, 2), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_NOT_A_NUMBER);
    EXPECT_EQ(s.args.iterations, 0);
    EXPECT_EQ(s.x, std::vector<double>(s.b.size(), 0.0));
  }
}

TEST(Team, VanishingNumbersAreABreakdown) {
  const Matrix<double> a = tridiagonal<double>(6, 1e-310, 0), unit = tridiagonal<double>(6, 1, 0);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> s = from_zero(a);
    ASSERT_EQ(Team<double>(name, a, 1).solve(s, 1), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_BREAKDOWN);
    EXPECT_EQ(s.args.iterations, 1);
    Solve<double> tiny = from_zero(unit);
    for (double &value : tiny.b) value *= 1e-200;
    tiny.confirm = [](std::int64_t, double, double *, sxt_reason *) { return SXT_CONFIRM_GO_ON; };
    ASSERT_EQ(Team<double>(name, unit, 1).solve(tiny, 1), SXT_OK);
    EXPECT_EQ(tiny.args.reason, SXT_REASON_BREAKDOWN);
  }
}

// Longer than a block of iterations: stops act at their iterate, at any position in a block.
TEST(Team, CancelAndObserveStopAtTheirIterate) {
  const Matrix<double> a = grid<double>(40, [](std::int32_t i) { return std::pow(10.0, 2 * noise(i)); });
  for (const char *name : recurrences)
    for (const std::int64_t at : {0, 1, 6, 255, 256, 257, 300}) {
      SCOPED_TRACE(std::string(name) + " at " + std::to_string(at));
      const Team<double> team(name, a, 2);
      const std::vector<double> good = iterate(team, from_zero(a, 1e-14), at);
      volatile std::int32_t cancel = 0;
      Solve<double> s = from_zero(a, 1e-14);
      s.observe = [&](std::int64_t k, double) { return cancel = k == at, SXT_REASON_NONE; };
      ASSERT_EQ(team.solve(s, 2, &cancel), SXT_OK);
      EXPECT_EQ(s.args.reason, SXT_REASON_CANCELLED);
      EXPECT_EQ(s.args.iterations, at);
      EXPECT_EQ(s.x, good);

      s = from_zero(a, 1e-14);
      s.observe = [&](std::int64_t k, double) -> sxt_reason {
        return k == at ? SXT_REASON_TIME_LIMIT : SXT_REASON_NONE;
      };
      ASSERT_EQ(team.solve(s, 2), SXT_OK);
      EXPECT_EQ(s.args.reason, SXT_REASON_TIME_LIMIT);
      EXPECT_EQ(s.args.iterations, at);
      EXPECT_EQ(s.x, good);
      EXPECT_EQ(s.history.size(), static_cast<std::size_t>(at) + 1);
    }
}

TEST(Team, ConfirmIsObeyed) {
  const Matrix<double> a = grid<double>(40);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    const Team<double> team(name, a, 2);
    std::vector<double> asked;
    Solve<double> s = from_zero(a, 1e-4);
    confirm_in_turn(s, asked);
    ASSERT_EQ(team.solve(s, 2), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_STAGNATED);
    ASSERT_EQ(asked.size(), 4u);
    EXPECT_EQ(s.args.replacements, 1);
    EXPECT_LT(true_residual(a, s.b, s.x), 2 * asked.back());
  }
}

TEST(Team, ReplacementRestartsWhereTheRecursionHadLied) {
  const Matrix<double> a = grid<double>(40);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> s = from_zero(a, 1e-9);
    spoil_tenth(a, s);
    ASSERT_EQ(Team<double>(name, a, 2).solve(s, 2), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_CONVERGED);
    EXPECT_GE(s.args.replacements, 1);
    EXPECT_LE(true_residual(a, s.b, s.x), s.tolerance);
  }
}

// The numbers of an engine whose parts add one after the other, up to rounding.
TEST(Team, FollowsTheHostLoopIterateByIterate) {
  const Matrix<double> a = grid<double>(40);
  for (const char *name : recurrences)
    for (const std::int64_t replace_every : {0, 9}) {
      SCOPED_TRACE(name);
      Solve<double> wanted = random_solve(a, 1e-9), s = wanted;
      wanted.replace_every = s.replace_every = replace_every;
      ASSERT_EQ(Engine<double>(name, a).solve(wanted), SXT_OK);
      ASSERT_EQ(Team<double>(name, a, 2).solve(s, 2), SXT_OK);
      ASSERT_EQ(s.args.iterations, wanted.args.iterations);
      EXPECT_EQ(s.args.replacements, wanted.args.replacements);
      for (std::size_t k = 0; k < s.history.size(); ++k)
        EXPECT_NEAR(s.history[k], wanted.history[k], 1e-7 * wanted.history[k]) << k;
    }
}

TEST(Team, BadArgsMemoryAndMatricesAreErrors) {
  const Matrix<double> a = grid<double>(5);
  const Team<double> team("classical", a, 2);
  Solve<double> s = from_zero(a);
  s.tolerance = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(team.solve(s, 2), SXT_E_ARGUMENT);
  EXPECT_NE(Host::sentence.find("tolerance"), std::string::npos);

  const int blocks = Host::blocks;
  Host::fail_after = 0;
  EXPECT_EQ(Team<double>("classical", a, 2).status, SXT_E_MEMORY);
  Host::fail_after = -1;
  EXPECT_EQ(Host::blocks, blocks);

  const sxt_kernel &kernel = find_kernel(load_own("pcg-team"), "pcg.team.predict-recompute.cpu");
  sxt_pcg_query query{};
  query.m = a.query();
  query.m.q.h = {sizeof query, SXT_KIND_PCG};
  query.preconditioned = 1;
  char text[256] = "";
  sxt_message message{text, sizeof text};
  const sxt_machine machine = make_machine();
  EXPECT_EQ(kernel.applicable(&query.m.q, nullptr, &machine, &message), SXT_NOT_APPLICABLE);
  EXPECT_NE(std::string(text).find("identity"), std::string::npos);
}

}  // namespace
