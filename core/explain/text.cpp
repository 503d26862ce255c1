// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "core/base/units.hpp"
#include "core/explain/explain.hpp"

namespace sextant {

namespace {

template <class... Values>
std::string print(const char *format, Values... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string with_format(const std::string &kernel, const std::string &storage) {
  return storage.empty() ? kernel : kernel + " on " + format_text(storage);
}

void tell_tree(const Choice &choice, int depth, std::string &out) {
  out += print("%*s%s: %s, %s a run", 2 * depth, "", choice.role.c_str(),
               with_format(choice.kernel->name(), choice.storage).c_str(), seconds_text(choice.run_s).c_str());
  const std::string launch = launch_text(choice.candidate.launch);
  if (!launch.empty()) out += ", " + launch;
  out += print("\n%*s  why: ", 2 * depth, "");
  out += choice.reason;
  out += '\n';
  if (choice.features_s > 0)
    out += print("%*s  features: %s, in the set-up\n", 2 * depth, "", seconds_text(choice.features_s).c_str());
  if (choice.correction != 1)
    out += print("%*s  feedback: predictions times %.3g, from measured runs\n", 2 * depth, "", choice.correction);
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) tell_tree(*part, depth + 1, out);
}

void tell_candidates(const Choice &choice, std::string &out) {
  out += print("\nCandidates for %s (%s), N = %.6g runs:\n", choice.role.c_str(), choice.query.kind(),
               choice.query.expected_runs());
  out += print("  %-46s %-12s %10s %10s %10s %6s  %s\n", "kernel", "launch", "setup", "run", "memory", "error", "");
  for (const Considered &each : choice.considered) {
    const std::string name = with_format(each.kernel, each.format);
    if (!each.applicable) {
      out += print("  %-46s %-12s %10s %10s %10s %6s  ", name.c_str(), "", "-", "-", "-", "-") + each.reason + "\n";
      continue;
    }
    out += print("%c %-46s %-12s %10s %10s %10s %5.0f%%  ", each.chosen ? '*' : ' ', name.c_str(),
                 launch_text(each.launch).c_str(), seconds_text(each.setup_s).c_str(), seconds_text(each.run_s).c_str(),
                 bytes_text(each.memory_bytes).c_str(), 100 * each.rel_error) +
           (each.measured_s > 0 ? "measured " + seconds_text(each.measured_s) + "; " : "") + each.reason + "\n";
  }
}

void tell_all_candidates(const Choice &choice, std::vector<std::string> &told, std::string &out) {
  if (std::find(told.begin(), told.end(), choice.role + choice.query.kind()) != told.end()) return;
  told.push_back(choice.role + choice.query.kind());
  tell_candidates(choice, out);
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) tell_all_candidates(*part, told, out);
}

}  // namespace

std::string launch_text(const std::int64_t *launch) {
  int count = 4;
  while (count > 0 && launch[count - 1] == 0) --count;
  std::string out = count ? "launch" : "";
  for (int i = 0; i < count; ++i) out += (i ? " x " : " ") + std::to_string(launch[i]);
  return out;
}

std::string format_text(const std::string &storage) {
  const std::string prefix = "sxt.storage.";
  if (storage.compare(0, prefix.size(), prefix) != 0) return storage;
  return storage.substr(prefix.size(), storage.find('/') - prefix.size());
}

std::string explain_text(const Explanation &explanation) {
  std::string out = explanation.title + "\n";
  for (const auto &[name, value] : explanation.facts) out += print("  %-16s ", name.c_str()) + value + "\n";
  for (const std::string &note : explanation.notes) out += "  note: " + note + "\n";
  out += "\nPlan:\n";
  for (const ChoicePtr &choice : explanation.choices) tell_tree(*choice, 1, out);
  std::vector<std::string> told;
  for (const ChoicePtr &choice : explanation.choices) tell_all_candidates(*choice, told, out);
  return out;
}

}  // namespace sextant
