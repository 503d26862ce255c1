// SPDX-License-Identifier: BSD-3-Clause
// What a saved plan contains about the other device: the questions and the work that were placed there.
#include <gtest/gtest.h>

#include <string>

#include "core/plan/plan.hpp"

namespace {

using namespace sextant;

TEST(PlanPlaces, AreReadBackOnTheMachineThatMadeThem) {
  const std::string path = testing::TempDir() + "sextant-plan-places.toml";
  const PlanKey taken{"pcg", "sxt.pcg/1", 0, 7}, lost{"pcg", "sxt.pcg/1", 0, 8}, set{"hermitian/solve", "k", 5, 0};
  PlanBook device, cpu;
  SolverPlan asked;
  asked.preconditioner = "none";
  asked.iterations = asked.assumed_iterations = asked.preconditioner_iterations = 10;
  for (const PlanKey &key : {taken, lost}) cpu.record(key, asked);
  cpu.place(taken);
  cpu.place(set);
  const PlanBook::Beside beside{&cpu, "cpu/x"};
  device.save(path, "cuda/y", &beside);

  PlanBook there, here;
  ASSERT_EQ(there.load(path, "cuda/y", true), "");
  ASSERT_TRUE(here.load_beside(path, "cpu/x", true));
  EXPECT_TRUE(here.placed(taken));
  EXPECT_TRUE(here.placed(set));
  EXPECT_TRUE(here.find_solver(lost, "cpu/x").has_value());
  EXPECT_FALSE(here.placed(lost)) << "it was asked there, and is worked on on the device";
  EXPECT_FALSE(there.placed(taken));
  EXPECT_FALSE(cpu.placed(taken)) << "of what is loaded alone";

  device.save(path, "cuda/y");
  EXPECT_FALSE(here.load_beside(path, "cpu/x", true));
  EXPECT_FALSE(here.placed(taken)) << "by a plan that another one followed";
  EXPECT_FALSE(here.find_solver(lost, "cpu/x").has_value());
}

}  // namespace
