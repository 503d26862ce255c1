// SPDX-License-Identifier: BSD-3-Clause
// Stamps: what they keep about a file, and what makes them invalid.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/registry/paths.hpp"
#include "core/registry/stamps.hpp"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::registry::read_stamp;
using sextant::registry::Stamp;
using sextant::registry::stamp_of;
using sextant::registry::write_stamp;
using testing::HasSubstr;

namespace {

class Stamps : public testing::Test {
 protected:
  std::string only_stamp() const {
    const auto names = sextant::registry::sorted_entries(folder_ / "state/sextant/stamps");
    EXPECT_EQ(names.size(), 1u);
    return names.empty() ? "" : folder_ / ("state/sextant/stamps/" + names[0]);
  }
  static bool nothing(const std::string &path) {
    const Stamp stamp = read_stamp(path);
    return stamp.passed.empty() && stamp.failed.empty();
  }
  Folder folder_;
  Environment state_{"XDG_STATE_HOME", (folder_ / "state").c_str()};
  std::string plugin_ = folder_.copy(mock("scale"), "x.so");
};

const Stamp found = {{{"good", {"cpu/here/1"}}}, {{"bad", {{"cpu/here/1", "y is\nwrong"}}}}};

TEST_F(Stamps, KeepTheResultOfAFilesCheck) {
  EXPECT_TRUE(nothing(plugin_));
  write_stamp(plugin_, stamp_of(plugin_), found);
  const Stamp read = read_stamp(plugin_);
  EXPECT_EQ(read.passed, found.passed);
  EXPECT_EQ(read.failed.at("bad").at("cpu/here/1"), "y is wrong");
  write_stamp(plugin_, stamp_of(plugin_), found);  // again is no error
  fs::create_symlink(plugin_, folder_ / "link.so");
  EXPECT_FALSE(nothing(folder_ / "link.so"));
}

// A file that is refused here is refused under another name, too.
TEST_F(Stamps, AreForTheContentAtAnyPath) {
  write_stamp(plugin_, stamp_of(plugin_), found);
  EXPECT_FALSE(nothing(folder_.copy(plugin_, "elsewhere/copy.so")));
  const auto time = fs::last_write_time(plugin_);
  std::string bytes = contents(plugin_);
  bytes[bytes.size() / 2] ^= 1;
  write(plugin_, bytes);
  fs::last_write_time(plugin_, time);  // the same size and time, other contents
  EXPECT_TRUE(nothing(plugin_));
  bytes[bytes.size() / 2] ^= 1;
  write(plugin_, bytes);
  EXPECT_FALSE(nothing(plugin_));
}

TEST_F(Stamps, AreRefusedWhenTheFileChangedMeanwhile) {
  const std::string checked = stamp_of(plugin_);
  write(plugin_, contents(plugin_) + "more");
  try {
    write_stamp(plugin_, checked, {});
    FAIL() << "stamped an unchecked file";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_PLUGIN);
    EXPECT_THAT(problem.what(), HasSubstr("changed while it was checked"));
  }
  EXPECT_TRUE(nothing(plugin_));
}

TEST_F(Stamps, DamagedOnesAreNone) {
  write_stamp(plugin_, stamp_of(plugin_), found);
  write(only_stamp(), contents(only_stamp()).substr(0, 30));
  EXPECT_TRUE(nothing(plugin_));
  write(only_stamp(), "");
  EXPECT_TRUE(nothing(plugin_));
}

TEST_F(Stamps, ReportWhyTheyCannotBeWritten) {
  write(folder_ / "state", "a file where a directory should be");
  try {
    write_stamp(plugin_, stamp_of(plugin_), found);
    FAIL() << "wrote a stamp through a file";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_FILE_WRITE);
    EXPECT_THAT(problem.what(), HasSubstr(folder_ / "state"));
  }
  EXPECT_TRUE(nothing(plugin_));
}

TEST_F(Stamps, NeedAHome) {
  const Environment state("XDG_STATE_HOME", nullptr), home("HOME", nullptr);
  EXPECT_THROW(write_stamp(plugin_, stamp_of(plugin_), found), sextant::Error);
  EXPECT_TRUE(nothing(plugin_));
}

TEST_F(Stamps, HaveAnEntryForEachKernelAndDevice) {
  const Stamp stamp = {{{"com.example.scale.full", {"cpu/here/1"}}},
                       {{"com.example.scale.reference", {{"cpu/there/1", "x"}}}}};
  write_stamp(plugin_, stamp_of(plugin_), stamp);
  Registry registry("/nonexistent");
  Log log;
  registry.load_path(plugin_, log.sink());
  const auto &full = *registry.find("com.example.scale.full");
  EXPECT_EQ(full.verdict, sextant::registry::Verdict::untested);  // but on one device
  EXPECT_EQ(full.stamped_on, std::vector<std::string>{"cpu/here/1"});
  const auto &reference = *registry.find("com.example.scale.reference");
  EXPECT_EQ(reference.verdict, sextant::registry::Verdict::quarantined);
  ASSERT_EQ(refusals_of(registry, plugin_).size(), 1u);
  EXPECT_THAT(refusals_of(registry, plugin_)[0].reason, HasSubstr("sextant plugin check refused it on cpu/there/1: x"));
  const auto warning = [](const auto &line) { return line.first == SXT_LOG_WARNING; };
  EXPECT_EQ(std::count_if(log.lines.begin(), log.lines.end(), warning), 1);
}

TEST_F(Stamps, AFileWhoseCheckEndedItsProcessIsNotLoaded) {
  write_stamp(plugin_, stamp_of(plugin_), {{}, {{sextant::registry::whole_file, {{"cpu/here/1", "it crashed"}}}}});
  Registry registry("/nonexistent");
  EXPECT_THAT(load(registry, plugin_), HasSubstr("it crashed"));
  // But by another check.
  EXPECT_NO_THROW(registry.extended(registry.scope({}, {}), plugin_, {}));
}

}  // namespace
