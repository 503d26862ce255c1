// SPDX-License-Identifier: BSD-3-Clause
// Nearest names and the sentences about unknown ones.
#include <gtest/gtest.h>

#include "names/names.hpp"

using sextant::nearest_name;
using sextant::unknown_name;

TEST(Names, FindsTheNearest) {
  EXPECT_EQ(nearest_name("jacoby", {"ssor-ai", "jacobi", "none"}), "jacobi");
  EXPECT_EQ(nearest_name("csr", {"sxt.storage.csr/1", "coo"}), "");  // further than half of the longer
  EXPECT_EQ(nearest_name("cor", {"coo", "csr"}), "coo");             // equally near: the first
  EXPECT_EQ(nearest_name("kitten", {"sitting"}), "sitting");         // distance 3 of 7
  EXPECT_EQ(nearest_name("abcd", {"wxyz"}), "");
  EXPECT_EQ(nearest_name("", {"a"}), "");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

TEST(Names, CountsEveryEditOnce) {
  EXPECT_EQ(nearest_name("ab", {"abcd", "abc"}), "abc");  // insertions
  EXPECT_EQ(nearest_name("abcd", {"ab", "abc"}), "abc");  // deletions
  EXPECT_EQ(nearest_name("abcd", {"axxd", "axcd"}), "axcd");
}

TEST(Names, SaysWhatIsKnown) {
  EXPECT_EQ(unknown_name("preconditioner", "jacoby", {"jacobi", "none"}),
            "no preconditioner named 'jacoby'; the nearest is 'jacobi'; known: jacobi, none");
  EXPECT_EQ(unknown_name("format", "zzzzzzzz", {"csr", "coo"}), "no format named 'zzzzzzzz'; known: csr, coo");
  EXPECT_EQ(unknown_name("format", "x", {}), "no format named 'x'; none is known");
  EXPECT_EQ(unknown_name("format", "zzzzzzzz", {"auto", "none", "none", "auto"}),
            "no format named 'zzzzzzzz'; known: auto, none");
}
