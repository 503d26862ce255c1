// SPDX-License-Identifier: BSD-3-Clause
// Every file of tests/data/mm: what it reads as, or the sentence it is refused with.
#include <dirent.h>

#include <cstdint>
#include <set>
#include <vector>

#include "tests/unit/test_matrix_market_util.hpp"

namespace sextant::test {
namespace {

const std::string kData = std::string(SEXTANT_TEST_DATA) + "/mm/";

struct Check {
  std::int64_t row, col;  // one-based, as in the file
  std::complex<double> value;
};

struct Readable {
  const char *file;
  std::int64_t rows, cols, nnz;
  sxt_symmetry symmetry;
  std::vector<Check> values;
};

using C = std::complex<double>;

const std::vector<Check> eye{{1, 1, 1}, {2, 2, 1}, {3, 3, 1}};
const std::vector<Check> nist{{1, 1, 1},  {2, 2, 10.5}, {3, 3, 1.5e-2}, {4, 4, -280},
                              {5, 5, 12}, {1, 4, 6},    {4, 2, 250.5},  {4, 5, 33.32}};
const std::vector<Check> real3{{1, 3, 10}, {3, 1, 10}, {2, 3, 20}, {3, 2, 20}, {3, 3, 30}};
const std::vector<Check> real3_sum{{1, 3, 10}, {3, 2, 20}, {3, 3, 60}};
const std::vector<Check> skew3{{3, 1, 10}, {1, 3, -10}, {3, 2, 20}, {2, 3, -20}};
const std::vector<Check> skew3_array{{2, 1, 22}, {3, 1, 33}, {3, 2, 44}, {1, 2, -22}, {1, 3, -33}, {2, 3, -44}};
const std::vector<Check> pattern3{{1, 3, 1}, {3, 1, 1}, {2, 3, 1}, {3, 2, 1}};
const std::vector<Check> vector4{{1, 1, 101}, {2, 1, 202}, {4, 1, 404}};
const std::vector<Check> array32{{1, 1, 1}, {3, 1, 3}, {1, 2, 11}, {3, 2, 33}};
const std::vector<Check> hermitian3{{1, 3, C(10, -1)}, {3, 1, C(10, 1)}, {2, 3, C(20, -2)}, {3, 3, 30}};
const std::vector<Readable> readable{
    {"reader/fmm__eye3.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm__eye3_array.mtx.gz", 3, 3, 9, SXT_GENERAL, {{1, 1, 1}, {2, 1, 0}, {1, 2, 0}, {3, 3, 1}}},
    {"reader/fmm__eye3_complex.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm__eye3_pattern.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm__graphblas__matrix_bool.mtx.gz", 3, 1, 3, SXT_GENERAL, {{1, 1, 1}, {3, 1, 2}}},
    {"reader/fmm__graphblas__matrix_double_complex.mtx.gz", 3, 1, 3, SXT_GENERAL, {{2, 1, 1}, {3, 1, 2}}},
    {"reader/fmm__graphblas__matrix_float.mtx.gz", 3, 1, 3, SXT_GENERAL, {{1, 1, 1}, {3, 1, 2}}},
    {"reader/fmm__nist_ex1_freeformat.mtx.gz", 5, 5, 8, SXT_GENERAL, nist},
    {"reader/fmm__nist_ex1_more_freeformat.mtx.gz", 5, 5, 8, SXT_GENERAL, nist},
    {"reader/fmm__permissive__permissive_banner_one_percent_eye3.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm__permissive__permissive_lines_indented.mtx.gz", 1, 1, 1, SXT_GENERAL, {{1, 1, 1}}},
    {"reader/fmm__permissive__windows_lineendings_nist_ex1_more_freeformat.mtx.gz", 5, 5, 8, SXT_GENERAL, nist},
    {"reader/fmm__row_3by4.mtx.gz", 3, 4, 4, SXT_GENERAL, {{1, 1, 1}, {1, 2, 2}, {1, 3, 3}, {1, 4, 4}}},
    {"reader/fmm__symmetry__coordinate_hermitian_real_row_general.mtx.gz", 3, 3, 5, SXT_GENERAL, real3},
    {"reader/fmm__symmetry__coordinate_hermitian_real_row_general_dup.mtx.gz", 3, 3, 5, SXT_GENERAL, real3_sum},
    {"reader/fmm__symmetry__coordinate_hermitian_real_row_general_zero.mtx.gz", 3, 3, 5, SXT_GENERAL, real3},
    {"reader/fmm__symmetry__coordinate_hermitian_row_general.mtx.gz", 3, 3, 5, SXT_GENERAL, hermitian3},
    {"reader/fmm__symmetry__coordinate_hermitian_row_general_dup.mtx.gz",
     3,
     3,
     5,
     SXT_GENERAL,
     {{1, 3, C(10, -1)}, {3, 2, C(20, 2)}, {3, 3, 60}}},
    {"reader/fmm__symmetry__coordinate_hermitian_row_general_zero.mtx.gz", 3, 3, 5, SXT_GENERAL, hermitian3},
    {"reader/fmm__symmetry__coordinate_pattern_symmetric_row.mtx.gz", 3, 3, 4, SXT_SYMMETRIC, pattern3},
    {"reader/fmm__symmetry__coordinate_pattern_symmetric_row_general_dup.mtx.gz", 3, 3, 4, SXT_GENERAL, pattern3},
    {"reader/fmm__symmetry__coordinate_pattern_symmetric_row_general_zero.mtx.gz", 3, 3, 4, SXT_GENERAL, pattern3},
    {"reader/fmm__symmetry__coordinate_skew_symmetric_row.mtx.gz", 3, 3, 4, SXT_SKEW, skew3},
    {"reader/fmm__symmetry__coordinate_skew_symmetric_row_general_dup.mtx.gz", 3, 3, 4, SXT_GENERAL, skew3},
    {"reader/fmm__symmetry__coordinate_symmetric_row_general.mtx.gz", 3, 3, 5, SXT_GENERAL, real3},
    {"reader/fmm__symmetry__coordinate_symmetric_row_general_dup.mtx.gz", 3, 3, 5, SXT_GENERAL, real3_sum},
    {"reader/fmm__symmetry_array__array_hermitian_general.mtx.gz",
     3,
     3,
     9,
     SXT_GENERAL,
     {{1, 1, 1}, {2, 1, C(22, 1)}, {1, 2, C(22, -1)}, {2, 3, C(44, -1)}, {3, 3, 3}}},
    {"reader/fmm__symmetry_array__array_skew-symmetric.mtx.gz", 3, 3, 6, SXT_SKEW, skew3_array},
    {"reader/fmm__symmetry_array__array_skew-symmetric_general.mtx.gz", 3, 3, 9, SXT_GENERAL, skew3_array},
    {"reader/fmm__symmetry_array__array_symmetric_general.mtx.gz",
     3,
     3,
     9,
     SXT_GENERAL,
     {{1, 1, 1}, {2, 1, 22}, {3, 2, 44}, {2, 2, 2}, {3, 3, 3}}},
    {"reader/fmm__vector_array.mtx.gz", 4, 1, 4, SXT_GENERAL, {{1, 1, 101}, {3, 1, 0}, {4, 1, 404}}},
    {"reader/fmm__vector_coordinate.mtx.gz", 4, 1, 3, SXT_GENERAL, vector4},
    {"reader/fmm__vector_coordinate_complex.mtx.gz", 4, 1, 3, SXT_GENERAL, {{1, 1, 101}, {2, 1, C(202, 1)}}},
    {"reader/fmm_py__eye3.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm_py__matrix_array_complex_general.mtx.gz", 3, 2, 6, SXT_GENERAL, array32},
    {"reader/fmm_py__matrix_array_integer_general.mtx.gz", 3, 2, 6, SXT_GENERAL, array32},
    {"reader/fmm_py__matrix_array_real_general.mtx.gz", 3, 2, 6, SXT_GENERAL, array32},
    // The last diagonal entry is 30 + 3i in a Hermitian file, and 30 in a skew one: read, but as general matrices.
    {"reader/fmm_py__matrix_coordinate_complex_hermitian.mtx.gz",
     3,
     3,
     5,
     SXT_GENERAL,
     {{3, 1, C(10, 1)}, {1, 3, C(10, -1)}, {2, 3, C(20, -2)}, {3, 3, C(30, 3)}}},
    {"reader/fmm_py__matrix_coordinate_real_skew-symmetric.mtx.gz",
     3,
     3,
     5,
     SXT_GENERAL,
     {{3, 1, 10}, {1, 3, -10}, {2, 3, -20}, {3, 3, 30}}},
    {"reader/fmm_py__matrix_coordinate_pattern_general.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm_py__matrix_coordinate_pattern_symmetric.mtx.gz", 3, 3, 5, SXT_SYMMETRIC, pattern3},
    {"reader/fmm_py__matrix_coordinate_real_general.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm_py__matrix_coordinate_real_symmetric.mtx.gz", 3, 3, 5, SXT_SYMMETRIC, real3},
    {"reader/fmm_py__misc__windows_newlines.mtx.gz", 3, 3, 3, SXT_GENERAL, eye},
    {"reader/fmm_py__scipy_crashes__vector_array_real_general.mtx.gz", 4, 1, 4, SXT_GENERAL, vector4},
    {"reader/gear_integer_general_coordinate_100.mtx.gz",
     100,
     100,
     200,
     SXT_GENERAL,
     {{15, 16, 1}, {15, 14, 1}, {90, 89, 1}}},
    {"reader/hilbert_real_symmetric_array_10.mtx.gz",
     10,
     10,
     100,
     SXT_SYMMETRIC,
     {{1, 1, 1}, {2, 1, 0.5}, {1, 2, 0.5}, {2, 2, 3.3333333333333E-1}, {10, 10, 5.2631578947368E-2}}},
    {"reader/random_real_general_array_10_20.mtx.gz",
     10,
     20,
     200,
     SXT_GENERAL,
     {{1, 1, 3.8657857973798E+1}, {2, 1, -4.9614141943821E+0}}},
    {"reader/random_real_general_array_20_10.mtx.gz",
     20,
     10,
     200,
     SXT_GENERAL,
     {{1, 1, 3.8657857973798E+1}, {9, 1, 3.9112716073559E+1}}},
    // An index above 127 fits every index type here.
    {"malformed/fmm__overflow__overflow_index_gt_int8.mtx.gz", 1000, 1000, 1, SXT_GENERAL, {{300, 1, 1}}},
    {"own/skew_integer_zero.mtx", 4, 4, 6, SXT_SKEW, {{2, 1, 12}, {1, 2, -12}, {4, 1, 0}, {3, 4, -30}}},
    {"own/integer_beyond_comment_type.mtx", 2, 3, 3, SXT_GENERAL, {{1, 3, 0}, {2, 1, 256}, {1, 2, 4294967296.0}}},
    {"own/symmetric_pattern.mtx", 5, 5, 10, SXT_SYMMETRIC, {{3, 1, 1}, {1, 3, 1}, {4, 5, 1}, {5, 5, 1}}},
    {"own/rectangular_integer.mtx", 6, 7, 3, SXT_GENERAL, {{1, 1, 1}, {6, 7, -2}, {2, 4, 3}}},
};

struct Refused {
  const char *file;
  sxt_status status;
  const char *sentence;  // after "path:"
};

const std::vector<Refused> refused{
    {"malformed/fmm__invalid__invalid_bad_banner.mtx.gz", SXT_E_FILE_FORMAT, "1: expected the banner"},
    {"malformed/fmm__invalid__invalid_bad_banner_2.mtx.gz", SXT_E_FILE_FORMAT, "1: expected the banner"},
    {"malformed/fmm__invalid__invalid_bad_field.mtx.gz", SXT_E_FILE_FORMAT, "1: unknown field '____'"},
    {"malformed/fmm__invalid__invalid_bad_format.mtx.gz", SXT_E_FILE_FORMAT, "1: unknown format '____'"},
    {"malformed/fmm__invalid__invalid_bad_object.mtx.gz", SXT_E_FILE_FORMAT, "1: unknown object '___'"},
    {"malformed/fmm__invalid__invalid_bad_symmetry.mtx.gz", SXT_E_FILE_FORMAT, "1: unknown symmetry '___'"},
    {"malformed/fmm__invalid__invalid_dimensions_out_of_range_1.mtx.gz", SXT_E_FILE_FORMAT,
     "3: the number of rows is negative: -3"},
    {"malformed/fmm__invalid__invalid_dimensions_out_of_range_2.mtx.gz", SXT_E_FILE_FORMAT,
     "3: the number of columns is negative: -3"},
    {"malformed/fmm__invalid__invalid_dimensions_out_of_range_3.mtx.gz", SXT_E_FILE_FORMAT,
     "3: the number of entries is negative: -3"},
    {"malformed/fmm__invalid__invalid_indices_out_of_range_1.mtx.gz", SXT_E_INDEX,
     "5: the row index 5000 is outside 1..7"},
    {"malformed/fmm__invalid__invalid_indices_out_of_range_2.mtx.gz", SXT_E_INDEX,
     "6: the column index 2000 is outside 1..7"},
    {"malformed/fmm__invalid__invalid_indices_out_of_range_3.mtx.gz", SXT_E_INDEX,
     "5: the row index 0 is outside 1..7"},
    {"malformed/fmm__invalid__invalid_indices_out_of_range_4.mtx.gz", SXT_E_INDEX,
     "6: the column index 0 is outside 1..7"},
    {"malformed/fmm__invalid__invalid_indices_out_of_range_5.mtx.gz", SXT_E_INDEX,
     "5: the row index -1 is outside 1..7"},
    {"malformed/fmm__invalid__invalid_indices_out_of_range_6.mtx.gz", SXT_E_INDEX,
     "6: the column index -2 is outside 1..7"},
    {"malformed/fmm__invalid__invalid_symmetry_vector.mtx.gz", SXT_E_FILE_FORMAT, "1: a vector cannot be symmetric"},
    {"malformed/fmm__invalid__invalid_truncated_header_1.mtx.gz", SXT_E_FILE_FORMAT,
     "2: the file ends before its size line"},
    {"malformed/fmm__invalid__invalid_truncated_header_2.mtx.gz", SXT_E_FILE_FORMAT, "1: the banner has 4 words"},
    {"malformed/fmm__invalid__invalid_truncated_line_1.mtx.gz", SXT_E_FILE_FORMAT, "5: the line ends before its value"},
    {"malformed/fmm__invalid__invalid_truncated_line_2.mtx.gz", SXT_E_FILE_FORMAT,
     "5: the line ends before its column index"},
    {"malformed/fmm__invalid__invalid_vector_array_too_long.mtx.gz", SXT_E_FILE_FORMAT, "7: more than the 4 values"},
    {"malformed/fmm__invalid__invalid_vector_index_out_of_range_1.mtx.gz", SXT_E_INDEX,
     "4: the row index 0 is outside 1..4"},
    {"malformed/fmm__invalid__invalid_vector_index_out_of_range_2.mtx.gz", SXT_E_INDEX,
     "4: the row index 200 is outside 1..4"},
    {"malformed/fmm__invalid__invalid_vector_negative_length.mtx.gz", SXT_E_FILE_FORMAT,
     "2: the number of elements is negative: -4"},
    {"malformed/fmm__overflow__overflow_index_gt_int64.mtx.gz", SXT_E_INDEX,
     "6: the row index '19223372036854775808' does not fit 64 bits"},
    {"malformed/fmm__overflow__overflow_value_gt_complex128.mtx.gz", SXT_E_NOT_FINITE,
     "4: the value '1E9999' is too large"},
    {"malformed/fmm__overflow__overflow_value_gt_float128.mtx.gz", SXT_E_NOT_FINITE,
     "4: the value '1E9999' is too large"},
    {"malformed/fmm__overflow__overflow_value_gt_float64.mtx.gz", SXT_E_NOT_FINITE,
     "4: the value '1E310' is too large"},
    {"reader/fmm_py__long_double__longdouble_array.mtx.gz", SXT_E_NOT_FINITE, "4: the value '1E310' is too large"},
    {"reader/fmm_py__long_double__longdouble_coordinate.mtx.gz", SXT_E_NOT_FINITE, "4: the value '1E310' is too large"},
    {"own/zero_based.mtx", SXT_E_INDEX,
     "4: the row index 0 is outside 1..2; indices in Matrix Market files start at 1"},
    {"own/zero_based_column.mtx", SXT_E_INDEX, "4: the column index 0 is outside 1..4"},
    {"own/zero_based_pattern.mtx", SXT_E_INDEX, "3: the row index 0 is outside 1..2"},
    {"own/pattern_with_values.mtx", SXT_E_FILE_FORMAT,
     "4: expected the end of the line after the indices of a pattern entry, found '1'"},
    {"own/git_lfs_pointer.mtx", SXT_E_FILE_FORMAT, "1: this is a Git LFS pointer"},
    {"own/banner_only.mtx", SXT_E_FILE_FORMAT, "1: the file ends before its size line"},
    {"own/unknown_object.mtx", SXT_E_FILE_FORMAT, "1: unknown object 'graph'"},
    {"own/unknown_format.mtx", SXT_E_FILE_FORMAT, "1: unknown format 'sparse'"},
    {"own/unknown_field.mtx", SXT_E_FILE_FORMAT, "1: unknown field 'rational'"},
    {"own/unknown_symmetry.mtx", SXT_E_FILE_FORMAT, "1: unknown symmetry 'orthogonal'"},
    {"own/array_pattern.mtx", SXT_E_FILE_FORMAT, "1: an array cannot be a pattern"},
};

class Corpus : public testing::TestWithParam<int> {};  // the number of threads

TEST_P(Corpus, ReadableFilesHoldWhatTheyShould) {
  io::ReadOptions options;
  options.threads = GetParam();
  for (const Readable &expected : readable) {
    SCOPED_TRACE(expected.file);
    const io::MatrixMarketMatrix got = io::read_matrix(kData + expected.file, options, Allocator());
    EXPECT_EQ(got.csr.rows, expected.rows);
    EXPECT_EQ(got.csr.cols, expected.cols);
    EXPECT_EQ(got.csr.nnz, expected.nnz);
    EXPECT_EQ(got.symmetry, expected.symmetry);
    const Entries entries = entries_of(got.csr);
    for (const Check &check : expected.values) {
      const auto found = entries.find({check.row - 1, check.col - 1});
      ASSERT_NE(found, entries.end()) << check.row << ' ' << check.col;
      EXPECT_EQ(found->second, check.value) << check.row << ' ' << check.col;
    }
  }
}

TEST_P(Corpus, RefusedFilesNameTheLine) {
  io::ReadOptions options;
  options.threads = GetParam();
  for (const Refused &expected : refused) {
    SCOPED_TRACE(expected.file);
    const std::string path = kData + expected.file;
    const auto [status, sentence] = error_of([&] { io::read_matrix(path, options, Allocator()); });
    EXPECT_EQ(status, expected.status) << status_name(status);
    EXPECT_EQ(sentence.rfind(path + ":" + expected.sentence, 0), 0u) << sentence;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Corpus, testing::Values(1, 3));

TEST(MatrixMarketCorpus, LongDoubleFilesReadAsInfinityWhenThatIsAllowed) {
  io::ReadOptions options;
  options.check_finite = false;
  for (const char *file : {"longdouble_array", "longdouble_coordinate"}) {
    const auto got = io::read_matrix(kData + "reader/fmm_py__long_double__" + file + ".mtx.gz", options, Allocator());
    EXPECT_EQ(entries_of(got.csr), (Entries{{{0, 0}, std::numeric_limits<double>::infinity()}}));
  }
}

TEST(MatrixMarketCorpus, ContradictedHeadersAreNoted) {
  const auto note = [](const char *file) { return io::read_matrix(kData + "reader/" + file, {}, Allocator()).note; };
  EXPECT_NE(note("fmm_py__matrix_coordinate_real_skew-symmetric.mtx.gz").find(":6: a diagonal entry is not zero"),
            std::string::npos);
  EXPECT_NE(note("fmm_py__matrix_coordinate_complex_hermitian.mtx.gz").find(":6: a diagonal entry is not real"),
            std::string::npos);
  EXPECT_EQ(note("fmm__eye3.mtx.gz"), "");
}

// A file added to the folders without a line in the tables above would not be tested.
TEST(MatrixMarketCorpus, TablesCoverEveryFile) {
  std::set<std::string> listed;
  for (const Readable &entry : readable) listed.insert(entry.file);
  for (const Refused &entry : refused) listed.insert(entry.file);
  for (const std::string folder : {"reader", "malformed", "own"}) {
    DIR *dir = opendir((kData + folder).c_str());
    ASSERT_NE(dir, nullptr) << folder;
    int files = 0;
    while (const dirent *entry = readdir(dir)) {
      if (entry->d_name[0] == '.') continue;
      ++files;
      EXPECT_EQ(listed.count(folder + "/" + entry->d_name), 1u) << folder << '/' << entry->d_name;
    }
    closedir(dir);
    EXPECT_GT(files, 0) << folder;
  }
}

}  // namespace
}  // namespace sextant::test
