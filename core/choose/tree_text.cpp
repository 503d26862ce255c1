// SPDX-License-Identifier: BSD-3-Clause
// Decision trees told to people (text, SVG) and programs (JSON).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <map>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/choose/selector.hpp"
#include "core/choose/tree.hpp"
#include "core/context/context.hpp"
#include "core/explain/explain.hpp"
#include "core/explain/json_writer.hpp"
#include "plot/svg.hpp"

namespace sextant {

namespace {

// "threads 2", "128 x 4 x 1..66": fields that follow n show both ends; zeros at the end are left out.
std::string launch_range(const TreeLeaf &leaf) {
  int count = 4;
  while (count > 1 && leaf.launch_first[count - 1] == 0 && leaf.launch_last[count - 1] == 0) --count;
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += (i ? " x " : "") + std::to_string(leaf.launch_first[i]);
    if (leaf.launch_first[i] != leaf.launch_last[i]) all += ".." + std::to_string(leaf.launch_last[i]);
  }
  return count == 1 ? "threads " + all : all;
}

std::string config_name(const TreeLeaf &leaf) {
  return leaf.kernel.empty() ? "none applies" : leaf.kernel + ", " + launch_range(leaf);
}

std::string times_text(const TreeLeaf &leaf) {
  if (!std::isfinite(leaf.run_first_s)) return "no estimate";
  return seconds_text(leaf.run_first_s) + " to " + seconds_text(leaf.run_last_s);
}

std::string title_of(const DecisionTree &tree, const std::string &device) {
  return text("Decision tree of ", tree.subject().operation_name(), ", ", value_name(tree.subject().type), ", on ",
              device);
}

}  // namespace

std::string DecisionTree::to_text() const {
  std::string out = title_of(*this, device_) + ": n -> kernel and launch, predicted seconds a run at both ends\n";
  for (const TreeLeaf &leaf : leaves_)
    out += text("  n ", leaf.last < largest_n ? "<= " : ">  ", std::setw(13), std::left,
                leaf.last < largest_n ? leaf.last : leaf.first - 1, "  ", std::setw(44), config_name(leaf), "  ",
                times_text(leaf), "\n");
  out += text(leaves_.size(), leaves_.size() == 1 ? " leaf" : " leaves", " from ", evaluations_,
              " questions to the models; ",
              unresolved_ ? text(unresolved_, " intervals were given up before nothing could be cheaper inside")
                          : "exact to them",
              "\n");
  return out;
}

std::string DecisionTree::to_json() const {
  JsonWriter out;
  out.begin('{')
      .member("operation", subject_.operation_name())
      .member("kind", subject_.kind)
      .member("value_type", value_name(subject_.type))
      .member("device", device_)
      .member("evaluations", evaluations_)
      .member("unresolved", unresolved_)
      .key("leaves")
      .begin('[');
  for (const TreeLeaf &leaf : leaves_)
    out.begin('{')
        .member("first", leaf.first)
        .member("last", leaf.last)
        .member("kernel", leaf.kernel)
        .launch("launch", leaf.launch_first)
        .launch("launch_at_last", leaf.launch_last)
        .member("predicted_run_s", leaf.run_first_s)
        .member("predicted_run_s_at_last", leaf.run_last_s)
        .end('}');
  return out.end(']').end('}').text();
}

std::string tree_svg(Context &context, const DecisionTree &tree) {
  // Only what wins somewhere is drawn, each over all n.
  std::map<std::string, std::size_t> place;
  Plot plot;
  plot.title = title_of(tree, context.machine().name ? context.machine().name : context.device_name());
  plot.x = {"n", true};
  plot.y = {"predicted seconds a run", true};
  std::vector<const TreeLeaf *> winners;
  const auto key = [](const TreeLeaf &leaf) {
    return text(leaf.kernel, " #", leaf.candidate, " threads ", leaf.launch_first[0]);
  };
  for (const TreeLeaf &leaf : tree.leaves()) {
    const auto [at, is_new] = place.try_emplace(key(leaf), winners.size());
    if (is_new) {
      winners.push_back(&leaf);
      plot.series.push_back({config_name(leaf), {}, true, false});
    }
    plot.bands.push_back({static_cast<double>(leaf.first), static_cast<double>(leaf.last), at->second});
  }
  const Selector selector(context, nullptr);
  for (double size = 1; size <= 0x1p32; size *= 1.25) {
    const auto n = static_cast<std::int64_t>(size);
    for (const Estimate &each : selector.estimates(tree.subject().at(n)))
      for (std::size_t i = 0; i < winners.size(); ++i)
        if (winners[i]->kernel == each.kernel->name() && winners[i]->candidate == each.candidate &&
            winners[i]->launch_first[0] == each.launch[0] && std::isfinite(each.run_s))
          plot.series[i].points.emplace_back(static_cast<double>(n), each.run_s);
  }
  return to_svg(plot);
}

}  // namespace sextant
