// SPDX-License-Identifier: BSD-3-Clause
// The writer of all files: what it replaces, what it keeps, what remains after errors.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/log.hpp"
#include "core/model/profile.hpp"
#include "files/output_file.hpp"

namespace {

namespace fs = std::filesystem;
using sextant::files::OutputFile;
using sextant::files::write_file;
using sextant::files::WriteError;
using testing::HasSubstr;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("sextant-output-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char *name) const { return (folder_ / name).string(); }
  static std::string read(const std::string &from) {
    std::ifstream in(from);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(OutputFileTest, WithoutCommitNothingChanges) {
  write_file(path("a"), "old");
  {
    OutputFile file(path("a"));
    file.write("new");
  }
  EXPECT_EQ(read(path("a")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, ModesAndLinksStay) {
  write_file(path("a"), "old");
  ASSERT_EQ(chmod(path("a").c_str(), 0604), 0);
  fs::create_symlink("a", path("b"));
  fs::create_symlink("b", path("c"));
  write_file(path("c"), "new");
  EXPECT_EQ(read(path("a")), "new");
  EXPECT_TRUE(fs::is_symlink(path("c")) && fs::is_symlink(path("b")));
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0604u);
  EXPECT_EQ(files(), 3u);
}

TEST_F(OutputFileTest, LinksInACircleAreAnError) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  try {
    write_file(path("a"), "x");
    FAIL();
  } catch (const WriteError &problem) {
    EXPECT_EQ(problem.reason(), ELOOP);
    EXPECT_THAT(problem.what(), HasSubstr(path("a") + ": could not be written: "));
  }
}

TEST_F(OutputFileTest, AFullDiskIsNamed) {
  try {
    write_file("/dev/full", std::string(5 << 20, 'x'));
    FAIL();
  } catch (const WriteError &problem) {
    EXPECT_EQ(problem.reason(), ENOSPC);
    EXPECT_STREQ(problem.what(), "/dev/full: could not be written: No space left on device");
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

volatile sig_atomic_t signals = 0;

TEST_F(OutputFileTest, AClosedPipeIsAnErrorAndTheProgramsHandlingOfSignalsStays) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  OutputFile file("/proc/self/fd/" + std::to_string(ends[1]));
  close(ends[0]);
  struct sigaction counting {
  }, before{}, after{};
  counting.sa_handler = [](int) { signals = signals + 1; };
  ASSERT_EQ(sigaction(SIGPIPE, &counting, &before), 0);
  try {
    file.write("x");
    file.commit();
    ADD_FAILURE();
  } catch (const WriteError &problem) {
    EXPECT_EQ(problem.reason(), EPIPE);
  }
  EXPECT_EQ(signals, 0);
  raise(SIGPIPE);
  EXPECT_EQ(signals, 1) << "SIGPIPE is as it was";
  ASSERT_EQ(sigaction(SIGPIPE, &before, &after), 0);
  EXPECT_EQ(after.sa_handler, counting.sa_handler);
  close(ends[1]);
}

TEST_F(OutputFileTest, AProfileIsWrittenThroughALinkAndToADevice) {
  sextant::Profile profile;
  profile.machine["stream_rate"] = 1e9;
  const sextant::LogSink silent;
  write_file(path("profile.toml"), "format = 1\n");
  fs::create_symlink("profile.toml", path("link"));
  sextant::update_profile(path("link"), profile, silent);
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_THAT(read(path("profile.toml")), HasSubstr("stream_rate"));
  EXPECT_EQ(sextant::update_profile("/dev/null", profile, silent).path, "/dev/null");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(fs::exists("/dev/null.lock"));
}

TEST_F(OutputFileTest, ReadersTakeRegularFilesOfBoundedSize) {
  write_file(path("a"), std::string(100, 'x'));
  EXPECT_EQ(sextant::read_file(path("a"), 100).size(), 100u);
  const auto refused = [](const std::string &from, std::uint64_t most) -> std::string {
    try {
      sextant::read_file(from, most);
    } catch (const sextant::Error &problem) {
      EXPECT_EQ(problem.status(), SXT_E_FILE_READ);
      return problem.what();
    }
    return "";
  };
  EXPECT_EQ(refused(path("a"), 99), path("a") + ": it has 100 bytes or more; at most 99 are read");
  EXPECT_EQ(refused("/dev/zero", 99), "/dev/zero: it is not a regular file");
  EXPECT_THAT(refused(path("none"), 99), HasSubstr("No such file"));
  // Files that the system generates state no size.
  EXPECT_THAT(refused("/proc/self/maps", 10), HasSubstr("at most 10 are read"));
}

}  // namespace
