// SPDX-License-Identifier: BSD-3-Clause
// Files that passed their conformance suite are remembered, so that they need no test again. A stamp is a note that
// this user tested these bytes, not a signature: whoever can write the stamp directory can as well write the plugins.
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hexadecimal.hpp"
#include "core/dispatch/query.hpp"
#include "core/registry/conformance.hpp"
#include "core/registry/paths.hpp"

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

// The stamp's file, named after the plugin's resolved path; "" when there is no home to keep stamps in.
std::string stamp_path(const std::string &real) {
  const std::string directory = stamp_directory();
  return directory.empty() ? ""
                           : joined(directory, hexadecimal(fnv1a(real.data(), real.size(), hash_start), hash_digits));
}

// What the stamp of the file as it is now must say.
std::string stamp_text(const std::string &real) {
  struct stat status {};
  require(stat(real.c_str(), &status) == 0, SXT_E_FILE_READ, real, ": ", std::strerror(errno));
  const std::uint64_t hash = content_hash(real);
  return text("sextant stamp 1\npath ", real, "\nsize ", status.st_size, "\nmodified ", status.st_mtim.tv_sec, ".",
              status.st_mtim.tv_nsec, "\nfnv1a-64 ", hexadecimal(hash, hash_digits), "\n");
}

void make_directories(const std::string &path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    require(mkdir(part.c_str(), 0700) == 0 || errno == EEXIST, SXT_E_FILE_WRITE, "could not create directory '", part,
            "': ", std::strerror(errno));
    if (slash == std::string::npos) return;
  }
}

}  // namespace

bool is_stamped(const std::string &plugin_path) {
  const std::string real = real_path(plugin_path);
  const std::string path = real.empty() ? "" : stamp_path(real);
  if (path.empty()) return false;
  try {
    const std::string stamp = read_file(path);  // there is none in the usual case: the plugin is not read then
    return !stamp.empty() && stamp == stamp_text(real);
  } catch (const Error &problem) {
    if (problem.status() == SXT_E_MEMORY) throw;
    return false;
  }
}

std::string stamp_of(const std::string &plugin_path) {
  const std::string real = real_path(plugin_path);
  require(!real.empty(), SXT_E_FILE_READ, "plugin '", plugin_path, "' could not be read: ", std::strerror(errno));
  return stamp_text(real);
}

void write_stamp(const std::string &plugin_path, const std::string &contents) {
  require(stamp_of(plugin_path) == contents, SXT_E_PLUGIN, "plugin '", plugin_path,
          "' changed while it was checked, so that what passed is not what is there");
  const std::string path = stamp_path(real_path(plugin_path));
  require(!path.empty(), SXT_E_FILE_WRITE, "there is no directory for stamps: neither XDG_STATE_HOME nor HOME is set");
  make_directories(stamp_directory());
  write_file_atomically(path, contents);
}

}  // namespace sextant::registry
