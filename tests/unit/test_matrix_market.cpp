// SPDX-License-Identifier: BSD-3-Clause
// What the Matrix Market reader understands: numbers, line ends, blocks, compression, triangles, duplicates, types.
#include <cstdint>
#include <random>

#include "tests/unit/test_matrix_market_util.hpp"

namespace sextant::test {
namespace {

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";

io::MatrixMarketMatrix read(const std::string &content, io::ReadOptions options = {}) {
  return io::read_matrix(TextFile(content).path(), options, Allocator());
}

double read_number(const std::string &token, sxt_value_type type = SXT_F64) {
  io::ReadOptions options;
  options.value_type = type;
  const auto got = read("%%MatrixMarket matrix array real general\n1 1\n" + token + "\n", options);
  return type == SXT_F32 ? static_cast<double>(got.csr.values.as<float>()[0]) : got.csr.values.as<double>()[0];
}

TEST(MatrixMarketNumbers, SpellingsOfOneValue) {
  for (const char *token : {"1500", "+1500", "1500.", "1.5e3", "1.5E+03", "1.5D+03", "1.5d3", "+1.5D03", "001500",
                            "1.5+003", "1500.000000000000000000000000", "0.0000000000000000000015e24"})
    EXPECT_EQ(read_number(token), 1500.0) << token;
  for (const char *token : {"-.5", "-0.5", "-5e-1", "-5.D-1"}) EXPECT_EQ(read_number(token), -0.5) << token;
}

TEST(MatrixMarketNumbers, TinyValuesBecomeDenormalOrZero) {
  EXPECT_EQ(read_number("4.9406564584124654e-324"), 4.9406564584124654e-324);
  EXPECT_EQ(read_number("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(read_number("-1e-400")));
  EXPECT_EQ(read_number("0.0001e-99999999999999999999"), 0.0);
  EXPECT_EQ(read_number("1e-300", SXT_F32), 0.0);
  EXPECT_TRUE(std::signbit(read_number("-0")));
}

TEST(MatrixMarketNumbers, TooLargeValuesAreRefusedForTheirType) {
  EXPECT_EQ(error_of([] { read_number("1e400"); }).first, SXT_E_NOT_FINITE);
  EXPECT_EQ(error_of([] { read_number("-1000000e99999999999999999999"); }).first, SXT_E_NOT_FINITE);
  EXPECT_EQ(read_number("1e39"), 1e39);
  const auto [status, sentence] = error_of([] { read_number("1e39", SXT_F32); });
  EXPECT_EQ(status, SXT_E_NOT_FINITE);
  EXPECT_NE(sentence.find(":3: the value '1e39' is too large for a 32-bit number"), std::string::npos) << sentence;
}

TEST(MatrixMarketNumbers, NotANumberIsRefusedUnlessAllowed) {
  EXPECT_EQ(error_of([] { read_number("nan"); }).first, SXT_E_NOT_FINITE);
  EXPECT_EQ(error_of([] { read_number("-inf"); }).first, SXT_E_NOT_FINITE);
  io::ReadOptions lax;
  lax.check_finite = false;
  const auto got = read("%%MatrixMarket matrix array real general\n1 3\nnan\n-inf\n1e400\n", lax);
  EXPECT_TRUE(std::isnan(got.csr.values.as<double>()[0]));
  EXPECT_EQ(got.csr.values.as<double>()[1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(got.csr.values.as<double>()[2], std::numeric_limits<double>::infinity());
}

TEST(MatrixMarketNumbers, JunkIsRefused) {
  for (const char *token :
       {"abc", "1.2x", "1,5", "0x10", "1e", "--1", "+-1", "++1", ".", "-", "+", "1.5e3.2", "1-2", "d5"}) {
    const auto [status, sentence] = error_of([&] { read_number(token); });
    EXPECT_EQ(status, SXT_E_FILE_FORMAT) << token;
    EXPECT_NE(sentence.find(text(":3: the value '", token, "' is not a number")), std::string::npos) << sentence;
  }
}

// The short method for short decimals must agree with the long one to the last bit, in both types.
TEST(MatrixMarketNumbers, ShortDecimalsRoundLikeTheStandardLibrary) {
  std::mt19937_64 random(20240217);
  std::string content = "%%MatrixMarket matrix array real general\n4000 1\n";
  std::vector<std::string> tokens;
  for (int i = 0; i < 4000; ++i) {
    char token[64];
    const int digits = static_cast<int>(random() % 9);
    std::snprintf(token, sizeof token, "%.*f", digits, (static_cast<double>(random() % 2000000001) - 1e9) / 1e7);
    tokens.push_back(token);
    content += tokens.back() + "\n";
  }
  io::ReadOptions options;
  const auto wide = read(content, options);
  options.value_type = SXT_F32;
  const auto narrow = read(content, options);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(wide.csr.values.as<double>()[i], std::strtod(tokens[i].c_str(), nullptr)) << tokens[i];
    EXPECT_EQ(narrow.csr.values.as<float>()[i], std::strtof(tokens[i].c_str(), nullptr)) << tokens[i];
  }
}

TEST(MatrixMarketNumbers, IntegerFieldsHoldIntegers) {
  const auto file = [](const char *field, const char *value) {
    return text("%%MatrixMarket matrix coordinate ", field, " general\n1 1 1\n1 1 ", value, "\n");
  };
  EXPECT_EQ(entries_of(read(file("integer", "-3.0")).csr), (Entries{{{0, 0}, -3.0}}));
  EXPECT_EQ(entries_of(read(file("integer", "9007199254740993")).csr), (Entries{{{0, 0}, 9007199254740992.0}}));
  EXPECT_EQ(entries_of(read(file("unsigned-integer", "3")).csr), (Entries{{{0, 0}, 3.0}}));
  EXPECT_EQ(entries_of(read(file("double", "2.5")).csr), (Entries{{{0, 0}, 2.5}}));
  EXPECT_EQ(error_of([&] { read(file("integer", "2.5")); }).first, SXT_E_FILE_FORMAT);
  EXPECT_EQ(error_of([&] { read(file("integer", "9000000.5")); }).first, SXT_E_FILE_FORMAT);
  EXPECT_EQ(error_of([&] { read(file("unsigned-integer", "-3")); }).first, SXT_E_FILE_FORMAT);
}

// A matrix of many blocks of text, in random order, with some duplicates.
struct Sample {
  std::string text;
  Entries entries;
};

Sample make_sample(const std::string &line_end) {
  std::mt19937_64 random(7);
  Sample sample;
  std::string lines;
  const int n = 40000;
  for (int k = 0; k < n; ++k) {
    const std::int64_t row = static_cast<std::int64_t>(random() % 3000),
                       col = static_cast<std::int64_t>(random() % 2000);
    const double value = static_cast<double>(static_cast<std::int64_t>(random() % 1000001) - 500000) / 1024.0;
    char line[96];
    std::snprintf(line, sizeof line, "%ld\t%ld  %.17g ", static_cast<long>(row + 1), static_cast<long>(col + 1), value);
    lines += line + line_end;
    // Sums of multiples of 2^-10 are exact in any order.
    sample.entries[{row, col}] += value;
    if (k % 1000 == 0) lines += " % a comment" + line_end + line_end + "   " + line_end;
  }
  sample.text = "%%MatrixMarket matrix coordinate real general" + line_end + "%" + line_end + line_end +
                text("3000 2000 ", n) + line_end + lines;
  return sample;
}

TEST(MatrixMarketBlocks, AnyLineEndAndThreadCountGiveTheSameBits) {
  std::string expected;
  for (const char *line_end : {"\n", "\r\n", "\r"}) {
    const Sample sample = make_sample(line_end);
    ASSERT_GT(sample.text.size(), std::size_t{3} << 18);
    const TextFile file(sample.text);
    for (const int threads : {1, 2, 5}) {
      io::ReadOptions options;
      options.threads = threads;
      const auto got = io::read_matrix(file.path(), options, Allocator());
      EXPECT_EQ(entries_of(got.csr), sample.entries);
      if (expected.empty()) expected = bytes_of(got.csr);
      EXPECT_EQ(bytes_of(got.csr), expected) << threads;
    }
  }
}

// Blocks that take long (long numbers) between blocks that take no time (comments): threads finish out of order, the
// values must not.
TEST(MatrixMarketBlocks, ValuesKeepTheOrderOfTheFile) {
  constexpr int kValues = 36000;
  std::string content = text("%%MatrixMarket vector array real general\n", kValues, "\n");
  for (int i = 0; i < kValues; ++i) {
    content += text(i + 1, ".", std::string(60, '0'), "1\n");
    if (i % 4000 == 3999)
      for (int line = 0; line < 260; ++line) content += "%" + std::string(999, '-') + "\n";
  }
  const TextFile file(content);
  for (const int threads : {1, 2, 4}) {
    io::ReadOptions options;
    options.threads = threads;
    const auto got = io::read_vector(file.path(), options, Allocator());
    ASSERT_EQ(got.n, kValues);
    for (int i = 0; i < kValues; ++i) ASSERT_EQ(got.values.as<double>()[i], i + 1) << threads << " threads";
  }
}

// The check sum that gzip uses (ISO 3309), bit by bit.
std::uint32_t crc32(const std::string &data) {
  std::uint32_t crc = ~0u;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

// One gzip member of stored blocks (RFC 1951, 1952).
std::string gzip(const std::string &data) {
  const auto little = [](std::uint32_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 255);
    return out;
  };
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  for (std::size_t at = 0; at < data.size() || at == 0; at += 65535) {
    const std::string part = data.substr(at, 65535);
    const auto size = static_cast<std::uint32_t>(part.size());
    out += std::string(1, at + 65535 >= data.size() ? '\1' : '\0') + little(size, 2) + little(~size & 65535, 2) + part;
  }
  return out + little(crc32(data), 4) + little(static_cast<std::uint32_t>(data.size()), 4);
}

TEST(MatrixMarketGzip, ReadsLikeThePlainTextUnderAnyName) {
  const Sample sample = make_sample("\n");
  const std::size_t cut = sample.text.size() / 2 + 3;
  // One member; two members with the border inside a line; zero padding, as on tapes.
  for (const std::string &packed :
       {gzip(sample.text), gzip(sample.text.substr(0, cut)) + gzip(sample.text.substr(cut)),
        gzip(sample.text) + std::string(512, '\0'), gzip(sample.text.substr(0, sample.text.size() - 1))}) {
    const TextFile file(packed, ".data");
    for (const int threads : {1, 3}) {
      io::ReadOptions options;
      options.threads = threads;
      EXPECT_EQ(entries_of(io::read_matrix(file.path(), options, Allocator()).csr), sample.entries);
    }
  }
}

TEST(MatrixMarketGzip, DamagedAndShortFilesAreRefused) {
  const std::string packed = gzip(make_sample("\n").text);
  std::string damaged = packed;
  damaged[damaged.size() / 2] ^= 1;
  const auto refuse = [](const std::string &content) {
    const TextFile file(content);
    io::ReadOptions options;
    options.threads = 2;
    CountingAllocator memory;
    const auto error = error_of([&] { io::read_matrix(file.path(), options, memory.hooks()); });
    EXPECT_EQ(memory.held(), 0);
    EXPECT_NE(error.second.find(file.path()), std::string::npos);
    return error;
  };
  EXPECT_NE(refuse(packed.substr(0, packed.size() / 2)).second.find("the compressed data ends early"),
            std::string::npos);
  EXPECT_EQ(refuse(packed.substr(0, packed.size() / 2)).first, SXT_E_FILE_READ);
  EXPECT_EQ(refuse(packed + "junk").first, SXT_E_FILE_READ);
  EXPECT_EQ(refuse(packed.substr(0, 5)).first, SXT_E_FILE_READ);
  // A flipped bit is a bad number, or else a wrong check sum: refused either way.
  EXPECT_NE(refuse(damaged).first, SXT_OK);
}

TEST(MatrixMarketBlocks, LongCommentsAreSkipped) {
  const std::string comment = "%" + std::string(700000, 'c') + "\n";
  const auto got = read(kGeneral + comment + comment + "2 2 2\n" + comment + "1 1 1\n" + comment + "2 2 2\n" + comment);
  EXPECT_EQ(entries_of(got.csr), (Entries{{{0, 0}, 1.0}, {{1, 1}, 2.0}}));
}

TEST(MatrixMarketTriangles, LowerOrUpperIsMirrored) {
  const Entries expected{{{0, 0}, 1.0}, {{1, 0}, 2.0}, {{0, 1}, 2.0}};
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n";
  for (const char *entry : {"2 1 2\n", "1 2 2\n"}) {
    const auto got = read(banner + entry);
    EXPECT_EQ(entries_of(got.csr), expected) << entry;
    EXPECT_EQ(got.symmetry, SXT_SYMMETRIC);
    EXPECT_EQ(got.note, "");
    EXPECT_EQ(got.info.stored, 2);
  }
}

TEST(MatrixMarketTriangles, HermitianAndSkewMirrorsFollowTheirRule) {
  using C = std::complex<double>;
  const auto hermitian = read("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n");
  EXPECT_EQ(entries_of(hermitian.csr), (Entries{{{0, 0}, 3.0}, {{1, 0}, C(1, 2)}, {{0, 1}, C(1, -2)}}));
  EXPECT_EQ(hermitian.symmetry, SXT_HERMITIAN);
  const auto skew = read("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n");
  EXPECT_EQ(entries_of(skew.csr), (Entries{{{1, 0}, C(1, 2)}, {{0, 1}, C(-1, -2)}}));
  // Real values make a Hermitian matrix a symmetric one.
  const auto real = read("%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 5\n");
  EXPECT_EQ(entries_of(real.csr), (Entries{{{1, 0}, 5.0}, {{0, 1}, 5.0}}));
  EXPECT_EQ(real.symmetry, SXT_SYMMETRIC);
  // Array files hold the lower triangle by columns.
  const auto array = read("%%MatrixMarket matrix array complex hermitian\n2 2\n3 0\n1 2\n4 1\n");
  EXPECT_EQ(entries_of(array.csr), (Entries{{{0, 0}, 3.0}, {{1, 0}, C(1, 2)}, {{0, 1}, C(1, -2)}, {{1, 1}, C(4, 1)}}));
  EXPECT_EQ(array.symmetry, SXT_GENERAL);
  EXPECT_NE(array.note.find("a diagonal entry is not real"), std::string::npos);
}

TEST(MatrixMarketTriangles, AWholeMatrixUnderASymmetricHeaderIsNotDoubled) {
  const auto got = read("%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n1 1 3\n2 1 2\n1 2 2\n2 2 4\n");
  EXPECT_EQ(entries_of(got.csr), (Entries{{{0, 0}, 3.0}, {{1, 0}, 2.0}, {{0, 1}, 2.0}, {{1, 1}, 4.0}}));
  EXPECT_EQ(got.symmetry, SXT_SYMMETRIC);
  EXPECT_NE(got.note.find("both triangles are stored and agree"), std::string::npos);
}

TEST(MatrixMarketTriangles, DuplicatesAreSummedBeforeTheTrianglesAreCompared) {
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n2 2 ";
  const Entries wanted{{{0, 0}, 3.0}, {{0, 1}, 2.0}, {{1, 0}, 2.0}};
  EXPECT_EQ(entries_of(read(banner + "4\n1 1 1\n2 1 2\n1 2 2\n1 1 2\n").csr), wanted);
  EXPECT_EQ(entries_of(read(banner + "5\n1 1 3\n2 1 2\n1 2 1\n1 2 1\n2 2 0\n").csr),
            (Entries{{{0, 0}, 3.0}, {{0, 1}, 2.0}, {{1, 0}, 2.0}, {{1, 1}, 0.0}}));
  // Summed in another order they differ by rounding: the lower triangle's count.
  const double sum = 0.1 + 0.2 + 0.3;
  ASSERT_NE(sum, 0.3 + 0.2 + 0.1);
  EXPECT_EQ(entries_of(read(banner + "6\n2 1 .1\n2 1 .2\n2 1 .3\n1 2 .3\n1 2 .2\n1 2 .1\n").csr),
            (Entries{{{0, 1}, sum}, {{1, 0}, sum}}));
}

TEST(MatrixMarketTriangles, EntriesOnBothSidesAreEachMirrored) {
  const auto got = read("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 2\n1 3 5\n");
  EXPECT_EQ(entries_of(got.csr), (Entries{{{1, 0}, 2.0}, {{0, 1}, 2.0}, {{0, 2}, 5.0}, {{2, 0}, 5.0}}));
  EXPECT_NE(got.note.find("both sides of the diagonal"), std::string::npos);
  // Triangles that do not agree are no whole matrix: their entries are duplicates of each other.
  const auto sum = read("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 2\n1 2 5\n");
  EXPECT_EQ(entries_of(sum.csr), (Entries{{{1, 0}, 7.0}, {{0, 1}, 7.0}}));
}

TEST(MatrixMarketDuplicates, AreSummedOrRefusedWithBothLines) {
  const std::string general = kGeneral + "2 2 3\n1 2 1\n\n2 2 4\n1 2 0.5\n";
  EXPECT_EQ(entries_of(read(general).csr), (Entries{{{0, 1}, 1.5}, {{1, 1}, 4.0}}));
  io::ReadOptions strict;
  strict.sum_duplicates = false;
  const auto [status, sentence] = error_of([&] { read(general, strict); });
  EXPECT_EQ(status, SXT_E_DUPLICATE);
  EXPECT_NE(sentence.find(":6: row 1, column 2 has an entry already, in line 3"), std::string::npos) << sentence;
  // A mirrored entry is a duplicate of the one it is the mirror image of.
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n3 1 1\n2 1 7\n1 2 8\n";
  EXPECT_EQ(entries_of(read(symmetric).csr), (Entries{{{2, 0}, 1.0}, {{0, 2}, 1.0}, {{1, 0}, 15.0}, {{0, 1}, 15.0}}));
  EXPECT_NE(
      error_of([&] { read(symmetric, strict); }).second.find(":5: row 1, column 2 has an entry already, in line 4"),
      std::string::npos);
  // Infinity must not come in through a sum either.
  EXPECT_EQ(error_of([&] { read(kGeneral + "1 1 2\n1 1 1e308\n1 1 1e308\n"); }).first, SXT_E_NOT_FINITE);
}

TEST(MatrixMarketTypes, ValuesOfAnyTypeThatCanHoldThem) {
  const std::string real = kGeneral + "1 2 1\n1 2 0.1\n";
  const std::string complex = "%%MatrixMarket matrix coordinate complex general\n1 2 1\n1 2 0.1 -0.3\n";
  for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
    io::ReadOptions options;
    options.value_type = type;
    EXPECT_EQ(read(real, options).csr.value_type, type);
    const bool single = type == SXT_F32 || type == SXT_C64;
    const double tenth = single ? static_cast<double>(0.1f) : 0.1, third = single ? static_cast<double>(-0.3f) : -0.3;
    EXPECT_EQ(entries_of(read(real, options).csr), (Entries{{{0, 1}, tenth}}));
    if (type == SXT_C64 || type == SXT_C128)
      EXPECT_EQ(entries_of(read(complex, options).csr), (Entries{{{0, 1}, {tenth, third}}}));
    else
      EXPECT_EQ(error_of([&] { read(complex, options); }).first, SXT_E_TYPE);
  }
  EXPECT_EQ(read(real).csr.value_type, SXT_F64);
  EXPECT_EQ(read(complex).csr.value_type, SXT_C128);
}

TEST(MatrixMarketTypes, ManyColumnsNeedWideIndices) {
  io::ReadOptions options;
  options.most_rows_per_byte = 0;
  const auto got = read(kGeneral + "2 3000000000 2\n2 2999999999 1\n1 3000000000 2\n", options);
  EXPECT_EQ(got.csr.index_type, SXT_I64);
  EXPECT_EQ(got.csr.offset_type, SXT_I32);
  EXPECT_EQ(entries_of(got.csr), (Entries{{{1, 2999999998}, 1.0}, {{0, 2999999999}, 2.0}}));
}

TEST(MatrixMarketTypes, EmptyMatricesRead) {
  EXPECT_EQ(entries_of(read(kGeneral + "0 0 0\n").csr), Entries());
  EXPECT_EQ(entries_of(read(kGeneral + "3 2 0").csr), Entries());
  EXPECT_EQ(read(kGeneral + "3 2 0\n% nothing\n").csr.rows, 3);
  EXPECT_EQ(entries_of(read("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").csr), Entries());
}

TEST(MatrixMarketTypes, ArraysByColumnsInEveryShape) {
  // 33 rows: more than one tile of rows.
  std::string content = "%%MatrixMarket matrix array integer skew-symmetric\n33 33\n";
  Entries expected;
  for (int j = 0; j < 33; ++j)
    for (int i = j + 1; i < 33; ++i) {
      content += text(100 * i + j, "\n");
      expected[{i, j}] = 100.0 * i + j;
      expected[{j, i}] = -(100.0 * i + j);
    }
  EXPECT_EQ(entries_of(read(content).csr), expected);
}

}  // namespace
}  // namespace sextant::test
