// SPDX-License-Identifier: BSD-3-Clause
// Which files are loaded although the program does not name them, and from where.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <pwd.h>

#include <fstream>

#include "core/registry/paths.hpp"
#include "core/registry/trust.hpp"
#include "test_registry_util.hpp"

using namespace registry_test;
using sextant::registry::ownership_problem;
using sextant::registry::trust_problem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

struct stat status_of(uid_t user, gid_t group, mode_t mode) {
  struct stat status {};
  status.st_uid = user;
  status.st_gid = group;
  status.st_mode = mode;
  return status;
}

TEST(Ownership, RootsAndTheUsersOwnPass) {
  EXPECT_EQ(ownership_problem("/p", status_of(0, 0, S_IFREG | 0755), 1000), "");
  EXPECT_EQ(ownership_problem("/p", status_of(1000, 1000, S_IFREG | 0600), 1000), "");
}

TEST(Ownership, OthersAreNamed) {
  EXPECT_EQ(ownership_problem("/p/x.so", status_of(1001, 0, S_IFREG | 0755), 1000),
            "'/p/x.so' belongs to user 1001, not to root or user 1000");
}

TEST(Ownership, WritableByAllUsersIsNamedWithItsMode) {
  EXPECT_EQ(ownership_problem("/p/x.so", status_of(1000, 0, S_IFREG | 0757), 1000),
            "'/p/x.so' is writable by all users (mode 0757)");
  EXPECT_THAT(ownership_problem("/p", status_of(0, 0, S_IFDIR | 0777), 1000), HasSubstr("(mode 0777)"));
}

TEST(Ownership, AStickyDirectoryPassesAStickyFileDoesNot) {
  EXPECT_EQ(ownership_problem("/tmp", status_of(0, 0, S_IFDIR | S_ISVTX | 0777), 1000), "");
  EXPECT_THAT(ownership_problem("/tmp/x", status_of(0, 0, S_IFREG | S_ISVTX | 0777), 1000), HasSubstr("(mode 1777)"));
  EXPECT_THAT(ownership_problem("/tmp/d", status_of(1001, 0, S_IFDIR | S_ISVTX | 0777), 1000),
              HasSubstr("belongs to user 1001"));
}

TEST(Ownership, OnlyTheUsersPrivateGroupMayWrite) {
  // A user with a group of the same name and without other members; root always is one.
  const passwd *user = getpwuid(0);
  ASSERT_NE(user, nullptr);
  const group *own = getgrgid(user->pw_gid);
  ASSERT_NE(own, nullptr);
  ASSERT_STREQ(own->gr_name, user->pw_name);
  EXPECT_EQ(ownership_problem("/p", status_of(0, user->pw_gid, S_IFDIR | 0775), 0), "");
  const std::string problem = ownership_problem("/p", status_of(0, user->pw_gid + 1, S_IFDIR | 0775), 0);
  EXPECT_EQ(problem, "'/p' is writable by group " + std::to_string(user->pw_gid + 1) +
                         " (mode 0775), which is not the user's alone");
  // To another user the same group is foreign.
  EXPECT_THAT(ownership_problem("/p", status_of(0, user->pw_gid, S_IFDIR | 0775), 65534), HasSubstr("group"));
}

// The group is another user's primary one: that user is in no list of members, but is in the group after a login.
TEST(Ownership, AGroupThatIsAnotherUsersPrimaryOneMayNotWrite) {
  Folder folder;
  const std::string accounts = folder / "accounts";
  const auto problem = [&](const std::string &text) {
    std::ofstream(accounts) << text;
    return ownership_problem("/p", status_of(0, 0, S_IFDIR | 0775), 0, accounts.c_str());
  };
  EXPECT_EQ(problem("root:x:0:0:root:/root:/bin/sh\nmail:x:8:8::/:/bin/sh\n"), "");
  EXPECT_EQ(problem("toor:x:0:0::/:/bin/sh\nroot:x:0:0:root:/root:/bin/sh\n"), "") << "a second name of the same user";
  EXPECT_THAT(problem("root:x:0:0:root:/root:/bin/sh\nmallory:x:1234:0::/:/bin/sh\n"),
              HasSubstr("writable by group 0"));
  EXPECT_THAT(problem("mail:x:8:8::/:/bin/sh\n"), HasSubstr("writable by group 0")) << "the user is not known there";
  fs::remove(accounts);
  EXPECT_THAT(ownership_problem("/p", status_of(0, 0, S_IFDIR | 0775), 0, accounts.c_str()), HasSubstr("group 0"));
}

class Trust : public testing::Test {
 protected:
  std::string problem(const std::string &path) {
    const int file = open(path.c_str(), O_RDONLY);
    const std::string said = trust_problem(file, path);
    close(file);
    return said;
  }
  Folder folder_;
};

TEST_F(Trust, AFileInASaneFolderPasses) { EXPECT_EQ(problem(folder_.copy(mock("scale"), "a/b/x.so")), ""); }

TEST_F(Trust, AnyFolderAboveMayBeTheReason) {
  const std::string path = folder_.copy(mock("scale"), "a/b/x.so");
  fs::permissions(folder_ / "a", fs::perms(0777));
  EXPECT_EQ(problem(path), "'" + (folder_ / "a") + "' is writable by all users (mode 0777)");
  fs::permissions(folder_ / "a", fs::perms(01777));
  EXPECT_EQ(problem(path), "");
}

// ---- through the registry
// --------------------------------------------------------------------------------------------

class SearchPaths : public testing::Test {
 protected:
  // The registry after load_default with these variables; plugins of its own: none.
  void load_default(const char *path, const char *data_home) {
    const Environment plugin_path("SEXTANT_PLUGIN_PATH", path), data("XDG_DATA_HOME", data_home);
    registry_.load_default({});
  }
  Folder folder_;
  Registry registry_{"/nonexistent"};
};

TEST_F(SearchPaths, AreFilesAndFoldersInTheirOrder) {
  const std::string file = folder_.copy(mock("scale"), "x.so");
  numbered_copy(folder_, "p", 1);
  folder_.copy(mock("device-mock"), "p/device/m.so");
  numbered_copy(folder_, "p/mock", 2);
  numbered_copy(folder_, "home/sextant/plugins-0", 3);
  load_default((file + "::" + (folder_ / "p")).c_str(), (folder_ / "home").c_str());
  EXPECT_THAT(plugin_names(registry_),
              ElementsAre("mock-scale", "mock-device-mock", "mock-copy-002", "mock-copy-001", "mock-copy-003"));
  EXPECT_THAT(registry_.refusals(), IsEmpty());
}

TEST_F(SearchPaths, AFileThatAllUsersMayWriteIsRefused) {
  const std::string path = folder_.copy(mock("scale"), "p/x.so");
  fs::permissions(path, fs::perms(0777));
  load_default((folder_ / "p").c_str(), "/nonexistent");
  EXPECT_THAT(registry_.plugins(), IsEmpty());
  const auto records = refusals_of(registry_, path);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].stage, "trust");
  EXPECT_EQ(records[0].reason, "'" + path + "' is writable by all users (mode 0777)");
}

TEST_F(SearchPaths, AFileInAFolderThatAllUsersMayWriteIsRefused) {
  const std::string path = folder_.copy(mock("scale"), "p/x.so");
  fs::permissions(folder_ / "p", fs::perms(0777));
  load_default((folder_ / "p").c_str(), "/nonexistent");
  const auto records = refusals_of(registry_, path);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].stage, "trust");
  EXPECT_THAT(records[0].reason, HasSubstr("'" + (folder_ / "p") + "'"));
}

TEST_F(SearchPaths, TheTargetOfALinkIsChecked) {
  const std::string target = folder_.copy(mock("scale"), "open/x.so");
  fs::permissions(folder_ / "open", fs::perms(0777));
  folder_.directory("p");
  fs::create_symlink(target, folder_ / "p/x.so");
  load_default((folder_ / "p").c_str(), "/nonexistent");
  const auto records = refusals_of(registry_, target);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].stage, "trust");
}

TEST_F(SearchPaths, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) {  // only root can give a file away; the rule itself is tested above for every user
    EXPECT_THAT(ownership_problem("x", status_of(geteuid() + 1, 0, S_IFREG | 0755), geteuid()),
                HasSubstr("belongs to"));
    return;
  }
  const std::string path = folder_.copy(mock("scale"), "p/x.so");
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  load_default((folder_ / "p").c_str(), "/nonexistent");
  const auto records = refusals_of(registry_, path);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].reason, "'" + path + "' belongs to user 65534, not to root or user 0");
}

TEST_F(SearchPaths, ANamedPathIsTheProgramsOwnChoice) {
  const std::string path = folder_.copy(mock("scale"), "p/x.so");
  fs::permissions(path, fs::perms(0777));
  EXPECT_EQ(registry_.load_path(path, {}), 1);
}

TEST_F(SearchPaths, AMisspeltOneIsRecorded) {
  load_default("/nonexistent/plugins", "/nonexistent");
  ASSERT_EQ(registry_.refusals().size(), 1u);  // and none for the user's folder, which need not be there
  EXPECT_EQ(registry_.refusals()[0]->path, "/nonexistent/plugins");
  EXPECT_EQ(registry_.refusals()[0]->stage, "open");
}

TEST_F(SearchPaths, AreIgnoredWithMoreRightsThanTheCaller) {
  numbered_copy(folder_, "home/sextant/plugins-0", 3);
  const std::string file = folder_.copy(mock("scale"), "x.so");
  sextant::registry::pretend_elevated_for_tests(true);
  load_default(file.c_str(), (folder_ / "home").c_str());
  sextant::registry::pretend_elevated_for_tests(false);
  EXPECT_THAT(registry_.plugins(), IsEmpty());
  EXPECT_THAT(registry_.refusals(), IsEmpty());
}

TEST_F(SearchPaths, TheUsersFolderDefaultsToTheHomeFolder) {
  const Environment home("HOME", folder_.path().c_str());
  numbered_copy(folder_, ".local/share/sextant/plugins-0", 5);
  load_default(nullptr, nullptr);
  EXPECT_THAT(plugin_names(registry_), ElementsAre("mock-copy-005"));
}

}  // namespace
