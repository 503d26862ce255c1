// SPDX-License-Identifier: BSD-3-Clause
// Profiles from TOML. Format 1: format = 1, [machine], [[models]]. Without a format: [machine] and [kernels."name"]
// with a factor, as people write by hand.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/toml.hpp"
#include "core/base/types.hpp"
#include "core/model/profile.hpp"
#include "names/names.hpp"

namespace sextant {

namespace {

// A table of the file, for reading its members with errors that say where.
struct Reader {
  const std::string &path;
  const toml::table &table;

  template <class... Parts>
  [[noreturn]] void refuse(const toml::node &at, Parts &&...parts) const {
    fail(SXT_E_FILE_FORMAT, path, ":", at.source().begin.line, ": ", parts...);
  }
  const toml::node &need(std::string_view name) const {
    const toml::node *node = table.get(name);
    if (!node) refuse(table, "'", name, "' is missing");
    return *node;
  }
  double number(const toml::node &node, std::string_view name, double least) const {
    const auto value = node.value<double>();
    if (!value || std::isnan(*value) || *value < least) refuse(node, name, " must be a number of at least ", least);
    return *value;
  }
  double number(std::string_view name, double least) const { return number(need(name), name, least); }
  double number_or(std::string_view name, double least, double otherwise) const {
    const toml::node *node = table.get(name);
    return node ? number(*node, name, least) : otherwise;
  }
  std::int64_t count_or(std::string_view name, std::int64_t most, std::int64_t otherwise) const {
    const toml::node *node = table.get(name);
    if (!node) return otherwise;
    const auto value = node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (!value || *value < 0 || *value > most) refuse(*node, name, " must be a whole number from 0 to ", most);
    return *value;
  }
  std::string string(std::string_view name) const {
    const auto value = need(name).value<std::string>();
    if (!value) refuse(need(name), name, " must be a string");
    return *value;
  }
  std::vector<double> numbers(const toml::node &node, std::string_view name, double least = 0) const {
    const toml::array *array = node.as_array();
    if (!array) refuse(node, name, " must be an array of numbers");
    std::vector<double> out;
    for (const toml::node &each : *array) out.push_back(number(each, name, least));
    return out;
  }
};

double positive_number(const toml::node &node, const std::string &path, std::string_view name) {
  const auto value = node.value<double>();
  require(value && std::isfinite(*value) && *value > 0, SXT_E_FILE_FORMAT, path, ":", node.source().begin.line, ": ",
          name, " must be a positive number");
  return *value;
}

void read_machine(const toml::table &table, Profile &profile) {
  std::vector<std::string> known;
  for (const MachineField &field : machine_fields()) known.emplace_back(field.name);
  known.insert(known.end(), further_numbers().begin(), further_numbers().end());
  for (const auto &[key, node] : table) {
    const std::string name(key.str());
    std::string *text = name == "device"        ? &profile.device
                        : name == "name"        ? &profile.name
                        : name == "fingerprint" ? &profile.fingerprint
                                                : nullptr;
    if (text) {
      *text = Reader{profile.path, table}.string(name);
      continue;
    }
    if (name == "units") {
      profile.units = static_cast<std::int32_t>(Reader{profile.path, table}.count_or(name, 1 << 24, 0));
      continue;
    }
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

sxt_value_type read_type(const Reader &entry, std::string_view name, bool may_lack) {
  if (may_lack && !entry.table.get(name)) return 0;
  const std::string text = entry.string(name);
#define SXT_X(type, value, word, bytes) \
  if (text == word) return type;
  SXT_VALUE_TABLE(SXT_X)
#undef SXT_X
  entry.refuse(entry.need(name), name, " is '", text, "', which is none of f32, f64, c64, c128");
}

// coefficients = { launches = [a, b], ... }: one number a regime.
void read_coefficients(const Reader &entry, FittedModel &model) {
  const std::size_t regimes = model.breakpoints.size() + 1;
  const toml::array *terms = entry.need("terms").as_array();
  const toml::table *table = entry.need("coefficients").as_table();
  if (!terms || terms->empty() || terms->size() > SXT_MAX_TERMS)
    entry.refuse(entry.need("terms"), "terms must be an array of 1 to ", SXT_MAX_TERMS, " names");
  if (!table) entry.refuse(entry.need("coefficients"), "coefficients must be a table of the terms");
  model.coefficients.assign(regimes, {});
  const Reader coefficients{entry.path, *table};
  for (const toml::node &term : *terms) {
    const auto name = term.value<std::string>();
    if (!name) entry.refuse(term, "terms must be an array of names");
    const toml::node &node = coefficients.need(*name);
    const std::vector<double> values = coefficients.numbers(node, *name);
    if (values.size() != regimes)
      entry.refuse(node, *name, " has ", values.size(), " coefficients, where ", regimes,
                   " are needed, one more than breakpoints");
    model.names.push_back(*name);
    model.groups.push_back(group_of(name->c_str()));
    for (std::size_t r = 0; r < regimes; ++r) model.coefficients[r].push_back(values[r]);
  }
}

// Integers, with spaces between.
std::vector<std::int32_t> integers(const Reader &entry, std::string_view name, std::int32_t most) {
  const std::string text = entry.string(name);
  std::vector<std::int32_t> out;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    std::int32_t value = 0;
    const auto [next, problem] = std::from_chars(at, end, value);
    if (problem != std::errc() || value > most || value < -most || (next != end && *next != ' '))
      entry.refuse(entry.need(name), name, " must be integers up to ", most, " with spaces between");
    out.push_back(value);
    at = next == end ? next : next + 1;
  }
  return out;
}

void read_neighbours(const Reader &entry, FittedModel &model) {
  if (!entry.table.get("neighbour_weights")) return;
  Neighbours &neighbours = model.neighbours;
  neighbours.floors = entry.numbers(entry.need("neighbour_floors"), "neighbour_floors");
  if (neighbours.floors.size() != model.names.size())
    entry.refuse(entry.need("neighbour_floors"), "neighbour_floors must have a number for each of ", model.names.size(),
                 " terms");
  for (const std::int32_t weight : integers(entry, "neighbour_weights", 100'000'000))
    neighbours.weights.push_back(static_cast<float>(weight / Neighbours::weight_steps));
  for (const std::int32_t place : integers(entry, "neighbour_places", 32767))
    neighbours.places.push_back(static_cast<float>(place));
  const auto dimensions = static_cast<std::size_t>(
      std::count_if(neighbours.floors.begin(), neighbours.floors.end(), [](double floor) { return floor > 0; }));
  const std::size_t samples = neighbours.weights.size();
  if (samples > Neighbours::most || neighbours.places.size() != dimensions * samples)
    entry.refuse(entry.need("neighbour_places"), "neighbour_places must be a number for each of ", samples,
                 " weights (at most ", Neighbours::most, ") and each of ", dimensions, " positive floors");
}

void read_model(const Reader &entry, Profile &profile) {
  ModelKey key;
  key.kernel = entry.string("kernel");
  key.version = static_cast<std::uint32_t>(entry.count_or("version", 0xFFFFFFFF, 1));
  key.vector_type = read_type(entry, "vector_type", false);
  key.matrix_type = read_type(entry, "matrix_type", true);
  key.model_class = static_cast<std::uint32_t>(entry.count_or("model_class", 0xFFFFFFFF, 0));
  FittedModel model;
  model.samples = entry.count_or("samples", std::numeric_limits<std::int64_t>::max(), 0);
  model.setup_factor = entry.number_or("setup_factor", 0, 1);
  model.setup_samples = entry.count_or("setup_samples", std::numeric_limits<std::int64_t>::max(), 0);
  if (model.samples > 0) {
    const std::string form = entry.string("form");
    if (form != "sum" && form != "soft-maximum")
      entry.refuse(entry.need("form"), "form is '", form, "', which is neither sum nor soft-maximum");
    model.power = form == "sum" ? 1 : entry.number("power", 1);
    if (entry.table.get("breakpoints")) model.breakpoints = entry.numbers(entry.need("breakpoints"), "breakpoints");
    if (model.breakpoints.size() > 2 || !std::is_sorted(model.breakpoints.begin(), model.breakpoints.end()) ||
        (!model.breakpoints.empty() && !(model.breakpoints.front() > 0)))
      entry.refuse(entry.need("breakpoints"), "breakpoints must be at most two positive, increasing numbers");
    read_coefficients(entry, model);
    if (entry.table.get("curve")) {
      model.curve.first = entry.number("curve_first", 1);
      model.curve.added = entry.numbers(entry.need("curve"), "curve", -1);
    }
    read_neighbours(entry, model);
    model.median_error = entry.number("median_error", 0);
    model.p90_error = entry.number("p90_error", 0);
    model.scatter = entry.number("scatter", 0);
  }
  if (!profile.models.try_emplace(key, std::move(model)).second)
    entry.refuse(entry.table, "a second model of ", key.kernel, " with equal version, types and model_class");
}

void check_format(const toml::table &file, const std::string &path) {
  const toml::node *format = file.get("format");
  if (!format) return;
  const auto value = format->is_integer() ? format->value<std::int64_t>() : std::nullopt;
  require(value && *value == profile_format, SXT_E_FILE_FORMAT, path, ":", format->source().begin.line,
          ": the profile's format is ", value ? std::to_string(*value) : "not a whole number", "; this library reads ",
          profile_format);
}

}  // namespace

bool is_later_profile(const std::string &path) {
  try {
    const toml::table file = read_toml(path);
    return file["format"].value_or(std::int64_t{0}) > profile_format;
  } catch (const Error &) {  // no TOML: damaged
    return false;
  }
}

// A table of parse_plain_toml has no places for errors.
static Profile profile_of(const toml::table &file, const std::string &path) {
  check_format(file, path);
  Profile profile;
  profile.path = path;
  for (const auto &[key, node] : file) {
    const toml::table *table = node.as_table();
    const toml::array *array = node.as_array();
    if (key.str() == "format") continue;
    if (key.str() == "machine" && table) {
      read_machine(*table, profile);
    } else if (key.str() == "kernels" && table) {
      read_kernels(*table, profile);
    } else if (key.str() == "models" && array) {
      for (const toml::node &entry : *array) {
        require(entry.is_table(), SXT_E_FILE_FORMAT, path, ":", entry.source().begin.line, ": a model must be a table");
        read_model({path, *entry.as_table()}, profile);
      }
    } else {
      fail(SXT_E_FILE_FORMAT, path, ":", key.source().begin.line,
           ": a profile has the tables [machine], [kernels] and [[models]], not '", key.str(), "'");
    }
  }
  return profile;
}

Profile read_profile(const std::string &path) {
  const std::string content = read_text(path);
  if (const std::optional<toml::table> file = parse_plain_toml(content)) {
    try {
      return profile_of(*file, path);
    } catch (const Error &) {  // again, for the line
    }
  }
  return profile_of(parse_toml(content, path), path);
}

}  // namespace sextant
