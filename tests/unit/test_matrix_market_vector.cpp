// SPDX-License-Identifier: BSD-3-Clause
// Vectors: reading every form, writing and reading back the same bits, and disks that are full.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/unit/test_matrix_market_util.hpp"

namespace sextant::test {
namespace {

std::vector<double> read(const std::string &content, io::ReadOptions options = {}) {
  const auto got = io::read_vector(TextFile(content).path(), options, Allocator());
  EXPECT_EQ(got.value_type, SXT_F64);
  return {got.values.as<double>(), got.values.as<double>() + got.n};
}

TEST(MatrixMarketVector, ReadsEveryForm) {
  const std::vector<double> expected{1.5, 0, -3};
  for (const char *content : {"%%MatrixMarket matrix array real general\n3 1\n1.5\n0\n-3\n",
                              "%%MatrixMarket matrix array real general\n1 3\n1.5\n0\n-3",
                              "%%MatrixMarket vector array real general\n% c\n3\n1.5\n\n0\n-3\n",
                              "%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 -3\n1 1 1.5\n",
                              "%%MatrixMarket matrix coordinate real general\n1 3 2\n1 3 -3\n1 1 1.5\n",
                              "%%MatrixMarket vector coordinate real general\n3 2\n3 -3\n1 1.5\n"})
    EXPECT_EQ(read(content), expected) << content;
  EXPECT_EQ(read("%%MatrixMarket vector coordinate pattern general\n3 2\n3\n1\n"), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(read("%%MatrixMarket vector array real general\n0\n"), std::vector<double>());
}

TEST(MatrixMarketVector, DuplicatesAreSummedOrRefused) {
  const std::string content = "%%MatrixMarket vector coordinate real general\n3 3\n2 1\n1 5\n2 0.25\n";
  EXPECT_EQ(read(content), (std::vector<double>{5, 1.25, 0}));
  io::ReadOptions strict;
  strict.sum_duplicates = false;
  const auto [status, sentence] = error_of([&] { read(content, strict); });
  EXPECT_EQ(status, SXT_E_DUPLICATE);
  EXPECT_NE(sentence.find(":5: element 2 has an entry already, in line 3"), std::string::npos) << sentence;
}

TEST(MatrixMarketVector, MatricesAndBadFilesAreRefused) {
  EXPECT_EQ(error_of([] { read("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"); }).first,
            SXT_E_DIMENSION);
  EXPECT_NE(
      error_of([] { read("%%MatrixMarket vector array real general\n2\n1\nx\n"); }).second.find(":4: the value 'x'"),
      std::string::npos);
  EXPECT_NE(error_of([] {
              read("%%MatrixMarket vector array real general\n2\n1\nnan\n");
            }).second.find(":4: the value 'nan'"),
            std::string::npos);
}

template <class V>
void expect_round_trip(const std::vector<V> &values) {
  const std::string path = testing::TempDir() + text("sextant-round-", getpid(), "-", value_type_of<V>, ".mtx");
  io::write_vector(path, static_cast<std::int64_t>(values.size()), value_type_of<V>, values.data());
  io::ReadOptions options;
  options.value_type = value_type_of<V>;
  options.check_finite = false;
  const auto got = io::read_vector(path, options, Allocator());
  ASSERT_EQ(got.n, static_cast<std::int64_t>(values.size()));
  ASSERT_EQ(got.values.bytes(), values.size() * sizeof(V));
  EXPECT_TRUE(values.empty() || std::memcmp(got.values.data(), values.data(), values.size() * sizeof(V)) == 0);
  std::remove(path.c_str());
}

TEST(MatrixMarketVector, WrittenValuesReadBackWithTheSameBits) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr float inff = std::numeric_limits<float>::infinity();
  expect_round_trip<double>(
      {0.1, -0.0, 1.0 / 3, 1e308, 5e-324, 2.2250738585072014e-308, 1e22, 123456789, -7, inf, -inf});
  expect_round_trip<float>({0.1f, -0.0f, 1.0f / 3, 3e38f, 1e-45f, 16777217.0f, inff});
  expect_round_trip<c128>({{0.1, -0.2}, {0, 5e-324}, {-0.0, 1}});
  expect_round_trip<c64>({{0.1f, -0.2f}, {1e-45f, 3e38f}});
  expect_round_trip<double>({});
  // More than one buffer of text.
  std::vector<double> many(20000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = 1.0 / static_cast<double>(i + 1);
  expect_round_trip(many);
}

// The names in a fresh folder, so that leftovers are seen.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "sextant-folder-XXXXXX") {
    if (!mkdtemp(path_.data())) throw std::runtime_error("cannot make " + path_);
  }
  ~Folder() {
    for (const std::string &name : names()) std::remove((path_ + "/" + name).c_str());
    rmdir(path_.c_str());
  }
  std::string operator/(const char *name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    DIR *dir = opendir(path_.c_str());
    while (const dirent *entry = readdir(dir))
      if (entry->d_name[0] != '.') out.push_back(entry->d_name);
    closedir(dir);
    return out;
  }

 private:
  std::string path_;
};

void put_text(const std::string &path, const char *content) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(content, file);
  std::fclose(file);
}

TEST(MatrixMarketVector, ReplacesAFileAndKeepsItsModeAndLinks) {
  const Folder folder;
  put_text(folder / "x.mtx", "old");
  ASSERT_EQ(chmod((folder / "x.mtx").c_str(), 0640), 0);
  ASSERT_EQ(symlink("x.mtx", (folder / "link").c_str()), 0);
  const double value = 2.5;
  io::write_vector(folder / "link", 1, SXT_F64, &value);
  EXPECT_EQ(read_file(folder / "x.mtx"), "%%MatrixMarket matrix array real general\n1 1\n2.5\n");
  struct stat status;
  ASSERT_EQ(lstat((folder / "link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat((folder / "x.mtx").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
  EXPECT_EQ(folder.names().size(), 2u);
}

// A limit on the size of files, so that a write fails as on a full disk; the signal that comes with it is ignored.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit old_{};
};

TEST(MatrixMarketVector, AFullDiskLeavesTheOldFileAlone) {
  const Folder folder;
  const std::string path = folder / "x.mtx";
  put_text(path, "old");
  const std::vector<double> values(100000, 0.1);
  std::pair<sxt_status, std::string> error;
  {
    const SmallFiles limit(100000);
    error = error_of([&] { io::write_vector(path, 100000, SXT_F64, values.data()); });
  }
  EXPECT_EQ(error.first, SXT_E_FILE_WRITE);
  EXPECT_EQ(error.second, path + ": could not be written: " + std::strerror(EFBIG));
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x.mtx"});
}

TEST(MatrixMarketVector, AFullDeviceIsReportedAndStaysADevice) {
  const double value = 1;
  const auto [status, sentence] = error_of([&] { io::write_vector("/dev/full", 1, SXT_F64, &value); });
  EXPECT_EQ(status, SXT_E_FILE_WRITE);
  EXPECT_EQ(sentence, std::string("/dev/full: could not be written: ") + std::strerror(ENOSPC));
  struct stat kind;
  ASSERT_EQ(stat("/dev/full", &kind), 0);
  EXPECT_TRUE(S_ISCHR(kind.st_mode));
  io::write_vector("/dev/null", 1, SXT_F64, &value);
}

TEST(MatrixMarketVector, AFolderThatIsNotThereIsNamed) {
  const double value = 1;
  const auto [status, sentence] = error_of([&] { io::write_vector("/nonexistent/x.mtx", 1, SXT_F64, &value); });
  EXPECT_EQ(status, SXT_E_FILE_WRITE);
  EXPECT_EQ(sentence, "/nonexistent/x.mtx: could not be written: No such file or directory");
  EXPECT_EQ(error_of([&] { io::write_vector("/tmp/x", -1, SXT_F64, &value); }).first, SXT_E_ARGUMENT);
  EXPECT_EQ(error_of([&] { io::write_vector("/tmp/x", 1, SXT_F64, nullptr); }).first, SXT_E_ARGUMENT);
}

}  // namespace
}  // namespace sextant::test
