// SPDX-License-Identifier: BSD-3-Clause
// What the Matrix Market reader refuses, with file and line, and that nothing is leaked when it does.
#include <cstdint>
#include <vector>

#include "tests/unit/test_matrix_market_util.hpp"

namespace sextant::test {
namespace {

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";

// Expects the status, and a message that continues with `after_path` after the file's name.
void expect_refused(const std::string &content, sxt_status status, const std::string &after_path,
                    const io::ReadOptions &options = {}) {
  const TextFile file(content);
  CountingAllocator memory;
  const auto [got, sentence] = error_of([&] { io::read_matrix(file.path(), options, memory.hooks()); });
  EXPECT_EQ(got, status) << sentence;
  EXPECT_EQ(sentence.rfind(file.path() + after_path, 0), 0u) << sentence;
  EXPECT_EQ(memory.held(), 0);
}

// Rows without entries cost memory, too: more than a file of so few bytes can mean are refused.
TEST(MatrixMarketErrors, RowsForEachByte) {
  const std::string said = kGeneral + "100000000 3 1\n1 1 1\n";
  const std::string bytes = std::to_string(said.size());
  expect_refused(
      said, SXT_E_FILE_FORMAT,
      ":2: the size line promises 100000000 rows, but the file has " + bytes + " bytes: more than 1000 for each");
  expect_refused(kGeneral + "3 2147483648 1\n1 1 1\n", SXT_E_FILE_FORMAT,
                 ":2: the size line promises 2147483648 columns");
  io::ReadOptions options;
  options.most_rows_per_byte = 2;
  expect_refused(kGeneral + "1048577 1 1\n1 1 1\n", SXT_E_FILE_FORMAT, ":2: the size line promises 1048577 rows",
                 options);
  const TextFile harmless(kGeneral + "1048576 1 1\n1 1 1\n"), large(kGeneral + "3000000 1 1\n1 1 1\n");
  EXPECT_EQ(io::read_matrix(harmless.path(), options, {}).csr.rows, 1048576);
  options.most_rows_per_byte = 0;
  EXPECT_EQ(io::read_matrix(large.path(), options, {}).csr.rows, 3000000);
}

TEST(MatrixMarketErrors, ShortMemoryNamesTheFile) {
  const TextFile file(kGeneral + "3 3 1\n1 1 1\n");
  Allocator none;
  none.allocate = [](void *, std::uint64_t, std::uint64_t) -> void * { return nullptr; };
  none.release = [](void *, void *) {};
  const auto [status, sentence] = error_of([&] { io::read_matrix(file.path(), {}, none); });
  EXPECT_EQ(status, SXT_E_MEMORY);
  EXPECT_EQ(sentence.rfind(file.path() + ": could not allocate ", 0), 0u) << sentence;
}

TEST(MatrixMarketErrors, Banner) {
  expect_refused("", SXT_E_FILE_FORMAT, ":1: the file is empty");
  expect_refused("\n" + kGeneral + "1 1 0\n", SXT_E_FILE_FORMAT, ":1: expected the banner");
  expect_refused(std::string("\x7f"
                             "ELF\0\1\2\n",
                             8),
                 SXT_E_FILE_FORMAT, ":1: expected the banner");
  expect_refused("%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", SXT_E_FILE_FORMAT,
                 ":1: the banner has 6 words, expected 5");
  expect_refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", SXT_E_FILE_FORMAT,
                 ":1: a pattern cannot be skew-symmetric");
  expect_refused("%%MatrixMarket matrix coordinate pattern hermitian\n1 1 0\n", SXT_E_FILE_FORMAT,
                 ":1: a pattern cannot be hermitian");
}

TEST(MatrixMarketErrors, Sizes) {
  expect_refused(kGeneral + "% c\n\n3 3\n", SXT_E_FILE_FORMAT, ":4: the size line has 2 words, expected 3");
  expect_refused(kGeneral + "3 3 1 1\n", SXT_E_FILE_FORMAT, ":2: the size line has 4 words, expected 3");
  expect_refused(kGeneral + "3 x 1\n", SXT_E_FILE_FORMAT, ":2: the number of columns, 'x', is not an integer");
  expect_refused(kGeneral + "3 3 1.5\n", SXT_E_FILE_FORMAT, ":2: the number of entries, '1.5', is not an integer");
  expect_refused(kGeneral + "99999999999999999999 1 0\n", SXT_E_OVERFLOW,
                 ":2: the number of rows, '99999999999999999999'");
  expect_refused(kGeneral + "9223372036854775807 1 0\n", SXT_E_OVERFLOW,
                 ":2: the number of rows, 9223372036854775807, is too");
  expect_refused("%%MatrixMarket matrix array real general\n200000000000000 200000000000000\n", SXT_E_OVERFLOW,
                 ":2: a dense matrix of 200000000000000 x 200000000000000 is too large");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n", SXT_E_FILE_FORMAT,
                 ":2: a symmetric matrix must be square, not 3 x 4");
}

TEST(MatrixMarketErrors, Counts) {
  expect_refused(kGeneral + "2 2 3\n1 1 1\n2 2 1\n", SXT_E_FILE_FORMAT, ":4: the file ends after 2 of 3 entries");
  expect_refused(kGeneral + "2 2 1\n1 1 1\n\n% c\n2 2 1\n", SXT_E_FILE_FORMAT, ":6: more than the 1 entries");
  expect_refused(kGeneral + "2 2 0\n1 1 1\n", SXT_E_FILE_FORMAT, ":3: more than the 0 entries");
  expect_refused("%%MatrixMarket matrix array real general\n2 1\n1\n", SXT_E_FILE_FORMAT,
                 ":3: the file ends after 1 of 2 values");
  // No memory is allocated for entries that the file cannot hold.
  expect_refused(kGeneral + "9 9 100000000000000000\n1 1 1\n", SXT_E_FILE_FORMAT,
                 ":2: the size line promises 100000000000000000 entries, but the file has room for at most");
}

TEST(MatrixMarketErrors, Entries) {
  const std::string start = kGeneral + "3 3 2\n1 1 1\n";
  expect_refused(start + "2\n", SXT_E_FILE_FORMAT, ":4: the line ends before its column index");
  expect_refused(start + "2 2\n", SXT_E_FILE_FORMAT, ":4: the line ends before its value");
  expect_refused(start + "2 2 1 7\n", SXT_E_FILE_FORMAT, ":4: expected the end of the line after the entry, found '7'");
  expect_refused(start + "2 2 1 % c\n", SXT_E_FILE_FORMAT,
                 ":4: expected the end of the line after the entry, found '%'");
  expect_refused(start + "1.0 2 1\n", SXT_E_FILE_FORMAT, ":4: the row index '1.0' is not an integer");
  expect_refused(start + "2 2a 1\n", SXT_E_FILE_FORMAT, ":4: the column index '2a' is not an integer");
  expect_refused(start + "4 2 1\n", SXT_E_INDEX, ":4: the row index 4 is outside 1..3");
  expect_refused(start + "2 18446744073709551617 1\n", SXT_E_INDEX,
                 ":4: the column index '18446744073709551617' does not fit");
  expect_refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n", SXT_E_FILE_FORMAT,
                 ":3: the line ends before its value");
  expect_refused(start + "2 2 " + std::string(60, 'x') + "\n", SXT_E_FILE_FORMAT,
                 ":4: the value '" + std::string(40, 'x') + "...' is not a number");
}

TEST(MatrixMarketErrors, LinesLongerThanOneMebibyte) {
  expect_refused(kGeneral + "% short\n%" + std::string(3 << 20, 'c') + "\n1 1 0\n", SXT_E_FILE_FORMAT,
                 ":3: the line is longer than 1 MiB");
  expect_refused(kGeneral + "1 1 1\n%" + std::string(3 << 20, 'c') + "\n", SXT_E_FILE_FORMAT,
                 ":3: the line is longer than 1 MiB");
}

// With several threads and blocks the first bad line must still be the one that is named.
TEST(MatrixMarketErrors, TheFirstBadLineOfManyBlocksIsNamed) {
  for (const char *line_end : {"\n", "\r\n", "\r"}) {
    std::string content =
        "%%MatrixMarket matrix coordinate real general" + std::string(line_end) + "9 9 100000" + line_end;
    for (int k = 0; k < 100000; ++k)
      content += (k == 60000 ? "9 9 bad" : k == 60001 || k == 99999 ? "10 9 1" : "1 2 3.25") + std::string(line_end);
    for (const int threads : {1, 4}) {
      io::ReadOptions options;
      options.threads = threads;
      expect_refused(content, SXT_E_FILE_FORMAT, ":60003: the value 'bad' is not a number", options);
    }
  }
}

TEST(MatrixMarketErrors, TooManyEntriesInALaterBlock) {
  std::string content = kGeneral + "9 9 90000\n";
  for (int k = 0; k < 100000; ++k) content += "1 2 3.25\n";
  for (const int threads : {1, 4}) {
    io::ReadOptions options;
    options.threads = threads;
    expect_refused(content, SXT_E_FILE_FORMAT, ":90003: more than the 90000 entries", options);
  }
}

TEST(MatrixMarketErrors, UnreadableFiles) {
  const auto [status, sentence] = error_of([] { io::read_matrix("/nonexistent/a.mtx", {}, Allocator()); });
  EXPECT_EQ(status, SXT_E_FILE_READ);
  EXPECT_EQ(sentence, "/nonexistent/a.mtx: No such file or directory");
  EXPECT_EQ(error_of([] { io::read_matrix(testing::TempDir(), {}, Allocator()); }).first, SXT_E_FILE_READ);
}

// Cuts a file at its half when the reader takes memory for the entries: the header is read by then, and they are not.
struct Cutter {
  std::string path;
  std::uint64_t from_bytes = 0;
  std::int64_t cut_to = 0;

  Allocator hooks() {
    Allocator out;
    out.user = this;
    out.allocate = [](void *user, std::uint64_t bytes, std::uint64_t alignment) {
      const Cutter &cutter = *static_cast<Cutter *>(user);
      if (bytes >= cutter.from_bytes && truncate(cutter.path.c_str(), cutter.cut_to) != 0)
        return static_cast<void *>(nullptr);
      return std::aligned_alloc(alignment, bytes);
    };
    out.release = [](void *, void *memory) { std::free(memory); };
    return out;
  }
};

// A mapping would end the process here.
TEST(MatrixMarketErrors, AFileThatBecomesShorterWhileItIsReadIsAnError) {
  constexpr int entries = 400000;
  std::string content = kGeneral + "9 9 " + std::to_string(entries) + "\n";
  for (int k = 0; k < entries; ++k) content += "1 2 3.25\n";
  for (const int threads : {1, 4}) {
    for (const std::size_t cut_to : {content.size() / 2, std::size_t{0}}) {
      const TextFile file(content);
      Cutter cutter{file.path(), entries * sizeof(double), static_cast<std::int64_t>(cut_to)};
      io::ReadOptions options;
      options.threads = threads;
      const auto [status, sentence] = error_of([&] { io::read_matrix(file.path(), options, cutter.hooks()); });
      EXPECT_EQ(status, SXT_E_FILE_READ);
      EXPECT_EQ(sentence.rfind(file.path() + ": it became shorter while it was read, by another program: of ", 0), 0u)
          << sentence;
    }
  }
}

TEST(MatrixMarketErrors, MemoryThatIsNotThereIsAnErrorNotACrash) {
  const TextFile wide(kGeneral + "1000000 1 1\n1 1 1\n");
  const TextFile entries(kGeneral + "3 3 3\n1 1 1\n2 2 2\n3 3 3\n");
  // Every limit below the memory that is needed must give the error and leak nothing.
  for (const std::int64_t limit : {0, 100, 300, 1000, 10000}) {
    CountingAllocator memory(limit);
    io::ReadOptions any;
    any.most_rows_per_byte = 0;
    EXPECT_EQ(error_of([&] { io::read_matrix(wide.path(), any, memory.hooks()); }).first, SXT_E_MEMORY) << limit;
    EXPECT_EQ(memory.held(), 0) << limit;
  }
  int refused = 0;
  for (std::int64_t limit = 0; limit < 2000; limit += 16) {
    CountingAllocator memory(limit);
    io::ReadOptions options;
    options.threads = 2;
    const sxt_status status = error_of([&] { io::read_matrix(entries.path(), options, memory.hooks()); }).first;
    EXPECT_TRUE(status == SXT_E_MEMORY || status == SXT_OK) << status;
    refused += status == SXT_E_MEMORY;
    EXPECT_EQ(memory.held(), 0) << limit;
  }
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 125);
}

TEST(MatrixMarketErrors, UnknownValueTypeIsRefused) {
  io::ReadOptions options;
  options.value_type = 9;
  const TextFile file(kGeneral + "1 1 0\n");
  EXPECT_EQ(error_of([&] { io::read_matrix(file.path(), options, Allocator()); }).first, SXT_E_TYPE);
}

}  // namespace
}  // namespace sextant::test
