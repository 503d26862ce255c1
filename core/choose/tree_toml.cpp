// SPDX-License-Identifier: BSD-3-Clause
// Decision trees on disk: one TOML table with an array of leaves.
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

#include "core/base/files.hpp"
#include "core/base/hexadecimal.hpp"
#include "core/base/toml.hpp"
#include "core/base/types.hpp"
#include "core/choose/tree.hpp"
#include "core/context/context.hpp"

namespace sextant {

namespace {

constexpr std::int64_t tree_format = 1;

toml::array launch_array(const std::int64_t *launch) {
  toml::array array;
  for (int i = 0; i < 4; ++i) array.push_back(launch[i]);
  return array;
}

toml::table to_table(const TreeLeaf &leaf) {
  toml::table table{{"first", leaf.first},
                    {"last", leaf.last},
                    {"kernel", leaf.kernel},
                    {"version", static_cast<std::int64_t>(leaf.version)},
                    {"candidate", static_cast<std::int64_t>(leaf.candidate)},
                    {"launch", launch_array(leaf.launch_first)},
                    {"launch_at_last", launch_array(leaf.launch_last)}};
  if (std::isfinite(leaf.run_first_s)) {
    table.insert("run_s", leaf.run_first_s);
    table.insert("run_s_at_last", leaf.run_last_s);
  }
  return table;
}

// Reads members of one table and names it when one is missing.
struct Reader {
  const toml::table &table;
  const std::string &path;

  template <class T>
  T get(const char *name) const {
    const auto value = table[name].value<T>();
    require(value.has_value(), SXT_E_FILE_FORMAT, path, ":", table.source().begin.line, ": ", name,
            " is missing or of the wrong type");
    return *value;
  }
  void launch(const char *name, std::int64_t *out) const {
    const toml::array *array = table[name].as_array();
    require(array && array->size() == 4, SXT_E_FILE_FORMAT, path, ":", table.source().begin.line, ": ", name,
            " must be four integers");
    for (std::size_t i = 0; i < 4; ++i) {
      const auto value = (*array)[i].value<std::int64_t>();
      require(value.has_value(), SXT_E_FILE_FORMAT, path, ":", table.source().begin.line, ": ", name, "[", i,
              "] is no integer");
      out[i] = *value;
    }
  }
};

TreeLeaf read_leaf(const toml::node &node, const std::string &path) {
  const toml::table *table = node.as_table();
  require(table != nullptr, SXT_E_FILE_FORMAT, path, ":", node.source().begin.line, ": leaf must be a table");
  const Reader read{*table, path};
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  TreeLeaf leaf;
  leaf.first = read.get<std::int64_t>("first");
  leaf.last = read.get<std::int64_t>("last");
  leaf.kernel = read.get<std::string>("kernel");
  leaf.version = static_cast<std::uint32_t>(read.get<std::int64_t>("version"));
  leaf.candidate = static_cast<std::uint64_t>(read.get<std::int64_t>("candidate"));
  read.launch("launch", leaf.launch_first);
  read.launch("launch_at_last", leaf.launch_last);
  leaf.run_first_s = (*table)["run_s"].value_or(unknown);
  leaf.run_last_s = (*table)["run_s_at_last"].value_or(unknown);
  return leaf;
}

// Leaves must cover 1 to the largest n without gaps: a lookup relies on it.
void check_cover(const std::vector<TreeLeaf> &leaves, const std::string &path) {
  std::int64_t next = 1;
  for (const TreeLeaf &leaf : leaves) {
    require(leaf.first == next && leaf.last >= leaf.first, SXT_E_FILE_FORMAT, path, ": the leaf of n = ", leaf.first,
            " to ", leaf.last, " does not follow the one before it");
    next = leaf.last + 1;
  }
  require(next == DecisionTree::largest_n + 1, SXT_E_FILE_FORMAT, path, ": its leaves end at n = ", next - 1);
}

toml::table parse(const std::string &text, const std::string &path) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error &problem) {
    fail(SXT_E_FILE_FORMAT, path, ":", problem.source().begin.line, ": ", problem.description());
  }
}

}  // namespace

std::string DecisionTree::to_toml() const {
  toml::array leaves;
  for (const TreeLeaf &leaf : leaves_) leaves.push_back(to_table(leaf));
  const toml::table file{{"format", tree_format},
                         {"kind", subject_.kind},
                         {"operation", subject_.operation_name()},
                         {"value_type", value_name(subject_.type)},
                         {"device", device_},
                         {"models", hexadecimal(fingerprint_)},
                         {"evaluations", evaluations_},
                         {"unresolved", unresolved_},
                         {"leaf", leaves}};
  std::ostringstream out;
  out.exceptions(std::ios_base::badbit);  // or a text would be cut short where memory is
  out << "# A decision tree of Sextant: which kernel and launch configuration its models call cheapest at each n.\n"
      << file << "\n";
  return out.str();
}

DecisionTree DecisionTree::from_toml(Context &context, const TreeSubject &subject, const std::string &text,
                                     const std::string &path) {
  const toml::table file = parse(text, path);
  const Reader read{file, path};
  require(read.get<std::int64_t>("format") == tree_format, SXT_E_FILE_FORMAT, path, ": not a tree of format ",
          tree_format);
  const std::string about = read.get<std::string>("kind") + " " + read.get<std::string>("operation") + " " +
                            read.get<std::string>("value_type") + " on " + read.get<std::string>("device");
  const std::string wanted = std::string(subject.kind) + " " + subject.operation_name() + " " +
                             value_name(subject.type) + " on " + context.device_name();
  require(about == wanted, SXT_E_PLAN, path, ": a tree of ", about, ", wanted is one of ", wanted);
  DecisionTree tree;
  tree.subject_ = subject;
  tree.device_ = context.device_name();
  tree.fingerprint_ = tree_fingerprint(context, subject);
  require(read.get<std::string>("models") == hexadecimal(tree.fingerprint_), SXT_E_PLAN, path,
          ": made from other models: another profile, machine, number of threads or set of kernels");
  tree.evaluations_ = read.get<std::int64_t>("evaluations");
  tree.unresolved_ = read.get<std::int64_t>("unresolved");
  const toml::array *leaves = file["leaf"].as_array();
  require(leaves && !leaves->empty(), SXT_E_FILE_FORMAT, path, ": it has no leaves");
  for (const toml::node &node : *leaves) tree.leaves_.push_back(read_leaf(node, path));
  check_cover(tree.leaves_, path);
  tree.index();
  return tree;
}

void DecisionTree::save(const std::string &path) const { write_file_atomically(path, to_toml()); }

DecisionTree DecisionTree::load_or_build(Context &context, const TreeSubject &subject, const std::string &path) {
  try {
    return from_toml(context, subject, read_file(path), path);
  } catch (const Error &problem) {
    context.log()(SXT_LOG_WARNING, sextant::text("the decision tree is built anew: ", problem.what()));
    return build(context, subject);
  }
}

}  // namespace sextant
