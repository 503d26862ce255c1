// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/kept.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "input/input_file.hpp"
#include "report/explanation.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

std::string line_of(const Result &result) {
  const Json json = {{"id", result.id},           {"view", result.view}, {"action", result.action},
                     {"command", result.command}, {"data", result.data}, {"error", result.error}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void keep_results(const std::string &path, const std::vector<ResultPointer> &results) {
  std::string text;
  for (auto each = results.rbegin(); each != results.rend(); ++each) {
    const std::string line = line_of(**each);
    if (text.size() + line.size() > most_text_bytes) break;
    text.insert(0, line);
  }
  write_text(path, text);
}

std::vector<ResultPointer> kept_results(const std::string &path) {
  std::vector<ResultPointer> results;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return results;
  std::istringstream lines(read_text(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const Json json = Json::parse(line, nullptr, false);
    const Json &id = part(json, "id");
    Result result{0,
                  text_of(json, "view"),
                  text_of(json, "action"),
                  text_of(json, "command"),
                  part(json, "data"),
                  text_of(json, "error"),
                  ""};
    const bool known = std::any_of(workbench_views.begin(), workbench_views.end(),
                                   [&](const View &view) { return result.view == view.name; });
    if (!id.is_number_integer() || !known || result.command.empty())
      fail(exit_bad_input, "{}:{}: is no result of a workbench", path, number);
    result.id = static_cast<int>(results.size()) + 1;
    results.push_back(finish(std::move(result)));
  }
  return results;
}

}  // namespace tool
