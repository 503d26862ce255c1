// SPDX-License-Identifier: BSD-3-Clause
#include "core/plan/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "core/base/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/hexadecimal.hpp"
#include "core/base/shortage.hpp"
#include "core/base/toml.hpp"
#include "core/base/types.hpp"

namespace sextant {

namespace {

constexpr std::int64_t plan_format = 1;

std::uint64_t from_hex(const std::string &digits, const std::string &path, std::uint32_t line) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  require(end.ec == std::errc() && end.ptr == digits.data() + digits.size(), SXT_E_FILE_FORMAT, path, ":", line, ": '",
          digits, "' is not a hexadecimal number");
  return value;
}

toml::table to_table(const PlanKey &key) {
  return toml::table{{"role", key.role},
                     {"kind", key.kind},
                     {"query", hexadecimal(key.query_hash)},
                     {"pattern", hexadecimal(key.pattern_hash)}};
}

toml::table to_table(const PlanKey &key, const PlanEntry &entry, const std::string &fingerprint) {
  toml::array launch;
  for (const std::int64_t each : entry.launch) launch.push_back(each);
  return toml::table{{"role", key.role},
                     {"kind", key.kind},
                     {"query", hexadecimal(key.query_hash)},
                     {"pattern", hexadecimal(key.pattern_hash)},
                     {"kernel", entry.kernel},
                     {"version", static_cast<std::int64_t>(entry.version)},
                     {"value_type", entry.value_type},
                     {"storage", entry.storage},
                     {"machine", fingerprint},
                     {"launch", launch},
                     {"predicted_run_s", entry.run_s}};
}

toml::table to_table(const PlanKey &key, const SolverPlan &plan, const std::string &fingerprint) {
  return toml::table{{"role", key.role},
                     {"kind", key.kind},
                     {"query", hexadecimal(key.query_hash)},
                     {"pattern", hexadecimal(key.pattern_hash)},
                     {"preconditioner", plan.preconditioner},
                     {"machine", fingerprint},
                     {"ordered", plan.ordered},
                     {"narrow", plan.narrow},
                     {"settled", plan.settled},
                     {"iterations", plan.iterations},
                     {"assumed_iterations", plan.assumed_iterations},
                     {"preconditioner_iterations", plan.preconditioner_iterations},
                     {"mean_over_expected", plan.mean_over_expected},
                     {"diagonal_ratio", plan.diagonal_ratio}};
}

template <class T>
T field(const toml::table &table, const char *name, const std::string &path) {
  const auto value = table[name].value<T>();
  require(value.has_value(), SXT_E_FILE_FORMAT, path, ":", table.source().begin.line, ": an entry lacks ", name,
          " or has it in the wrong type");
  return *value;
}

PlanKey read_key(const toml::table &table, const std::string &path) {
  const std::uint32_t line = table.source().begin.line;
  return {field<std::string>(table, "role", path), field<std::string>(table, "kind", path),
          from_hex(field<std::string>(table, "query", path), path, line),
          from_hex(field<std::string>(table, "pattern", path), path, line)};
}

void read_solver(const toml::table &table, const std::string &path, std::map<PlanKey, SolverPlan> &solvers) {
  SolverPlan plan;
  plan.preconditioner = field<std::string>(table, "preconditioner", path);
  plan.machine = field<std::string>(table, "machine", path);
  plan.ordered = field<bool>(table, "ordered", path);
  plan.narrow = field<bool>(table, "narrow", path);
  plan.settled = field<bool>(table, "settled", path);
  const auto above_zero = [&](const char *name) {
    const double value = field<double>(table, name, path);
    require(value > 0 && std::isfinite(value), SXT_E_FILE_FORMAT, path, ":", table.source().begin.line, ": ", name,
            " is ", value, "; it must be finite and above 0");
    return value;
  };
  plan.iterations = above_zero("iterations");
  plan.assumed_iterations = above_zero("assumed_iterations");
  plan.preconditioner_iterations = above_zero("preconditioner_iterations");
  plan.mean_over_expected = above_zero("mean_over_expected");
  plan.diagonal_ratio = above_zero("diagonal_ratio");
  solvers[read_key(table, path)] = plan;
}

void read_entry(const toml::table &table, const std::string &path, std::map<PlanKey, PlanEntry> &entries) {
  const std::uint32_t line = table.source().begin.line;
  const PlanKey key = read_key(table, path);
  PlanEntry entry;
  entry.kernel = field<std::string>(table, "kernel", path);
  const std::int64_t version = field<std::int64_t>(table, "version", path);
  require(version >= 0 && version <= std::numeric_limits<std::uint32_t>::max(), SXT_E_FILE_FORMAT, path, ":", line,
          ": ", version, " is no version of a kernel");
  entry.version = static_cast<std::uint32_t>(version);
  entry.value_type = field<std::string>(table, "value_type", path);
  entry.storage = field<std::string>(table, "storage", path);
  entry.machine = table["machine"].value_or(std::string());  // without one: as the file says
  entry.run_s = table["predicted_run_s"].value_or(0.0);
  const toml::array *launch = table["launch"].as_array();
  const bool integers =
      launch && std::all_of(launch->begin(), launch->end(), [](const auto &each) { return each.is_integer(); });
  require(integers && launch->size() == 4, SXT_E_FILE_FORMAT, path, ":", line, ": launch must be four integers");
  for (std::size_t i = 0; i < 4; ++i) entry.launch[i] = *(*launch)[i].value<std::int64_t>();
  entries[key] = entry;
}

// Calls read with each table of an array of the file's.
template <class Read>
void each_table(const toml::table &file, const char *name, const std::string &path, Read &&read) {
  const toml::array *list = file[name].as_array();
  if (!list) return;
  for (const toml::node &node : *list) {
    const toml::table *table = node.as_table();
    require(table != nullptr, SXT_E_FILE_FORMAT, path, ":", node.source().begin.line, ": ", name, " must be a table");
    read(*table);
  }
}

toml::table read_file_of_plan(const std::string &path) {
  toml::table file = read_toml(path);
  require(file["format"].value_or(std::int64_t{0}) == plan_format, SXT_E_PLAN, path, ": not a plan of format ",
          plan_format);
  return file;
}

// What stands in a file beside the entries of its machine.
constexpr const char *beside_name = "beside";
// There: what is worked on on that machine.
constexpr const char *places_name = "placed";

std::uint64_t content_of(const std::map<PlanKey, PlanEntry> &entries, const std::set<PlanKey> &places, bool required) {
  std::uint64_t hash = fnv1a(&required, sizeof required);
  const auto add = [&](const auto &value) { hash = fnv1a(&value, sizeof value, hash); };
  const auto add_word = [&](const std::string &word) { hash = fnv1a(word.c_str(), word.size() + 1, hash); };
  for (const auto &[key, entry] : entries) {
    for (const std::string *word :
         {&key.role, &key.kind, &entry.kernel, &entry.storage, &entry.value_type, &entry.machine})
      add_word(*word);
    add(key.query_hash), add(key.pattern_hash), add(entry.version), add(entry.launch);
  }
  for (const PlanKey &key : places) add_word(key.role), add_word(key.kind), add(key.query_hash), add(key.pattern_hash);
  return hash;
}

}  // namespace

void PlanBook::record(const PlanKey &key, PlanEntry entry) {
  const std::lock_guard lock(mutex_);
  entry.recorded = ++records_;
  const auto [made, is_new] = made_.try_emplace(key);
  if (is_new) {
    try {
      ages_.emplace(entry.recorded, &made->first);
    } catch (...) {
      made_.erase(made);
      throw;
    }
  } else {
    auto age = ages_.extract(made->second.recorded);
    age.key() = entry.recorded;
    ages_.insert(std::move(age));
  }
  made->second = std::move(entry);
  if (made_.size() <= most_made) return;
  const auto oldest = ages_.begin();
  made_.erase(made_.find(*oldest->second));
  ages_.erase(oldest);
}

void PlanBook::record(const PlanKey &key, const SolverPlan &plan) {
  const std::lock_guard lock(mutex_);
  made_solvers_[key] = plan;
  made_solvers_[key].recorded = ++records_;
  if (made_solvers_.size() <= most_made_solvers) return;
  made_solvers_.erase(std::min_element(made_solvers_.begin(), made_solvers_.end(), [](const auto &a, const auto &b) {
    return a.second.recorded < b.second.recorded;
  }));
}

std::optional<SolverPlan> PlanBook::find_solver(const PlanKey &key, const std::string &fingerprint) const {
  const std::lock_guard lock(mutex_);
  const auto found = loaded_solvers_.find(key);
  if (found == loaded_solvers_.end() || found->second.machine != fingerprint) return std::nullopt;
  return found->second;
}

std::optional<PlanEntry> PlanBook::find(const PlanKey &key, const std::string &types, const std::string &fingerprint,
                                        std::string &why_not) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = loaded_.find(key); found != loaded_.end()) {
    if (found->second.machine.empty() || found->second.machine == fingerprint) return found->second;
    why_not = text("the plan's entry was made on '", found->second.machine, "', this is '", fingerprint, "'");
    return std::nullopt;
  }
  why_not = text("the loaded plan has no entry for this query: nothing in it has the role ", key.role);
  int nearest = 0;  // how much of the key agrees
  for (const auto &[other, entry] : loaded_) {
    if (other.role != key.role) continue;
    const auto say = [&](int agreement, const std::string &reason) {
      if (agreement > nearest) nearest = agreement, why_not = "the loaded plan has no entry for this query: " + reason;
    };
    if (other.kind != key.kind)
      say(1, text("its ", key.role, " is of kind ", other.kind));
    else if (entry.value_type != types)
      say(2, text("its ", key.role, " computes in ", entry.value_type, ", this one in ", types));
    else if (other.query_hash != key.query_hash)
      say(3, text("its ", key.role, " was made for other sizes, flags or numbers of runs"));
    else
      say(4, text("its ", key.role, " was made for a matrix of another pattern"));
  }
  return std::nullopt;
}

std::string plan_types(const Query &query) {
  std::string types = value_name(query.value_type());
  if (!query.about_matrix() || query.matrix_part().matrix_type == query.value_type()) return types;
  return types + "/" + value_name(query.matrix_part().matrix_type);
}

bool PlanBook::loaded() const {
  const std::lock_guard lock(mutex_);
  return is_loaded_;
}

bool PlanBook::required() const {
  const std::lock_guard lock(mutex_);
  return required_;
}

std::uint64_t PlanBook::content() const {
  const std::lock_guard lock(mutex_);
  return content_;
}

void PlanBook::place(const PlanKey &key) {
  const std::lock_guard lock(mutex_);
  if (made_places_.size() < most_made || made_places_.contains(key)) made_places_.insert(key);
}

bool PlanBook::placed(const PlanKey &key) const {
  const std::lock_guard lock(mutex_);
  return loaded_places_.contains(key);
}

struct PlanBook::Content {
  std::map<PlanKey, PlanEntry> entries;
  std::map<PlanKey, SolverPlan> solvers;
  std::set<PlanKey> places;

  Content(const toml::table &table, const std::string &path) {
    each_table(table, "entry", path, [&](const toml::table &each) { read_entry(each, path, entries); });
    each_table(table, "solver", path, [&](const toml::table &each) { read_solver(each, path, solvers); });
    each_table(table, places_name, path, [&](const toml::table &each) { places.insert(read_key(each, path)); });
  }
};

void PlanBook::take(Content &&content, bool required) {
  const std::uint64_t number = content_of(content.entries, content.places, required);
  const std::lock_guard lock(mutex_);
  content_ = number;
  loaded_ = std::move(content.entries);
  loaded_solvers_ = std::move(content.solvers);
  loaded_places_ = std::move(content.places);
  is_loaded_ = true;
  required_ = required;
}

struct PlanBook::Writer {
  static toml::table table_of(const PlanBook &book, const std::string &fingerprint) {
    toml::array entries, solvers, places;
    {
      const std::lock_guard lock(book.mutex_);
      for (const auto &[key, entry] : book.made_) entries.push_back(to_table(key, entry, fingerprint));
      for (const auto &[key, plan] : book.made_solvers_) solvers.push_back(to_table(key, plan, fingerprint));
      for (const PlanKey &key : book.made_places_) places.push_back(to_table(key));
    }
    toml::table table{{"machine", fingerprint}, {"entry", entries}};
    if (!solvers.empty()) table.insert("solver", solvers);
    if (!places.empty()) table.insert(places_name, places);
    return table;
  }
};

void PlanBook::save(const std::string &path, const std::string &fingerprint, const Beside *beside) const {
  toml::table file = Writer::table_of(*this, fingerprint);
  file.insert("format", plan_format);
  if (beside) file.insert(beside_name, Writer::table_of(*beside->book, beside->fingerprint));
  std::ostringstream out;
  out.exceptions(std::ios_base::badbit);  // or a file would be cut short where memory is
  out << "# A plan of Sextant: which kernel, storage and launch configuration was chosen for each role.\n"
      << file << "\n";
  write_file_atomically(path, out.str());
}

std::string PlanBook::load(const std::string &path, const std::string &fingerprint, bool required) {
  try {
    const toml::table file = read_file_of_plan(path);
    const std::string machine = file["machine"].value_or(std::string());
    require(machine == fingerprint, SXT_E_PLAN, path, ": made on '", machine, "', this is '", fingerprint, "'");
    take(Content(file, path), required);
    return "";
  } catch (const Error &problem) {
    // A wrong path is the caller's mistake, and short memory passes: neither is a damaged file.
    if (problem.status() == SXT_E_FILE_READ || out_of_memory(problem)) throw;
    require(!required, SXT_E_PLAN, "the plan is required: ", problem.what());
    return problem.what();
  }
}

bool PlanBook::load_beside(const std::string &path, const std::string &fingerprint, bool required) {
  const toml::table file = read_file_of_plan(path), nothing;
  const toml::table *table = file[beside_name].as_table();
  const bool told = table && (*table)["machine"].value_or(std::string()) == fingerprint;
  const bool before = [&] {
    const std::lock_guard lock(mutex_);
    return is_loaded_;
  }();
  if (told || before) take(Content(told ? *table : nothing, path), required && told);
  return told;
}

}  // namespace sextant
