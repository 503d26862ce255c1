// SPDX-License-Identifier: BSD-3-Clause
// Owners and modes of a file and of every folder above it.
#include "core/registry/trust.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace sextant::registry {
namespace {

std::atomic<bool> elevated_for_tests{false};

std::string octal(mode_t mode) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%04o", mode & 07777u);
  return digits;
}

// Whether a group is the primary one of this user and of no other. By the file of accounts itself: going through the
// system's own list would disturb a program that does so, and a directory on the network need not list its users. Where
// the file cannot be read, or does not know the user, nothing is certain. *name: the user's.
bool has_group_alone(gid_t group, uid_t user, const char *accounts, std::string *name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(accounts, "re"), std::fclose);
  if (!file) return false;
  std::vector<char> space(1 << 16);
  passwd entry{}, *found = nullptr;
  bool own = false;
  int reason = 0;
  while ((reason = fgetpwent_r(file.get(), &entry, space.data(), space.size(), &found)) == 0) {
    if (entry.pw_gid != group) continue;
    if (entry.pw_uid != user) return false;
    own = true;
    *name = entry.pw_name;
  }
  return own && reason == ENOENT;  // at the end, not before
}

// Debian gives each user a group of the user's name and a umask of 002 where it is used: no other user is in it,
// neither as a member nor because it is the user's primary one.
bool is_private_group(gid_t group, uid_t user, const char *accounts) {
  std::string name;
  if (!has_group_alone(group, user, accounts, &name)) return false;
  std::vector<char> space(1 << 16);
  struct group group_entry {
  }, *group_found = nullptr;
  if (getgrgid_r(group, &group_entry, space.data(), space.size(), &group_found) != 0 || !group_found) return false;
  if (name != group_entry.gr_name) return false;
  for (char **member = group_entry.gr_mem; member && *member; ++member)
    if (name != *member) return false;
  return true;
}

}  // namespace

std::string ownership_problem(const std::string &path, const struct stat &status, uid_t user, const char *accounts) {
  if (status.st_uid != 0 && status.st_uid != user)
    return text("'", path, "' belongs to user ", status.st_uid, ", not to root or user ", user);
  // In a sticky directory only the owner can replace a file.
  if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX)) return "";
  if (status.st_mode & S_IWOTH) return text("'", path, "' is writable by all users (mode ", octal(status.st_mode), ")");
  if ((status.st_mode & S_IWGRP) && !is_private_group(status.st_gid, user, accounts))
    return text("'", path, "' is writable by group ", status.st_gid, " (mode ", octal(status.st_mode),
                "), which is not the user's alone");
  return "";
}

std::string trust_problem(int file, const std::string &real_path) {
  const uid_t user = geteuid();
  struct stat status {};
  if (fstat(file, &status) != 0) return text("'", real_path, "' could not be examined: ", std::strerror(errno));
  std::string problem = ownership_problem(real_path, status, user);
  // From the file's folder up to the root: a user who may write one of them may put another file in this one's place.
  for (std::string folder = real_path; problem.empty() && folder != "/";) {
    const std::size_t slash = folder.rfind('/');
    folder = slash == 0 || slash == std::string::npos ? "/" : folder.substr(0, slash);
    if (lstat(folder.c_str(), &status) != 0)
      return text("'", folder, "' could not be examined: ", std::strerror(errno));
    problem = ownership_problem(folder, status, user);
  }
  return problem;
}

const char *trusted_environment(const char *name) { return elevated_for_tests ? nullptr : secure_getenv(name); }

void pretend_elevated_for_tests(bool elevated) { elevated_for_tests = elevated; }

}  // namespace sextant::registry
