// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.features/1: patterns small enough that samples see all of them, so that every kernel must agree with the
// reference on each name that both compute. A name of another kernel is NaN and is not compared.
#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "features.hpp"
#include "sextant/sdk/cases.hpp"

namespace sextant::features_basic {

using namespace plugin;
using namespace plugin::cases;

namespace {

struct Case {
  cases::Matrix matrix;
  sxt_matrix_query query{};
  std::vector<double> values;
  sxt_features_args args{};
};

Pattern pattern_of(std::uint64_t i, Random &random) {
  const auto lengths = [&](std::int64_t most) { return [&random, most](auto) { return random.below(most + 1); }; };
  switch (i) {
    case 0: return {};
    case 1: return {1, 1, {{}}};
    case 2: return {9, 0, std::vector<std::vector<std::int64_t>>(9)};
    case 3: return banded_pattern(1, 1, {0});
    case 4: return banded_pattern(200, 200, {-20, -1, 0, 1, 20});
    case 5: return banded_pattern(200, 200, {-199, 199});
    case 6: return random_pattern(60, 60, random, lengths(32));  // few enough for samples to see all of them
    case 7: return random_pattern(300, 20, random, lengths(6));
    case 8: return random_pattern(20, 300, random, lengths(40));
    case 9: return random_pattern(400, 400, random, [](auto row) { return row == 11 ? 400 : row % 3; });
    default: return random_pattern(2, 3000, random, [](auto row) { return row ? 1100 : 3; });  // beyond the histogram
  }
}
constexpr std::uint64_t n_patterns = 11;

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    if (i >= n_patterns) return static_cast<sxt_status>(SXT_E_ARGUMENT);
    Random random(seed, i);
    auto made = std::make_unique<Case>();
    const Pattern pattern = pattern_of(i, random);
    made->matrix = cases::Matrix(pattern, SXT_F64, random);
    made->query = made->matrix.query(SXT_KIND_FEATURES, sizeof made->query, SXT_F64);
    const char *const *names = static_cast<const sxt_features_ops *>(reference_kernel.ops)->names;
    std::uint64_t count = 0;
    while (names[count]) ++count;
    made->values.assign(count, -7);  // a number that no feature has
    made->args = {head<sxt_features_args>(SXT_KIND_FEATURES), count, names, made->values.data()};
    *out = {sizeof *out, "a small pattern", &made->query.q, &made->matrix.csr().s.h,
            nullptr,     &made->args.h,     made.get()};
    made.release();
    return static_cast<sxt_status>(SXT_OK);
  });
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  const auto &got = as<sxt_features_args>(got_case->args), &want = as<sxt_features_args>(want_case->args);
  Verdict verdict(error, message);
  for (std::uint64_t i = 0; i < want.count; ++i)
    if (!std::isnan(got.values[i]) && !std::isnan(want.values[i]))
      verdict.check(want.names[i], 0, got.values[i], want.values[i], 1e-11 * (1 + std::abs(want.values[i])));
  return SXT_OK;
}

// Names and values stay on the host for every device: only the matrix goes there, in its storage.
sxt_status move_case(sxt_case *, const sxt_exec *, std::int32_t) { return SXT_OK; }

}  // namespace

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_FEATURES, "named numbers about a matrix",
                                          {&reference_kernel, n_patterns, make_case, compare, move_case});

}  // namespace sextant::features_basic
