// SPDX-License-Identifier: BSD-3-Clause
// Worlds whose members are GPUs and CPU contexts, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/support.hpp"
#include "tests/world/support.hpp"

namespace gpu_world_test {

using namespace world_test;

inline constexpr int cpu = -1;  // in the place of an ordinal
using Members = std::vector<int>;

inline Context member_on(int ordinal, bool deterministic = false) {
  if (ordinal == cpu) return api_test::cpu(1, deterministic);
  sxt_context_options options = api_test::context_options();
  options.device = "cuda";
  options.device_ordinal = ordinal;
  options.deterministic = deterministic;
  sxt_context *made = nullptr;
  return Context(sxt_context_create(&options, &made) == SXT_OK ? made : nullptr);
}

inline std::vector<Context> members_on(const Members &ordinals, bool deterministic = false) {
  std::vector<Context> out;
  for (const int ordinal : ordinals) out.push_back(member_on(ordinal, deterministic));
  return out;
}

inline std::string name_of(const Members &members) {
  std::string out = "members on";
  for (const int ordinal : members) out += ordinal == cpu ? " the CPU" : " GPU " + std::to_string(ordinal);
  return out;
}

struct Solved {
  std::vector<double> x;
  sxt_pcg_report report = api_test::new_report();
  std::string explained;
};

inline Solved solve_on(const Rank &rank, const Matrix &matrix, const std::vector<double> &b, sxt_pcg_options options) {
  Solved out;
  if (!options.engine) options.engine = "world.by-host";  // whatever would end sooner
  const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
  sxt_pcg *made = nullptr;
  EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &made), SXT_OK) << rank.error();
  const Pcg pcg(made);
  if (!pcg) return out;
  const Vector rhs = part_of(rank, lengths, b, 0), x = part_of(rank, lengths, {}, 0);
  EXPECT_GE(sxt_pcg_solve(pcg.get(), rhs.get(), x.get(), nullptr, &out.report), SXT_OK) << rank.error();
  out.x = values_of(x);
  out.explained = api_test::explain(pcg);
  for (int i = 0; i < rank.info.own; ++i) {
    sxt_member_report report{};
    report.struct_size = sizeof report;
    EXPECT_EQ(sxt_pcg_get_member(pcg.get(), i, &report), SXT_OK);
    EXPECT_EQ(report.rows, lengths[static_cast<std::size_t>(i)]);
  }
  return out;
}

}  // namespace gpu_world_test
