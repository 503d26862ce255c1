// SPDX-License-Identifier: BSD-3-Clause
// What a compiler makes of harmless kernels is proven, and of mutants refused; corpus/README.md says how the PTX was
// made.
#include <map>

#include "support.hpp"

namespace {

using namespace retune_test;
using sextant::retune::ptx::prove_all;

TEST(RetuneCorpus, HarmlessKernelsAreProven) {
  const std::string text = corpus("corpus.ptx.gz");
  ASSERT_FALSE(text.empty());
  std::map<std::string, std::pair<int, int>> families;  // proven, all
  for (const auto &[name, verdict] : prove_all(text)) {
    for (const char *family : {"11elementwise", "10gridstride", "neighbours", "scatter", "atomic"})
      if (name.find(family) != name.npos) {
        families[family].first += verdict.proven;
        ++families[family].second;
        break;
      }
    if (!verdict.proven) RecordProperty(name, verdict.reason);
  }
  int all = 0;
  for (const auto &[family, counts] : families) all += counts.second;
  EXPECT_GE(all, 300);
  for (const char *family : {"11elementwise", "10gridstride"})
    EXPECT_GE(families[family].first, 0.8 * families[family].second) << family;
  // All of them are today; a compiler's new habit may cost some of these.
  EXPECT_GE(families["neighbours"].first, 0.8 * families["neighbours"].second);
  EXPECT_GE(families["atomic"].first, 0.8 * families["atomic"].second);
}

TEST(RetuneCorpus, MutantsAreRefused) {
  int all = 0;
  for (const char *file : {"mutants.ptx.gz", "device_calls.ptx.gz"}) {
    const std::string text = corpus(file);
    ASSERT_FALSE(text.empty()) << file;
    for (const auto &[name, verdict] : prove_all(text)) {
      if (name == "_Z5childiPKfPf") continue;  // harmless: what a mutant launches
      EXPECT_FALSE(verdict.proven) << name;
      EXPECT_GT(verdict.line, 0u) << name << ": " << verdict.reason;
      ++all;
    }
  }
  EXPECT_GE(all, 120);
}

// A proven text stays proven or becomes refused by any one change; it never crashes the reader.
TEST(RetuneCorpus, DamagedTextsAreRead) {
  std::string text = corpus("mutants.ptx.gz");
  ASSERT_FALSE(text.empty());
  text.resize(std::min<std::size_t>(text.size(), 20000));
  for (std::size_t at = 0; at < text.size(); at += 97) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(at * 31 % 127 + 1);
    prove_all(damaged);
  }
}

}  // namespace
