// SPDX-License-Identifier: BSD-3-Clause
// Stamps: what is remembered of a file, and what makes it void.
#include <gmock/gmock.h>

#include "core/registry/conformance.hpp"
#include "core/registry/paths.hpp"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::registry::is_stamped;
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
  Folder folder_;
  Environment state_{"XDG_STATE_HOME", (folder_ / "state").c_str()};
  std::string plugin_ = folder_.copy(mock("scale"), "x.so");
};

TEST_F(Stamps, RememberAFile) {
  EXPECT_FALSE(is_stamped(plugin_));
  write_stamp(plugin_, stamp_of(plugin_));
  EXPECT_TRUE(is_stamped(plugin_));
  EXPECT_THAT(contents(only_stamp()), HasSubstr("path " + plugin_ + "\n"));
  write_stamp(plugin_, stamp_of(plugin_));  // again is no error
  EXPECT_TRUE(is_stamped(plugin_));
  fs::create_symlink(plugin_, folder_ / "link.so");
  EXPECT_TRUE(is_stamped(folder_ / "link.so"));
}

TEST_F(Stamps, AreForTheFileAsItWas) {
  write_stamp(plugin_, stamp_of(plugin_));
  const auto time = fs::last_write_time(plugin_);
  std::string bytes = contents(plugin_);
  bytes[bytes.size() / 2] ^= 1;
  write(plugin_, bytes);
  fs::last_write_time(plugin_, time);  // the same size and time, other contents
  EXPECT_FALSE(is_stamped(plugin_));
  bytes[bytes.size() / 2] ^= 1;
  write(plugin_, bytes);
  fs::last_write_time(plugin_, time + std::chrono::seconds(1));  // the same contents at another time
  EXPECT_FALSE(is_stamped(plugin_));
  fs::last_write_time(plugin_, time);
  EXPECT_TRUE(is_stamped(plugin_));
}

TEST_F(Stamps, AreRefusedWhenTheFileChangedMeanwhile) {
  const std::string checked = stamp_of(plugin_);
  write(plugin_, contents(plugin_) + "more");
  try {
    write_stamp(plugin_, checked);
    FAIL() << "stamped what nobody checked";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_PLUGIN);
    EXPECT_THAT(problem.what(), HasSubstr("changed while it was checked"));
  }
  EXPECT_FALSE(is_stamped(plugin_));
}

TEST_F(Stamps, DamagedOnesAreNone) {
  write_stamp(plugin_, stamp_of(plugin_));
  write(only_stamp(), contents(only_stamp()).substr(0, 30));
  EXPECT_FALSE(is_stamped(plugin_));
  write(only_stamp(), "");
  EXPECT_FALSE(is_stamped(plugin_));
}

TEST_F(Stamps, SayWhyTheyCannotBeWritten) {
  write(folder_ / "state", "a file where a directory should be");
  try {
    write_stamp(plugin_, stamp_of(plugin_));
    FAIL() << "wrote a stamp through a file";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_FILE_WRITE);
    EXPECT_THAT(problem.what(), HasSubstr(folder_ / "state"));
  }
  EXPECT_FALSE(is_stamped(plugin_));
}

TEST_F(Stamps, NeedAHome) {
  const Environment state("XDG_STATE_HOME", nullptr), home("HOME", nullptr);
  EXPECT_THROW(write_stamp(plugin_, stamp_of(plugin_)), sextant::Error);
  EXPECT_FALSE(is_stamped(plugin_));
}

TEST_F(Stamps, AStampedStrangerNeedsNoTest) {
  write_stamp(plugin_, stamp_of(plugin_));
  Registry registry("/nonexistent");
  registry.load_path(plugin_, {});
  EXPECT_EQ(registry.find("com.example.scale.full")->verdict, sextant::registry::Verdict::passed);
}

}  // namespace
