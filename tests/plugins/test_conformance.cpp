// SPDX-License-Identifier: BSD-3-Clause
// All kernels without slots agree with the references of their kinds; all models are plausible; kinds detect wrong
// answers; descriptions are complete.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ostream>

#include "sextant/plugin/kinds/ordering.h"
#include "tests/plugins/conformance.hpp"

namespace plugin_test {
namespace {

const Plugins &plugins() {
  static const Plugins all;
  return all;
}

// Kinds whose kernels have no slots and whose cases run on host memory, and how many kernels there are at the least.
struct KindOfTest {
  const char *id;
  int kernels = 1;
};
void PrintTo(const KindOfTest &kind, std::ostream *out) { *out << kind.id; }
class KindTest : public testing::TestWithParam<KindOfTest> {};
class KindAnswersTest : public testing::TestWithParam<const char *> {};

// Orderings that cannot run here: those of device memory, and METIS's where its library is missing.
bool cannot_run(const sxt_kernel &kernel, const sxt_kind &kind) {
  if (std::strcmp(kind.id, SXT_KIND_ORDERING) != 0) return false;
  return std::strcmp(kernel.device, "cpu") != 0 ||
         refusal(kernel, Case(kind, 0).value.query).find("libmetis5") != std::string::npos;
}

TEST_P(KindTest, EveryKernelAgreesWithTheReference) {
  const sxt_kind *kind = plugins().kind(GetParam().id);
  ASSERT_NE(kind, nullptr);
  ASSERT_GT(kind->n_cases, 0u);
  int checked = 0;
  for (const sxt_kernel *kernel : plugins().kernels) {
    if (std::strcmp(kernel->kind, kind->id) != 0) continue;
    if (cannot_run(*kernel, *kind)) continue;
    ASSERT_EQ(kernel->n_slots, 0u);
    const Outcome outcome = check_kernel(plugins(), *kind, *kernel);
    EXPECT_GT(outcome.run, 0) << kernel->name << " declined every case";
    EXPECT_LT(outcome.declined, static_cast<int>(kind->n_cases)) << kernel->name;
    ++checked;
  }
  EXPECT_GE(checked, GetParam().kernels);
}

// An answer that was never computed must be beyond the bound in most cases (n = 0 and copies of equal values are not).
TEST_P(KindAnswersTest, CompareNoticesAMissingAnswer) {
  const sxt_kind *kind = plugins().kind(GetParam());
  ASSERT_NE(kind, nullptr);
  std::uint64_t noticed = 0;
  for (std::uint64_t i = 0; i < kind->n_cases; ++i) {
    Case got(*kind, i), want(*kind, i);
    MatrixFor matrix(plugins(), *kind->reference, want.value);
    Ready reference(*kind->reference, want.value.query,
                    ask_candidates(*kind->reference, want.value.query, make_machine())[0], matrix.head());
    ASSERT_EQ(reference.run(want.value.args), SXT_OK);
    char text[512] = "";
    sxt_message message{text, sizeof text};
    double error = 0;
    ASSERT_EQ(kind->compare(&got.value, &want.value, &error, &message), SXT_OK);
    noticed += error > 1 && text[0];
    ASSERT_EQ(kind->compare(&want.value, &want.value, &error, &message), SXT_OK);
    // Factors and solutions are checked by their backward errors, which are small but not zero.
    EXPECT_LE(error, std::strncmp(kind->id, "sxt.hermitian", 13) ? 0 : 1)
        << "an answer differs from itself: " << want.value.description;
  }
  EXPECT_GT(noticed, kind->n_cases / 2);
}

std::string short_name(const std::string &id) { return id.substr(4, id.find('/') - 4); }
INSTANTIATE_TEST_SUITE_P(Kinds, KindTest,
                         testing::Values(KindOfTest{"sxt.spmv/1", 10}, KindOfTest{"sxt.residual/1"},
                                         KindOfTest{"sxt.spmv_dots/1", 4}, KindOfTest{"sxt.vector/1", 3},
                                         KindOfTest{"sxt.vector_group/1", 2}, KindOfTest{"sxt.reduction/1", 4},
                                         KindOfTest{"sxt.multidot/1", 2}, KindOfTest{"sxt.hermitian/1", 3},
                                         KindOfTest{"sxt.dense/1"}, KindOfTest{"sxt.hermitian_toeplitz/1"},
                                         KindOfTest{"sxt.launch/1", 4}, KindOfTest{SXT_KIND_ORDERING, 4}),
                         [](const auto &info) { return short_name(info.param.id); });
INSTANTIATE_TEST_SUITE_P(Kinds, KindAnswersTest,
                         testing::Values("sxt.spmv/1", "sxt.residual/1", "sxt.spmv_dots/1", "sxt.vector/1",
                                         "sxt.vector_group/1", "sxt.reduction/1", "sxt.multidot/1", "sxt.hermitian/1",
                                         "sxt.dense/1", "sxt.hermitian_toeplitz/1"),
                         [](const auto &info) { return short_name(info.param); });

TEST(Plugins, NamesAreUniqueAndKindsAreDefined) {
  std::vector<std::string> names;
  for (const sxt_kernel *kernel : plugins().kernels) {
    names.push_back(kernel->name);
    EXPECT_NE(plugins().kind(kernel->kind), nullptr) << kernel->name << " is of kind " << kernel->kind;
    // A kernel for contexts of a device may work on the host alone: its name says for which device it is.
    const std::string device = kernel->device;
    EXPECT_TRUE(device == "cpu" || std::string(kernel->name).ends_with("." + device)) << kernel->name;
    EXPECT_TRUE(kernel->description && kernel->description[0]) << kernel->name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Plugins, NothingLeaks) {
  const int before = Host::blocks;
  for (const char *id : {"sxt.spmv/1", "sxt.multidot/1"}) {
    const sxt_kind *kind = plugins().kind(id);
    for (const sxt_kernel *kernel : plugins().kernels)
      if (std::strcmp(kernel->kind, id) == 0) check_kernel(plugins(), *kind, *kernel);
  }
  EXPECT_EQ(Host::blocks, before);
}

// Counting must not depend on the buffer, terms must be costs, and more threads must not stream fewer bytes in total.
TEST(Plugins, CandidatesRespectTheirCapacity) {
  for (const char *id :
       {"sxt.spmv/1", "sxt.residual/1", "sxt.vector/1", "sxt.reduction/1", "sxt.multidot/1", "sxt.vector_group/1"}) {
    const sxt_kind *kind = plugins().kind(id);
    Case c(*kind, kind->n_cases - 1);
    const sxt_machine machine = make_machine(6);
    for (const sxt_kernel *kernel : plugins().kernels) {
      if (std::strcmp(kernel->kind, id) != 0 || !refusal(*kernel, c.value.query).empty()) continue;
      SCOPED_TRACE(kernel->name);
      sxt_candidate one[2];
      std::memset(one, 0x5A, sizeof one);
      std::uint64_t count = 0;
      ASSERT_EQ(kernel->candidates(c.value.query, nullptr, &machine, nullptr, one, 1, &count), SXT_OK);
      EXPECT_EQ(one[1].n_terms, 0x5A5A5A5Au) << "it writes beyond the capacity";
      const std::vector<sxt_candidate> all = ask_candidates(*kernel, c.value.query, machine);
      EXPECT_EQ(count, all.size());
      std::uint64_t names = 0;
      while (kernel->term_names[names]) ++names;
      for (const sxt_candidate &candidate : all) {
        ASSERT_LE(candidate.n_terms, names);
        ASSERT_GT(candidate.n_terms, 0u);
        for (std::uint32_t t = 0; t < candidate.n_terms; ++t)
          EXPECT_TRUE(std::isfinite(candidate.terms[t]) && candidate.terms[t] >= 0) << kernel->term_names[t];
        EXPECT_TRUE(candidate.units >= 1 && candidate.units <= machine.units);
      }
      EXPECT_EQ(all.back().launch[0], kernel->flags & SXT_KERNEL_REFERENCE ? 1 : all.size() == 1 ? 1 : 6);
    }
  }
}

}  // namespace
}  // namespace plugin_test
