// SPDX-License-Identifier: BSD-3-Clause
// A plan in which the factorisations go by a launch of our choice: streams, and how tasks are made of supernodes (0:
// each operation a task, as published; 1: leaf subtrees and narrow supernodes joined). Through the public interface
// alone.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "sextant/sextant.h"

namespace gpu_test {

struct CholeskyLaunch {
  std::int64_t streams, mapping;
  std::int64_t products = 0;  // of cholesky.levels.cuda in f32: TF32 products for one
};

// Calls f(table) for each table of a saved plan, and gives all of them back as f leaves them.
template <class F>
std::string map_tables(const std::string &plan, F &&f) {
  std::string out;
  for (std::size_t at = 0; at < plan.size();) {
    const std::size_t next = plan.find("\n[", at + 1);
    std::string table = plan.substr(at, next == std::string::npos ? next : next - at);
    f(table);
    out += table;
    at = next == std::string::npos ? plan.size() : next;
  }
  return out;
}

inline bool is_factor_entry(const std::string &table) {
  return table.find("role = 'cholesky/factor'") != std::string::npos ||
         table.find("role = \"cholesky/factor\"") != std::string::npos;
}
inline std::string text_of(const CholeskyLaunch &launch) {
  return "launch = [ " + std::to_string(launch.streams) + ", " + std::to_string(launch.mapping) + ", " +
         std::to_string(launch.products) + ", 0 ]";
}

inline std::string read_text(const std::string &path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// After an analysis of the same structure in this context: later ones factor by this launch. SXT_OK, or what failed.
inline sxt_status load_launch(sxt_context *context, const std::string &path, const CholeskyLaunch &launch) {
  if (const sxt_status status = sxt_plan_save(context, path.c_str())) return status;
  const std::string plan = map_tables(read_text(path), [&](std::string &table) {
    const std::size_t begin = table.find("launch = ["), end = table.find(']', begin);
    if (is_factor_entry(table) && begin != std::string::npos) table.replace(begin, end + 1 - begin, text_of(launch));
  });
  std::ofstream(path) << plan;
  const sxt_status status = sxt_plan_load(context, path.c_str(), 0);
  std::remove(path.c_str());
  return status;
}

// Whether a choice made since then went by it.
inline bool has_launch(sxt_context *context, const std::string &path, const CholeskyLaunch &launch) {
  if (sxt_plan_save(context, path.c_str()) != SXT_OK) return false;
  bool found = false;
  map_tables(read_text(path), [&](std::string &table) {
    found = found || (is_factor_entry(table) && table.find(text_of(launch)) != std::string::npos);
  });
  std::remove(path.c_str());
  return found;
}

}  // namespace gpu_test
