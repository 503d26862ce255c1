// SPDX-License-Identifier: BSD-3-Clause
#include "model/accept.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "report/error.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr const char *entry = "[[models]]";

std::string content_of(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) fail(exit_bad_input, "{}: could not be read", path);
  return std::move(content).str();
}

void replace(const std::string &path, const std::string &text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

// The text in front of the first entry, then each entry with the blank lines behind it.
std::vector<std::string> pieces_of(const std::string &text) {
  std::vector<std::string> pieces(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(entry) || (pieces.size() > 1 && line.starts_with("["))) pieces.emplace_back();
    pieces.back() += line + "\n";
  }
  return pieces;
}

// The lines that say whose model it is; "" for a piece that is no entry of a model.
std::string key_of(const std::string &piece) {
  if (!piece.starts_with(entry)) return "";
  std::string key;
  std::istringstream lines(piece);
  for (std::string line; std::getline(lines, line);)
    for (const char *name : {"kernel = ", "version = ", "vector_type = ", "matrix_type = ", "model_class = "})
      if (line.starts_with(name)) key += line + "\n";
  return key;
}

void check_profile(const std::string &profile) {
  if (profile.empty())
    fail(exit_bad_input,
         "this machine has no profile yet, and coefficients mean nothing without its numbers: run sextant "
         "calibrate --quick first, or name a profile by --profile");
  if (profile.ends_with(".gz"))
    fail(exit_bad_input, "{}: a compressed profile is not changed; --profile names another", profile);
}

}  // namespace

int accept_models(const std::string &profile, const std::string &entries) {
  check_profile(profile);
  const std::vector<std::string> added = pieces_of(entries);
  std::set<std::string> keys;
  for (const std::string &piece : added) keys.insert(key_of(piece));
  keys.erase("");
  if (keys.empty()) fail(exit_bad_input, "there is no model to accept: [[models]] is missing");
  const std::string before = content_of(profile);
  std::string after;
  int replaced = 0;
  for (const std::string &piece : pieces_of(before)) {
    const std::string key = key_of(piece);
    if (!key.empty() && keys.contains(key))
      ++replaced;
    else
      after += piece;
  }
  for (const std::string &piece : added)
    if (!key_of(piece).empty()) after += (after.ends_with("\n\n") ? "" : "\n") + piece;
  replace(profile + ".before", before);
  replace(profile, after);
  return replaced;
}

void undo_acceptance(const std::string &profile) {
  check_profile(profile);
  const std::string kept = profile + ".before";
  std::error_code error;
  if (!fs::exists(kept, error)) fail(exit_bad_input, "{}: there is nothing to undo", kept);
  replace(profile, content_of(kept));
  fs::remove(kept, error);
}

}  // namespace tool
