// SPDX-License-Identifier: BSD-3-Clause
// JSON as it is written: nesting, numbers that read back, and text of any bytes.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "core/explain/json_writer.hpp"

namespace {

using sextant::JsonWriter;

TEST(JsonWriterTest, NestsAndReadsBack) {
  const std::int64_t launch[] = {256, 4, 0, 0};
  JsonWriter out;
  out.begin('{').member("name", "a \"b\" \\ c\n\t\x01").member("yes", true).member("big", std::int64_t{1} << 60);
  out.launch("launch", launch)
      .number_or_null("unknown", false, 1)
      .key("empty")
      .begin('[')
      .end(']')
      .key("list")
      .begin('[');
  out.value(1).value(0.1).value(std::numeric_limits<double>::infinity()).begin('{').end('}').end(']').end('}');
  const auto read = nlohmann::json::parse(out.text());
  EXPECT_EQ(read["name"], "a \"b\" \\ c\n\t\x01");
  EXPECT_EQ(read["yes"], true);
  EXPECT_EQ(read["big"], std::int64_t{1} << 60);
  EXPECT_EQ(read["launch"], (nlohmann::json{256, 4, 0, 0}));
  EXPECT_TRUE(read["unknown"].is_null());
  EXPECT_EQ(read["empty"].size(), 0u);
  ASSERT_EQ(read["list"].size(), 4u);
  EXPECT_EQ(read["list"][1], 0.1);
  EXPECT_TRUE(read["list"][2].is_null());
}

TEST(JsonWriterTest, NumbersKeepTheirBits) {
  for (const double number : {1.0 / 3, 4.9e-324, 1.7976931348623157e308, -0.0, 123456789012345680.0})
    EXPECT_EQ(nlohmann::json::parse(JsonWriter().value(number).text()).get<double>(), number);
}

// Bytes that are no UTF-8 (RFC 3629: overlong, cut off, a surrogate, beyond the last plane) become U+FFFD.
TEST(JsonWriterTest, BytesThatAreNoTextAreReplaced) {
  const std::string good =
      "Gr\xc3\xb6\xc3\x9f"
      "e \xe2\x82\xac \xf0\x9f\x98\x80";
  EXPECT_EQ(nlohmann::json::parse(JsonWriter().value(good).text()), good);
  for (const char *bad : {"\x80", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xff", "\xe0\x80\x80"}) {
    const std::string words = std::string("<") + bad + ">";
    const auto read = nlohmann::json::parse(JsonWriter().value(words).text()).get<std::string>();
    EXPECT_EQ(read.find("<\xef\xbf\xbd"), 0u) << read;
    EXPECT_EQ(read.back(), '>');
  }
}

}  // namespace
