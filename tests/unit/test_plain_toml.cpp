// SPDX-License-Identifier: BSD-3-Clause
// The quick reader of what the library writes reads what toml++ reads, or nothing.
#include <gmock/gmock.h>

#include <string>

#include "core/base/files.hpp"
#include "core/base/toml.hpp"

namespace sextant {
namespace {

// Both read the same table.
void expect_same(const std::string &text) {
  const auto plain = parse_plain_toml(text);
  ASSERT_TRUE(plain.has_value()) << text;
  EXPECT_TRUE(*plain == parse_toml(text, "text")) << text;
}

TEST(PlainToml, ReadsWhatTheLibraryWrites) {
  expect_same("");
  expect_same("# a comment\nformat = 1 # one\n\n[machine]\nname = \"NVIDIA H200\"\nunits = 132\n");
  expect_same("a = [1.5, -2.0,3]\nb = []\nc = [ \"x\",\"y\" ]\nd = { \"a b\" = [0.0,1e-9],f = { } }\n");
  expect_same("[[models]]\nx = 1\n[[models]]\nx = -0\ny = 1.183e+06\npower = inf\n[kernels]\nz = \"\"");
  expect_same("[[a]]\nx = 1\n[b]\n[[a]]\n");
  expect_same("a-b_1 = 5.2177e-9\n  [x]  \n  y = 9223372036854775807\n");
}

TEST(PlainToml, ReadsAShippedProfile) {
  const std::string text = read_text(SEXTANT_TEST_DATA "/../../profiles/cuda-NVIDIA-H200-132-90.toml.gz");
  expect_same(text);
  EXPECT_GT((*parse_plain_toml(text))["models"].as_array()->size(), 100u);
}

// Valid or not: what toml++ reads otherwise, or knows the error of.
TEST(PlainToml, LeavesTheRestToTheWholeParser) {
  for (const char *text : {"a = \"\\n\"",
                           "a = 'x'",
                           "a = \"\"\"x\"\"\"",
                           "a = true",
                           "a = 1_000",
                           "a = 0x10",
                           "a = 01",
                           "a = +1",
                           "a = .5",
                           "a = 1.",
                           "a = 1.e3",
                           "a = -inf",
                           "a = infinite",
                           "a = 2026-11-28",
                           "a.b = 1",
                           "[a.b]\n",
                           "[a]\n[a]\n",
                           "a = 1\na = 2",
                           "a = { b = 1, b = 2 }",
                           "a = {b = 1,}",
                           "a = [1,]",
                           "a = [[1]]",
                           "a = [1\n]",
                           "a",
                           "a =",
                           "a = ",
                           "= 1",
                           "[a",
                           "[a]]",
                           "[[a]",
                           "[[a]] b = 1",
                           "a = 1 b = 2",
                           "a = \"x",
                           "a = [1",
                           "a = { b = 1",
                           "a = 1e",
                           "a = 1e5e5",
                           "a = -",
                           "a = 9223372036854775808",
                           "a = 1\r\n",
                           "a = \"\xc3\xa4\"",
                           "# \xc3\xa4\n",
                           "a = \"\t\"",
                           "[[a]]\n[[b]]\n[[a]]\n",
                           "[a]\n[[a]]\n",
                           "a = 1\n[[a]]\n",
                           "a = 1\n[a]\n",
                           "\"a\\tb\" = 1",
                           "a = 1e999"})
    EXPECT_FALSE(parse_plain_toml(text).has_value()) << text;
}

}  // namespace
}  // namespace sextant
