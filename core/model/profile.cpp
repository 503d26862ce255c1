// SPDX-License-Identifier: BSD-3-Clause
// Machine profiles: TOML with a [machine] table of numbers and a [kernels."name"] table for each corrected kernel.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/error.hpp"
#include "core/base/names.hpp"
#include "core/base/toml.hpp"
#include "core/model/cost.hpp"

namespace sextant {

namespace {

struct Field {
  const char *name;
  std::size_t offset;
};
constexpr Field machine_fields[] = {
    {"stream_rate", offsetof(sxt_machine, stream_rate)},
    {"stream_rate_unit", offsetof(sxt_machine, stream_rate_unit)},
    {"cache_rate", offsetof(sxt_machine, cache_rate)},
    {"cache_rate_unit", offsetof(sxt_machine, cache_rate_unit)},
    {"gather_rate", offsetof(sxt_machine, gather_rate)},
    {"gather_rate_unit", offsetof(sxt_machine, gather_rate_unit)},
    {"flop_rate_f64", offsetof(sxt_machine, flop_rate_f64)},
    {"flop_rate_f32", offsetof(sxt_machine, flop_rate_f32)},
    {"launch_s", offsetof(sxt_machine, launch_s)},
    {"barrier_s", offsetof(sxt_machine, barrier_s)},
    {"copy_rate", offsetof(sxt_machine, copy_rate)},
};

double positive_number(const toml::node &node, const std::string &path, std::string_view name) {
  const auto value = node.value<double>();
  require(value && std::isfinite(*value) && *value > 0, SXT_E_FILE_FORMAT, path, ":", node.source().begin.line, ": ",
          name, " must be a positive number");
  return *value;
}

void read_machine(const toml::table &table, Profile &profile) {
  std::vector<std::string> known;
  for (const Field &field : machine_fields) known.emplace_back(field.name);
  for (const auto &[key, node] : table) {
    const std::string name(key.str());
    require(std::find(known.begin(), known.end(), name) != known.end(), SXT_E_FILE_FORMAT, profile.path, ":",
            key.source().begin.line, ": ", unknown_name("machine number", name, known));
    profile.machine[name] = positive_number(node, profile.path, name);
  }
}

void read_kernels(const toml::table &table, Profile &profile) {
  for (const auto &[key, node] : table) {
    const toml::table *entry = node.as_table();
    require(entry != nullptr, SXT_E_FILE_FORMAT, profile.path, ":", node.source().begin.line, ": kernels.\"", key.str(),
            "\" must be a table");
    Profile::Correction &correction = profile.kernels[std::string(key.str())];
    if (const toml::node *factor = entry->get("factor"))
      correction.factor = positive_number(*factor, profile.path, "factor");
    if (const toml::node *error = entry->get("rel_error"))
      correction.rel_error = positive_number(*error, profile.path, "rel_error");
  }
}

}  // namespace

void Profile::apply(sxt_machine &numbers) const {
  for (const Field &field : machine_fields) {
    const auto found = machine.find(field.name);
    if (found != machine.end())
      *reinterpret_cast<double *>(reinterpret_cast<char *>(&numbers) + field.offset) = found->second;
  }
}

Profile read_profile(const std::string &path) {
  const toml::table file = read_toml(path);
  Profile profile;
  profile.path = path;
  for (const auto &[key, node] : file) {
    const toml::table *table = node.as_table();
    if (key.str() == "machine" && table) {
      read_machine(*table, profile);
    } else if (key.str() == "kernels" && table) {
      read_kernels(*table, profile);
    } else {
      fail(SXT_E_FILE_FORMAT, path, ":", key.source().begin.line,
           ": a profile has the tables [machine] and [kernels], not '", key.str(), "'");
    }
  }
  return profile;
}

}  // namespace sextant
