// SPDX-License-Identifier: BSD-3-Clause
// What a command answered, as a section of the page: the same text in the live page and in a report.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "report/output.hpp"

namespace tool {

// The views of the page, in their order.
struct View {
  const char *name, *title;
};
inline constexpr std::array<View, 5> workbench_views = {{{"machine", "Machine"},
                                                         {"model", "Model builder"},
                                                         {"choice", "Choice"},
                                                         {"generate", "Generate"},
                                                         {"report", "Report"}}};

struct Result {
  int id = 0;
  std::string view, action;  // the name of one of workbench_views; a name of actions.hpp
  std::string command;       // the command line that gives the same
  Json data;                 // the command's JSON
  std::string error;         // its sentence, where it failed
  std::string html;          // a whole <article>, by finish()
};
// A result that is finished does not change.
using ResultPointer = std::shared_ptr<const Result>;

// Writes the article. Data that cannot be shown becomes an error.
ResultPointer finish(Result result);

// The bodies, by what the command answers.
std::string machine_html(const Json &data);
std::string calibration_html(const Json &data);
std::string explanation_html(const Json &data);
std::string tree_html(const Json &data);
std::string verification_html(const Json &data);
std::string solver_html(const Json &data);
std::string model_html(const Json &data);
std::string retune_html(const Json &data);

// Tables that several bodies have.
std::string plan_html(const Json &plan);
std::string candidates_html(const Json &candidates);
std::string percent_text(double share);

}  // namespace tool
