// SPDX-License-Identifier: BSD-3-Clause
// What conformance checks found of a file is remembered: kernels that passed need no test again, those that failed are
// not used again. A stamp is a note that this user tested these bytes, not a signature: a user who can write the stamp
// directory can as well write the plugins.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/hexadecimal.hpp"
#include "core/base/shortage.hpp"
#include "core/registry/paths.hpp"
#include "core/registry/stamps.hpp"

namespace sextant::registry {
namespace {

constexpr std::uint64_t hash_start = 14695981039346656037u;  // FNV's offset basis

constexpr std::size_t hash_digits = 16;

std::uint64_t content_hash(const std::string &path) {
  RegularFile file(path, most_plugin_bytes);
  std::vector<char> block(1 << 16);
  std::uint64_t hash = hash_start;
  for (std::size_t got; (got = file.read(block.data(), block.size())) > 0;) hash = fnv1a(block.data(), got, hash);
  return hash;
}

// What names the file as it is now; "" when it cannot be read. A copy elsewhere is the same file.
std::string identity_of(const std::string &real) {
  struct stat status {};
  if (stat(real.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  try {
    const std::uint64_t hash = content_hash(real);
    return text("sextant stamp 2\nsize ", status.st_size, "\nfnv1a-64 ", hexadecimal(hash, hash_digits), "\n");
  } catch (const Error &problem) {
    if (out_of_memory(problem)) throw;
    return "";
  }
}

// The stamp's file; "" when there is no home to keep stamps in.
std::string stamp_path(const std::string &identity) {
  const std::string directory = stamp_directory();
  return directory.empty()
             ? ""
             : joined(directory, hexadecimal(fnv1a(identity.data(), identity.size(), hash_start), hash_digits));
}

// A line's worth of a reason.
std::string one_line(std::string reason) {
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  std::replace(reason.begin(), reason.end(), '\t', ' ');
  return reason;
}

void make_directories(const std::string &path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    require(mkdir(part.c_str(), 0700) == 0 || errno == EEXIST, SXT_E_FILE_WRITE, "could not create directory '", part,
            "': ", std::strerror(errno));
    if (slash == std::string::npos) return;
  }
}

// "" where there is none.
std::string text_of(const std::string &path) {
  try {
    return read_file(path);
  } catch (const Error &problem) {
    if (out_of_memory(problem)) throw;
    return "";
  }
}

}  // namespace

// passed<TAB>kernel<TAB>device, failed<TAB>kernel<TAB>device<TAB>reason, end: a stamp that was cut short has no end.
Stamp read_stamp(const std::string &plugin_path) {
  const std::string directory = stamp_directory();
  if (directory.empty() || !is_directory(directory)) return {};  // the usual case, found without reading the plugin
  const std::string real = real_path(plugin_path), identity = real.empty() ? "" : identity_of(real);
  if (identity.empty()) return {};
  const std::string all = text_of(stamp_path(identity));
  if (all.compare(0, identity.size(), identity) != 0) return {};
  std::istringstream lines(all.substr(identity.size()));
  Stamp stamp;
  for (std::string line; std::getline(lines, line);) {
    if (line == "end") return stamp;
    std::istringstream fields(line);
    std::string what, kernel, mark, reason;
    std::getline(fields, what, '\t');
    std::getline(fields, kernel, '\t');
    std::getline(fields, mark, '\t');
    std::getline(fields, reason);
    if (what == "passed") stamp.passed[kernel].insert(mark);
    if (what == "failed") stamp.failed[kernel][mark] = reason;
  }
  return {};
}

std::string stamp_of(const std::string &plugin_path) {
  const std::string real = real_path(plugin_path);
  std::string identity = real.empty() ? "" : identity_of(real);
  require(!identity.empty(), SXT_E_FILE_READ, "plugin '", plugin_path, "' could not be read",
          real.empty() ? text(": ", std::strerror(errno)) : ": it is not a regular file");
  return identity;
}

void write_stamp(const std::string &plugin_path, const std::string &contents, const Stamp &stamp) {
  require(stamp_of(plugin_path) == contents, SXT_E_PLUGIN, "plugin '", plugin_path,
          "' changed while it was checked, so that what passed is not what is there");
  const std::string path = stamp_path(contents);
  require(!path.empty(), SXT_E_FILE_WRITE, "there is no directory for stamps: neither XDG_STATE_HOME nor HOME is set");
  std::string all = contents;
  for (const auto &[kernel, marks] : stamp.passed)
    for (const std::string &mark : marks) all += text("passed\t", kernel, "\t", one_line(mark), "\n");
  for (const auto &[kernel, marks] : stamp.failed)
    for (const auto &[mark, reason] : marks)
      all += text("failed\t", kernel, "\t", one_line(mark), "\t", one_line(reason), "\n");
  make_directories(stamp_directory());
  write_file_atomically(path, all + "end\n");
}

}  // namespace sextant::registry
