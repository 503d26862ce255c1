// SPDX-License-Identifier: BSD-3-Clause
// Which files may be loaded without being named by the program: the rule of ssh for its key files, with allowance for
// sticky directories and for private groups.
#pragma once

#include <sys/stat.h>

#include <string>

namespace sextant::registry {

// What is wrong with one file or directory, as seen by `user`; "" when nothing. Names path, owner or mode. Of what a
// group may write, that group must be the user's alone; accounts: the file that tells whose primary group it is.
std::string ownership_problem(const std::string &path, const struct stat &status, uid_t user,
                              const char *accounts = "/etc/passwd");

// What is wrong with an open file found at `real_path` (no symbolic link left in it), or with a folder above it.
std::string trust_problem(int file, const std::string &real_path);

// An environment variable, or NULL where the process runs with more rights than its caller.
const char *trusted_environment(const char *name);
// Makes trusted_environment behave as in such a process.
void pretend_elevated_for_tests(bool elevated);

}  // namespace sextant::registry
