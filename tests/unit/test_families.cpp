// SPDX-License-Identifier: BSD-3-Clause
// The generated matrices on which models are fitted: canonical, the same each time, and symmetric where they say so.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/base/log.hpp"
#include "core/calibrate/families.hpp"

namespace sextant {
namespace {

TEST(Families, AreCanonicalAndSymmetricWhereTheySaySo) {
  std::set<std::string> names;
  for (int family = 0; family < family_count(); ++family) {
    SCOPED_TRACE(family_name(family));
    EXPECT_TRUE(names.insert(family_name(family)).second) << "named twice";
    const Assembled made = make_family_matrix(family, 9000, SXT_F64, {});
    const CsrArrays &a = made.csr;
    EXPECT_GT(a.nnz, 900);
    EXPECT_LT(a.nnz, 27000);
    const auto *row_ptr = a.row_ptr.as<std::int32_t>(), *col = a.col.as<std::int32_t>();
    std::map<std::pair<std::int64_t, std::int64_t>, double> entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        EXPECT_TRUE(col[k] >= 0 && col[k] < a.cols);
        if (k > row_ptr[i]) {
          EXPECT_LT(col[k - 1], col[k]);
        }
        entries[{i, col[k]}] = a.values.as<double>()[k];
      }
    if (!family_symmetric(family)) continue;
    for (const auto &[place, value] : entries) {
      const auto mirrored = entries.find({place.second, place.first});
      ASSERT_NE(mirrored, entries.end()) << place.first << ", " << place.second;
      EXPECT_EQ(mirrored->second, value);
    }
  }
}

// Products by diagonals are fitted on symmetric families alone; some have many diagonals, none of them full.
TEST(Families, SomeHaveManyPartlyFilledDiagonals) {
  int found = 0;
  for (int family = 0; family < family_count(); ++family) {
    if (!family_symmetric(family)) continue;
    const Assembled made = make_family_matrix(family, 30000, SXT_F64, {});
    std::set<std::int64_t> diagonals;
    for (std::int64_t i = 0; i < made.csr.rows; ++i)
      for (std::int32_t k = made.csr.row_ptr.as<std::int32_t>()[i]; k < made.csr.row_ptr.as<std::int32_t>()[i + 1]; ++k)
        diagonals.insert(made.csr.col.as<std::int32_t>()[k] - i);
    const double fill = static_cast<double>(made.csr.nnz) /
                        (static_cast<double>(diagonals.size()) * static_cast<double>(made.csr.rows));
    found += diagonals.size() > 50 && fill > 0.25 && fill < 0.5;
  }
  EXPECT_GE(found, 1);
}

}  // namespace
}  // namespace sextant
