// SPDX-License-Identifier: BSD-3-Clause
// Works on the text, so that what was written by hand stays as it was; the library's own reader is the judge of it.
#include "model/accept.hpp"

#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "core/base/hash.hpp"
#include "files/file_lock.hpp"
#include "files/output_file.hpp"
#include "input/input_file.hpp"
#include "report/error.hpp"
#include "report/write_file.hpp"
#include "workbench/folder.hpp"

namespace tool {
namespace {

namespace files = sextant::files;
namespace fs = std::filesystem;

constexpr const char *entry = "[[models]]", *members = "[models.";
constexpr const char *mark = "# What the profile was before; fnv1a-64 of what it became: ";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The text in front of the first entry, then each entry with the blank lines behind it.
std::vector<std::string> pieces_of(const std::string &text) {
  std::vector<std::string> pieces(1);
  for (const std::string &line : lines_of(text)) {
    const std::string_view inside = trimmed(line);
    const bool table = inside.starts_with("[") && !inside.starts_with(members);
    if (inside.starts_with(entry) || (pieces.size() > 1 && table)) pieces.emplace_back();
    pieces.back() += line + "\n";
  }
  return pieces;
}

bool is_entry(const std::string &piece) { return trimmed(piece).starts_with(entry); }

// The name of the member that a line sets, "" for other lines.
std::string_view name_in(std::string_view line) {
  const std::size_t equals = line.find('=');
  return equals == std::string_view::npos ? "" : trimmed(line.substr(0, equals));
}

// The value of a member without quotes and remarks; otherwise `otherwise`.
std::string value_of(const std::string &piece, std::string_view name, const char *otherwise) {
  for (const std::string &line : lines_of(piece)) {
    if (name_in(line) != name) continue;
    std::string_view value = line;
    value = trimmed(value.substr(value.find('=') + 1));
    value = trimmed(value.substr(0, value.find('#')));
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'')) value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return otherwise;
}

// Whose model an entry is.
std::string key_of(const std::string &piece) {
  return fmt::format("{} {} {} {} {}", value_of(piece, "kernel", ""), value_of(piece, "version", "1"),
                     value_of(piece, "vector_type", ""), value_of(piece, "matrix_type", ""),
                     value_of(piece, "model_class", "0"));
}

bool has_some(const std::string &piece, const char *count) { return value_of(piece, count, "0") != "0"; }

// The entry with the set-up of another one: its two lines stand first, in front of any table.
std::string with_setup_of(const std::string &piece, const std::string &other) {
  std::string out, setup;
  for (const char *name : {"setup_factor", "setup_samples"})
    if (const std::string value = value_of(other, name, ""); !value.empty())
      setup += fmt::format("{} = {}\n", name, value);
  for (const std::string &line : lines_of(piece)) {
    if (name_in(line).starts_with("setup_")) continue;
    out += line + "\n";
    if (trimmed(line).starts_with(entry)) out += setup;
  }
  return out;
}

// As a calibration would: runs and set-up may have been measured at different times, and neither wipes out the other.
std::string merged(const std::string &before, const std::string &newer) {
  if (!has_some(newer, "samples") && has_some(before, "samples")) return with_setup_of(before, newer);
  if (!has_some(newer, "setup_samples") && has_some(before, "setup_samples")) return with_setup_of(newer, before);
  return newer;
}

void check_profile(const std::string &profile) {
  if (profile.empty())
    fail(exit_bad_input,
         "no profile is in use here, and coefficients mean nothing without its numbers: run sextant calibrate "
         "--quick first, or name a profile by --profile");
  if (profile.ends_with(".gz"))
    fail(exit_bad_input, "{}: a compressed profile is not changed; --profile names another", profile);
}

// Coefficients are seconds of a unit beside the numbers of the machine that [machine] holds.
void check_machine(const std::string &text, const std::string &profile) {
  for (const std::string &line : lines_of(text))
    if (trimmed(line).starts_with("[machine]")) return;
  fail(
      exit_bad_input,
      "{}: it has no [machine], and coefficients mean nothing without its numbers: run sextant calibrate --quick first",
      profile);
}

// Throws what the library says of this text as a profile, with `name` for the file.
void check_readable(const std::string &text, const std::string &name, ContextOptions options) {
  const Folder folder("");
  options.profile = (fs::path(folder.path()) / "profile.toml").string();
  write_text(options.profile, text);
  try {
    const Context context = open_context(options);
  } catch (const ToolError &error) {
    std::string sentence = error.what();
    if (const std::size_t at = sentence.find(options.profile); at != std::string::npos)
      sentence.replace(at, options.profile.size(), name);
    throw ToolError(error.exit_code(), sentence, error.status());
  }
}

bool is_readable(const std::string &text, const std::string &name, const ContextOptions &options) {
  try {
    check_readable(text, name, options);
  } catch (const ToolError &error) {
    if (error.status() == SXT_E_FILE_FORMAT) return false;
    throw;
  }
  return true;
}

std::string marked(const std::string &text) {
  return fmt::format("{}{:016x}\n", mark, sextant::fnv1a(text.data(), text.size()));
}

// One that calibrate and other acceptances respect.
files::FileLock locked(const std::string &profile) {
  try {
    return files::FileLock(files::behind_links(profile) + ".lock");
  } catch (const files::WriteError &problem) {
    fail(exit_bad_input, "{}", problem.what());
  }
}

}  // namespace

int accept_models(const std::string &profile, const std::string &entries, const ContextOptions &options) {
  check_profile(profile);
  const std::string given = read_text(entries);
  check_readable(given, entries, options);
  std::map<std::string, std::string> added;
  for (const std::string &piece : pieces_of(given))
    if (is_entry(piece)) added[key_of(piece)] = piece;
  if (added.empty()) fail(exit_bad_input, "{}: there is no model to accept: [[models]] is missing", entries);
  const files::FileLock lock = locked(profile);
  const std::string before = read_text(profile);
  check_machine(before, profile);
  std::string after;
  int replaced = 0;
  for (const std::string &piece : pieces_of(before)) {
    const auto newer = is_entry(piece) ? added.find(key_of(piece)) : added.end();
    if (newer == added.end()) {
      after += piece;
      continue;
    }
    newer->second = merged(piece, newer->second);
    ++replaced;
  }
  for (const auto &[key, piece] : added) after += (after.ends_with("\n\n") ? "" : "\n") + piece;
  check_readable(after, profile, options);
  write_text(profile + ".before", marked(after) + before);
  write_text(profile, after);
  return replaced;
}

void undo_acceptance(const std::string &profile, const ContextOptions &options) {
  check_profile(profile);
  const std::string kept = profile + ".before";
  std::error_code error;
  if (!fs::exists(kept, error)) fail(exit_bad_input, "{}: there is nothing to undo", kept);
  const files::FileLock lock = locked(profile);
  const std::string before = read_text(kept);
  const bool is_there = fs::exists(profile, error);
  const std::string now = is_there ? read_text(profile) : "";
  const std::size_t first = before.starts_with(mark) ? before.find('\n') + 1 : 0;
  if (is_there && before.substr(0, first) != marked(now)) {
    if (is_readable(now, profile, options))
      fail(exit_bad_input,
           "{}: the profile was changed since the model was accepted, and the change would be lost; {} is what it was "
           "before",
           profile, kept);
    write_text(profile + ".damaged", now);
  }
  write_text(profile, before.substr(first));
  fs::remove(kept, error);
}

}  // namespace tool
