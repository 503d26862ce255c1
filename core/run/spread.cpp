// SPDX-License-Identifier: BSD-3-Clause
// In a deterministic context every choice is made for one thread, so that it cannot depend on how many there are. What
// was chosen then runs on as many as pay: kernels of such a context give equal bits on any number.
#include "core/run/spread.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/entered.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/model/cost.hpp"

namespace sextant {

namespace {

constexpr std::uint64_t most_compared = 64;

bool same_but_threads(const sxt_candidate &a, const sxt_candidate &b) {
  return std::equal(a.launch + 1, a.launch + 4, b.launch + 1);
}

}  // namespace

sxt_candidate spread(Context &context, const Choice &choice, Matrix *matrix, const std::vector<sxt_filled> &slots) {
  const sxt_kernel &table = choice.kernel->table;
  const sxt_machine &machine = context.device().lending();
  sxt_candidate best = choice.candidate;
  if (!choice.spreads || machine.units <= 1 || !table.candidates) return best;
  std::vector<double> values;
  if (table.features && matrix && choice.query.about_matrix()) values = matrix->features_for(*choice.kernel, 0, true);
  const sxt_features found{values.size(), table.features, values.data()};
  std::vector<sxt_candidate> list(most_compared);
  std::uint64_t count = 0;
  std::string why;
  const auto ask = [&] {
    return table.candidates(choice.query.get(), &found, &machine, slots.data(), list.data(), most_compared, &count);
  };
  if (model_entered(ask, why) != SXT_OK) return best;
  double least_s = std::numeric_limits<double>::infinity();
  for (std::uint64_t i = 0; i < std::min(count, most_compared); ++i) {
    if (!same_but_threads(list[i], choice.candidate)) continue;
    const Prediction run = predict(table, *choice.query.get(), list[i], machine, context.profile());
    const double all_s = run.setup_s + choice.query.expected_runs() * run.seconds;
    if (!(all_s < least_s)) continue;
    least_s = all_s;
    best = list[i];
  }
  return best;
}

}  // namespace sextant
