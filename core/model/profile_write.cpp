// SPDX-License-Identifier: BSD-3-Clause
// Profiles to TOML, and the file they are kept in: read, merged and replaced under a lock.
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/gzip.hpp"
#include "core/base/types.hpp"
#include "core/model/fit_text.hpp"
#include "core/model/profile.hpp"
#include "core/registry/registry.hpp"
#include "files/file_lock.hpp"
#include "files/output_file.hpp"

namespace sextant {

namespace fs = std::filesystem;

namespace {

constexpr const char *compressed_ending = ".gz";

// f(), with the writer's errors as the library's.
template <class F>
auto writing(F &&f) {
  try {
    return f();
  } catch (const files::WriteError &problem) {
    fail(SXT_E_FILE_WRITE, problem.what());
  }
}

// The text that a profile's file holds: compressed where its name ends so.
std::string file_content(const std::string &path, const Profile &profile) {
  std::string content = profile_text(profile);
  return path.ends_with(compressed_ending) ? gzip_of(content) : content;
}

void make_parent(const fs::path &path) {
  if (!path.has_parent_path()) return;
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  require(!problem, SXT_E_FILE_WRITE, path.parent_path().string(), ": ", problem.message());
}

// Nothing in a damaged file can be used, but it is not ours to lose, nor one that was kept before.
void set_aside(const std::string &path, const char *damage, const LogSink &log) {
  std::error_code problem;
  std::string kept = path + ".damaged";
  for (int i = 2; fs::exists(kept, problem); ++i) kept = text(path, ".damaged.", i);
  fs::rename(path, kept, problem);
  require(!problem, SXT_E_FILE_WRITE, path, ": it is damaged, and could not be renamed: ", problem.message());
  log(SXT_LOG_WARNING, text("a damaged profile was kept as ", kept, ": ", damage));
}

// The profile that is there, an empty one where there is none. One that only cannot be read, or not by this version, is
// not to be replaced.
Profile read_or_set_aside(const std::string &path, const LogSink &log) {
  std::error_code ignored;
  if (fs::status(path, ignored).type() == fs::file_type::not_found) return {};
  try {
    return read_profile(path);
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_FILE_FORMAT || is_later_profile(path)) throw;
    set_aside(path, problem.what(), log);
  }
  return {};
}

}  // namespace

std::string profile_text(const Profile &profile) {
  std::string out = "# Made by `sextant calibrate`; kept when it is made again, model by model.\nformat = " +
                    std::to_string(profile_format) + "\n\n[machine]\n";
  if (!profile.device.empty()) out += "device = " + toml_string(profile.device) + "\n";
  if (!profile.name.empty()) out += "name = " + toml_string(profile.name) + "\n";
  if (!profile.fingerprint.empty()) out += "fingerprint = " + toml_string(profile.fingerprint) + "\n";
  if (profile.units) out += "units = " + std::to_string(profile.units) + "\n";
  for (const auto &[name, value] : profile.machine) out += name + " = " + toml_number(value) + "\n";
  for (const auto &[kernel, correction] : profile.kernels)
    out += "\n[kernels." + toml_string(kernel) + "]\nfactor = " + toml_number(correction.factor) +
           "\nrel_error = " + toml_number(correction.rel_error) + "\n";
  for (const auto &[key, model] : profile.models)
    out += fit_toml({key.kernel, value_name(key.vector_type), key.matrix_type ? value_name(key.matrix_type) : "",
                     key.version, key.model_class},
                    model);
  return out;
}

Profile update_profile(const std::string &given, const Profile &newer, const LogSink &log) {
  // A link stays one: what it leads to is locked, kept and written. A device or a FIFO holds no profile to add to.
  const std::string path = writing([&] { return files::behind_links(given); });
  if (files::is_special(path) && !fs::is_directory(path)) {
    Profile alone = newer;
    alone.path = given;
    write_file_atomically(given, file_content(given, alone));
    return alone;
  }
  make_parent(path);
  const files::FileLock lock = writing([&] { return files::FileLock(path + ".lock"); });
  Profile whole = read_or_set_aside(path, log);
  // Numbers of another machine have no business here.
  if (!whole.fingerprint.empty() && !newer.fingerprint.empty() && whole.fingerprint != newer.fingerprint)
    fail(SXT_E_ARGUMENT, path, " is the profile of ", whole.fingerprint, ", this machine is ", newer.fingerprint,
         ": choose another file");
  whole.merge(newer);
  whole.path = given;
  write_file_atomically(path, file_content(path, whole));
  return whole;
}

std::string profile_file_name(const std::string &fingerprint) {
  std::string name;
  for (const char c : fingerprint) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name + ".toml";
}

std::string default_profile_path(const std::string &fingerprint) {
  if (const char *path = ::secure_getenv("SEXTANT_PROFILE"); path && *path) return path;
  std::string data;
  if (const char *home = ::secure_getenv("XDG_DATA_HOME"); home && *home == '/')
    data = home;
  else if (const char *user = ::secure_getenv("HOME"); user && *user == '/')
    data = std::string(user) + "/.local/share";
  return data.empty() ? "" : data + "/sextant/profiles/" + profile_file_name(fingerprint);
}

std::string shipped_profile_path(const std::string &fingerprint) {
  // <prefix>/lib/sextant/plugins-0, or with one folder more where libraries lie by architecture.
  fs::path above = fs::path(registry::own_plugin_directory()).parent_path().parent_path();
  for (int level = 0; level < 2; ++level) {
    above = above.parent_path();
    const fs::path plain = above / "share" / "sextant" / "profiles" / profile_file_name(fingerprint);
    for (const std::string &path : {plain.string() + compressed_ending, plain.string()}) {
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path;
    }
  }
  return "";
}

}  // namespace sextant
