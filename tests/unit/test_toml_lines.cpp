// SPDX-License-Identifier: BSD-3-Clause
// The reader of profiles by lines gives what toml++ gives, or nothing.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/base/files.hpp"
#include "core/base/toml_lines.hpp"

namespace sextant {
namespace {

const std::string head = "format = 1\n\n[machine]\ndevice = \"cpu\"\n\n";

std::string with(const std::string &lines) { return head + "[[models]]\n" + lines; }

// Nothing is left to toml++ in the profiles that the library ships.
TEST(TomlLines, ReadsShippedProfilesAsTheParserDoes) {
  int profiles = 0;
  for (const auto &entry : std::filesystem::directory_iterator(SEXTANT_TEST_DATA "/../../profiles")) {
    if (entry.path().filename() == "README.md") continue;
    const std::string text = read_text(entry.path().string());
    const auto quick = toml_of_lines(text, "models");
    ASSERT_TRUE(quick) << entry.path();
    EXPECT_EQ(*quick, toml::parse(text)) << entry.path();
    ++profiles;
  }
  EXPECT_GT(profiles, 0);
}

TEST(TomlLines, ReadsEveryKindOfValue) {
  const std::string text = with(
      "# a comment\nkernel = \"a.b.cpu\"\nversion = 3\nnegative = -12\npositive = +7\nzero = 0\nreal = 1.5e-11\n"
      "tiny = -4E+2\npower = inf\nnone = []\nlist = [1.0,2.5, 3e4]\nnames = [\"a\",\"latency.columns\"]\n"
      "table = { \"launches\" = [0.0,1.0], plain = 2, 'x' = 1 }\n");
  EXPECT_FALSE(toml_of_lines(text, "models"));  // for its 'x' alone
  const std::string plain = text.substr(0, text.find(", 'x'")) + " }\n\n[[models]]\nkernel = \"b\"\n";
  const auto quick = toml_of_lines(plain, "models");
  ASSERT_TRUE(quick);
  EXPECT_EQ(*quick, toml::parse(plain));
  EXPECT_TRUE((*quick)["models"][0]["version"].is_integer());
  EXPECT_TRUE((*quick)["models"][0]["real"].is_floating_point());
  EXPECT_EQ((*quick)["models"].as_array()->size(), 2u);
}

// TOML that may be right, and TOML that is wrong, is the parser's.
TEST(TomlLines, LeavesAllOtherTextToTheParser) {
  for (const char *line : {"a = \"\\u0041\"",
                           "a = 'b'",
                           "a = \"\"\"b\"\"\"",
                           "a = 1_000",
                           "a = 0x1f",
                           "a = true",
                           "a = +inf",
                           "a = nan",
                           "a = 1979-05-27",
                           "a.b = 1",
                           "a = [1,]",
                           "a = [[1]]",
                           "a = { b = { c = 1 } }",
                           "a = {}",
                           "[other]",
                           "[[other]]",
                           "a =\t1",
                           "a = 1 # behind",
                           "a = 1\r",
                           "a = \"\xc3\xa4\"",  // right
                           "a = infinite",
                           "a = 01",
                           "a = 1.",
                           "a = .5",
                           "a = 1e",
                           "a = +-1",
                           "a",
                           "a =",
                           "= 1",
                           "a = [1",
                           "a = \"b",
                           "a = 1 2",
                           "a = 99999999999999999999",
                           "a = 1\na = 2",
                           "a = { b = 1, b = 2 }",
                           "a = \"b\"c",
                           "[[models]] x"})  // wrong
    EXPECT_FALSE(toml_of_lines(with(std::string(line) + "\n"), "models")) << line;
  EXPECT_FALSE(toml_of_lines(head, "models"));
  EXPECT_FALSE(toml_of_lines("format = \n[[models]]\na = 1\n", "models"));
  EXPECT_FALSE(toml_of_lines("models = 1\n[[models]]\na = 1\n", "models"));
  EXPECT_FALSE(toml_of_lines("a = \"\"\"\n[[models]]\nb = 1\n\"\"\"\n", "models"));
}

}  // namespace
}  // namespace sextant
