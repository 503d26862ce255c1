// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tests of the registry: temporary folders of plugins, and searches in records.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/registry/registry.hpp"

namespace registry_test {

namespace fs = std::filesystem;
using sextant::registry::Refusal;
using sextant::registry::Registry;

// As records name it: without symbolic links.
inline std::string mock(const std::string &name) {
  return fs::canonical(SEXTANT_MOCK_DIR).string() + "/" + name + ".so";
}
inline std::string own_plugin(const std::string &below) { return std::string(SEXTANT_PLUGIN_DIR) + "/" + below; }

inline std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
inline void write(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  fs::permissions(path, fs::perms(0755));
}

// A folder that is removed after the test. Its mode is 0755 under any umask.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "sextant-test-XXXXXX";
    path_ = fs::canonical(mkdtemp(name.data()));
    fs::permissions(path_, fs::perms(0755));
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  const std::string &path() const { return path_; }
  std::string operator/(const std::string &below) const { return path_ + "/" + below; }
  std::string directory(const std::string &below) const {
    fs::create_directories(*this / below);
    for (fs::path each = below; !each.empty(); each = each.parent_path())
      fs::permissions(fs::path(path_) / each, fs::perms(0755));
    return *this / below;
  }
  // A copy of a file under a new name; the loader treats each as another library.
  std::string copy(const std::string &from, const std::string &to) const {
    directory(fs::path(to).parent_path());
    write(*this / to, contents(from));
    return *this / to;
  }

 private:
  std::string path_;
};

// A copy of the mock that is fine, with the number in the names of its plugin and its kernel.
inline std::string numbered_copy(const Folder &folder, const std::string &below, int number) {
  std::string bytes = contents(mock("none")), digits = std::to_string(1000 + number).substr(1);
  for (std::size_t at = bytes.find("@@@"); at != bytes.npos; at = bytes.find("@@@", at)) bytes.replace(at, 3, digits);
  folder.directory(below);
  const std::string path = folder / (below + "/copy-" + digits + ".so");
  write(path, bytes);
  return path;
}

// An environment variable for the length of a test; NULL: unset.
class Environment {
 public:
  Environment(const char *name, const char *value) : name_(name) {
    const char *before = std::getenv(name);
    if ((had_ = before != nullptr)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }

 private:
  const char *name_;
  bool had_;
  std::string before_;
};

// load_path's answer: "" when the file was taken, else what it threw.
inline std::string load(Registry &registry, const std::string &path) {
  try {
    registry.load_path(path, {});
    return "";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_PLUGIN) << problem.what();
    return problem.what();
  }
}

// Records of a file, in order.
inline std::vector<Refusal> refusals_of(const Registry &registry, const std::string &path) {
  std::vector<Refusal> found;
  for (const Refusal *refusal : registry.refusals())
    if (refusal->path == path) found.push_back(*refusal);
  return found;
}

inline std::vector<std::string> plugin_names(const Registry &registry) {
  std::vector<std::string> names;
  for (const auto *plugin : registry.plugins()) names.push_back(plugin->name);
  return names;
}

// Messages as a context's log would get them.
struct Log {
  std::vector<std::pair<sxt_log_level, std::string>> lines;
  sextant::LogSink sink() {
    return {[](void *user, sxt_log_level level, const char *message) {
              static_cast<Log *>(user)->lines.emplace_back(level, message);
            },
            this, SXT_LOG_DEBUG};
  }
};

}  // namespace registry_test
