// SPDX-License-Identifier: BSD-3-Clause
// Edit distance, and the sentence that suggests the nearest name.
#include "names/names.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sextant {
namespace {

// Letters of ASCII, whatever the locale.
char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein's edit distance, one row of the table at a time; capitals count as small letters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];  // the entry above and to the left
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (small(a[i]) == small(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string> &known) {
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string &name : known) {
    const std::size_t distance = edit_distance(wanted, name);
    // Further than half of the longer name is not a misspelling but another word.
    if (2 * distance > std::max(wanted.size(), name.size())) continue;
    if (best.empty() || distance < best_distance) best = name, best_distance = distance;
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view wanted, const std::vector<std::string> &known) {
  std::string sentence = "no " + std::string(what) + " named '" + std::string(wanted) + "'";
  if (known.empty()) return sentence + "; none is known";
  const std::string nearest = nearest_name(wanted, known);
  if (!nearest.empty()) sentence += "; the nearest is '" + nearest + "'";
  sentence += "; known: ";
  for (auto name = known.begin(); name != known.end(); ++name) {
    if (std::find(known.begin(), name, *name) != name) continue;  // several kernels may answer to one name
    sentence += (name == known.begin() ? "" : ", ") + *name;
  }
  return sentence;
}

}  // namespace sextant
