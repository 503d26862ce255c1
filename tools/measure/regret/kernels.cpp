// SPDX-License-Identifier: BSD-3-Clause
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/calibrate/families.hpp"
#include "core/choose/launch.hpp"
#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/prepared.hpp"
#include "core/run/session_timing.hpp"
#include "core/run/trial.hpp"
#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/plugin/kinds/hermitian_toeplitz.h"
#include "sextant/plugin/kinds/vector_group_dots.h"

namespace regret {

using namespace sextant;

namespace {

constexpr double candidate_s = 5e-4, too_long_s = 5e-3;

// Seconds of a run of one configuration; 0: it declined.
using Measure = std::function<double(const ChoicePtr &)>;

// All configurations of one kernel for one problem, in an order that does not depend on the models.
struct Configurations {
  std::vector<ChoicePtr> choices;
  std::vector<double> seconds;
};

void add(PolicyTable &table, const std::string &kernel, const std::string &policy, double quotient) {
  table[kernel][policy].all.push_back(quotient);
}

void judge(const Context &context, const Query &query, const registry::Kernel &kernel, const Configurations &all,
           PolicyTable &table) {
  if (all.choices.size() < 2) return;
  const double best = *std::min_element(all.seconds.begin(), all.seconds.end());
  std::vector<sxt_candidate> candidates;
  std::vector<double> predicted;
  for (const ChoicePtr &choice : all.choices) {
    candidates.push_back(choice->candidate);
    predicted.push_back(choice->run_s);
  }
  const std::vector<LaunchProposal> proposals = launch_proposals(context, kernel, query.get(), candidates, predicted);
  for (const LaunchProposal &proposal : proposals)
    if (proposal.candidate >= 0)
      add(table, kernel.name(), proposal.policy, all.seconds[static_cast<std::size_t>(proposal.candidate)] / best);
  if (!proposals.empty()) return;
  const auto taken = std::min_element(predicted.begin(), predicted.end()) - predicted.begin();
  add(table, kernel.name(), "launch.measured", all.seconds[static_cast<std::size_t>(taken)] / best);
}

// Measures every configuration that is offered, and evaluates kernel by kernel.
void judge_all(const Context &context, const Query &query, std::vector<ChoicePtr> choices, const Measure &measure,
               PolicyTable &table) {
  std::stable_sort(choices.begin(), choices.end(), [](const ChoicePtr &a, const ChoicePtr &b) {
    const std::int64_t *x = a->candidate.launch, *y = b->candidate.launch;
    return std::array{x[2], x[1], x[0], x[3]} < std::array{y[2], y[1], y[0], y[3]};
  });
  std::map<const registry::Kernel *, int> offered;
  for (const ChoicePtr &choice : choices) ++offered[choice->kernel];
  std::map<const registry::Kernel *, Configurations> kernels;
  for (const ChoicePtr &choice : choices) {
    const registry::Kernel &kernel = *choice->kernel;
    if (offered[&kernel] < 2 || kernel.has(SXT_KERNEL_REFERENCE) || kernel.has(SXT_KERNEL_BASELINE)) continue;
    if (choice->run_s > too_long_s) continue;
    try {
      const double seconds = measure(choice);
      if (!(seconds > 0)) continue;
      kernels[&kernel].choices.push_back(choice);
      kernels[&kernel].seconds.push_back(seconds);
    } catch (const Error &) {  // it declined, or memory is short
    }
  }
  for (const auto &[kernel, all] : kernels) judge(context, query, *kernel, all, table);
}

double time_args(Context &context, const ChoicePtr &choice, sxt_head *args) {
  const Prepared prepared(context, choice, nullptr, nullptr);
  const std::unique_ptr<Session> session = const_cast<Prepared &>(prepared).open();
  return time_session(context, *session, {&args, 1}, choice->run_s, candidate_s).seconds;
}

void judge_products(Context &context, int family, std::int64_t entries, PolicyTable &table) {
  Assembled assembled = make_family_matrix(family, entries, SXT_F64, context.allocator());
  Matrix matrix(context.shared_from_this(), std::move(assembled),
                family_symmetric(family) ? SXT_SYMMETRIC : SXT_GENERAL);
  sxt_spmv_query asked{};
  asked.m = matrix.query_part(SXT_KIND_SPMV, sizeof asked, 1e6);
  asked.op = SXT_NO_TRANSPOSE;
  asked.n_rhs = 1;
  const Query query(&asked.m.q);
  TrialProduct product(context, query);
  const auto measure_one = [&](const ChoicePtr &choice) {
    return measure(context, choice, matrix, product, candidate_s).run.seconds;
  };
  judge_all(context, query, Selector(context, &matrix).every({query, "regret"}), measure_one, table);
}

// A set of unit matrices, which are their own factors: runs can be repeated in place.
class UnitSystems {
 public:
  UnitSystems(Context &context, std::int64_t n, std::int64_t batch)
      : context_(context),
        n_(n),
        batch_(batch),
        matrices_(context.device(), static_cast<std::uint64_t>(n * n * batch) * sizeof(double)),
        rhs_(context.device(), static_cast<std::uint64_t>(n * batch) * sizeof(double)),
        info_(context.device(), static_cast<std::uint64_t>(batch) * sizeof(std::int32_t)),
        pivots_(context.device(), static_cast<std::uint64_t>(n * batch) * sizeof(std::int32_t)) {
    std::vector<double> values(static_cast<std::size_t>(n * n * batch), 0);
    for (std::int64_t system = 0; system < batch; ++system)
      for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>((system * n + i) * n + i)] = 1;
    context.device().copy(matrices_.data(), values.data(), matrices_.bytes());
    context.device().copy(rhs_.data(), values.data(), rhs_.bytes());
  }

  void judge_kind(const char *kind, std::int32_t phase, PolicyTable &table) {
    sxt_hermitian_query q{};
    q.q = {{sizeof q, kind}, 1000, 0, SXT_F64};
    q.batch = batch_, q.n_max = q.n_min = n_, q.n_rhs = 1;
    const auto n = static_cast<double>(n_), batch = static_cast<double>(batch_);
    q.sum_n1 = n * batch, q.sum_n2 = n * n * batch, q.sum_n3 = n * n * n * batch;
    q.phase = phase, q.definiteness = SXT_HERMITIAN_DEFINITE, q.triangle = SXT_LOWER, q.may_spoil = 1;
    sxt_hermitian_args a{};
    a.h = {sizeof a, kind};
    a.phase = phase, a.definiteness = SXT_HERMITIAN_DEFINITE, a.value_type = SXT_F64, a.triangle = SXT_LOWER;
    a.batch = batch_, a.n_max = n_, a.n_rhs = 1;
    a.a = matrices_.data(), a.lda = n_, a.stride_a = n_ * n_;
    a.b = rhs_.data(), a.ldb = a.stride_b = n_;
    a.info = info_.as<std::int32_t>();
    a.pivots = pivots_.as<std::int32_t>(), a.stride_pivots = n_;
    const Query query(&q.q);
    const auto measure_one = [&](const ChoicePtr &choice) { return time_args(context_, choice, &a.h); };
    judge_all(context_, query, Selector(context_, nullptr).every({query, "regret"}), measure_one, table);
  }

 private:
  Context &context_;
  std::int64_t n_, batch_;
  DeviceBuffer matrices_, rhs_, info_, pivots_;
};

// The group of Chronopoulos and Gear's form with its two inner products.
void judge_group_dots(Context &context, std::int64_t n, PolicyTable &table) {
  std::vector<DeviceBuffer> vectors;
  const std::vector<double> ones(static_cast<std::size_t>(n), 1);
  sxt_vector_group_dots_args args{};
  args.g.h = {sizeof args, SXT_KIND_VECTOR_GROUP_DOTS};
  args.g.n = n, args.g.group = SXT_GROUP_CHRONOPOULOS_GEAR;
  const double tiny = 1e-9;
  for (sxt_scalar &scalar : args.g.scalars) scalar.value = &tiny;
  for (int k = 0; k < 6; ++k) {
    vectors.emplace_back(context.device(), ones.size() * sizeof(double));
    context.device().copy(vectors.back().data(), ones.data(), vectors.back().bytes());
    args.g.vectors[k] = vectors.back().data();
  }
  const DeviceBuffer dots(context.device(), 256);
  args.n_dots = 2;
  args.a[0] = args.b[0] = 1, args.a[1] = 1, args.b[1] = 2;
  args.dots = dots.data();
  sxt_vector_group_dots_query q{};
  q.q = {{sizeof q, SXT_KIND_VECTOR_GROUP_DOTS}, 1000, 0, SXT_F64};
  q.n = n, q.group = SXT_GROUP_CHRONOPOULOS_GEAR, q.n_dots = 2;
  const Query query(&q.q);
  const auto measure_one = [&](const ChoicePtr &choice) { return time_args(context, choice, &args.g.h); };
  judge_all(context, query, Selector(context, nullptr).every({query, "regret"}), measure_one, table);
}

}  // namespace

void judge_other_kernels(Context &context, double seconds, PolicyTable &table) {
  const double start = seconds_now();
  const auto over = [&](double part) { return seconds_now() - start > part * seconds; };
  int products = 0, sets = 0, groups = 0;
  for (std::int64_t n = 1 << 10; n <= 1 << 24 && !over(0.15); n = n * 23 / 8, ++groups)
    judge_group_dots(context, n, table);
  // Neighbours in this order have very different sizes, so that all sizes have been seen whenever the time ends.
  constexpr std::array orders = {64, 350, 16, 128, 512, 32, 200, 96, 700};
  for (const int n : orders) {
    if (over(0.45)) break;
    UnitSystems systems(context, n, n > 256 ? 264 : 1000);
    systems.judge_kind(SXT_KIND_HERMITIAN, SXT_HERMITIAN_FACTOR, table);
    systems.judge_kind(SXT_KIND_HERMITIAN, SXT_HERMITIAN_FACTOR_SOLVE, table);
    systems.judge_kind(SXT_KIND_HERMITIAN_TOEPLITZ, SXT_HERMITIAN_FACTOR_SOLVE, table);
    ++sets;
  }
  constexpr std::array<std::int64_t, 4> entries = {20'000, 1'000'000, 150'000, 5'000'000};
  for (const std::int64_t size : entries)
    for (int family = 0; family < family_count() && !over(1); ++family, ++products)
      judge_products(context, family, size, table);
  std::printf("policies on %d matrices, %d orders of systems, %d lengths of groups with inner products in %.0f s\n",
              products, sets, groups, seconds_now() - start);
  std::fflush(stdout);
}

}  // namespace regret
