// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/session.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/error.hpp"
#include "report/explanation.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "workbench/job.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_events = 5000, most_results = 60;

bool tells_events(const ActionLine &line) {
  constexpr std::array<const char *, 4> telling = {"machine", "calibrate", "model", "generate-solver"};
  return std::find(telling.begin(), telling.end(), line.arguments.front()) != telling.end();
}

// The kind of kernels whose models are built point by point.
constexpr const char *modelled = SXT_KIND_SPMV;

}  // namespace

Session::Session(SessionOptions options) : options_(std::move(options)), worker_([this] { work(); }) {}

Session::~Session() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    cancel_.store(1);
  }
  changed_.notify_all();
  worker_.join();
}

ActionPlace Session::place() { return {options_.folder, options_.context, number_ + 1}; }

std::string Session::command_of(const std::string &action, const Json &fields) {
  const std::scoped_lock lock(mutex_);
  return command_text(action_line(action, fields, place()).arguments);
}

int Session::start(const std::string &action, const Json &fields) {
  const std::scoped_lock lock(mutex_);
  if (options_.read_only) fail(exit_refused, "this workbench is read-only: it starts nothing");
  if (running_ || waiting_)
    fail(exit_refused,
         "{} is still running: wait for it, or cancel it. One job at a time, so that measurements are true", action_);
  line_ = action_line(action, fields, place());
  action_ = action;
  command_ = command_text(line_.arguments);
  ++number_;
  events_.clear();
  waiting_ = true;
  cancel_.store(0);
  changed_.notify_all();
  return number_;
}

void Session::cancel() {
  if (options_.read_only) fail(exit_refused, "this workbench is read-only: it cancels nothing");
  cancel_.store(1);
}

bool Session::running() {
  const std::scoped_lock lock(mutex_);
  return running_ || waiting_;
}

void Session::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || waiting_; });
    if (ended_) return;
    run_one(lock);
  }
}

void Session::run_one(std::unique_lock<std::mutex> &lock) {
  waiting_ = false;
  running_ = true;
  const ActionLine line = line_;
  lock.unlock();
  Result result;
  try {
    result = run_job(
        line.arguments, tells_events(line),
        [this](const std::string &text) {
          Json event = Json::parse(text, nullptr, false);
          if (!event.is_object()) return;
          const std::scoped_lock inner(mutex_);
          if (events_.size() < most_events) events_.push_back(std::move(event));
        },
        cancel_);
  } catch (const std::exception &error) {
    result.error = error.what();
  }
  lock.lock();
  result.id = ++result_number_;
  result.view = line.view;
  result.action = action_;
  result.command = command_;
  results_.push_back(std::move(result));
  if (results_.size() > most_results) results_.erase(results_.begin());
  running_ = false;
}

Json Session::state(int job, std::size_t event, int result) {
  const std::scoped_lock lock(mutex_);
  Json json = {{"read_only", options_.read_only}, {"has_model", false}, {"job", nullptr}, {"results", Json::array()}};
  if (number_ > 0) {
    Json events = Json::array();
    for (std::size_t i = job == number_ ? event : 0; i < events_.size(); ++i) events.push_back(events_[i]);
    json["job"] = {{"id", number_},
                   {"view", line_.view},
                   {"action", action_},
                   {"command", command_},
                   {"running", running_ || waiting_},
                   {"events", events},
                   {"next_event", events_.size()}};
  }
  for (const Result &each : results_) {
    json["has_model"] = json["has_model"] == true || each.data.contains("model");
    if (each.id > result)
      json["results"].push_back({{"id", each.id}, {"view", each.view}, {"html", result_html(each)}});
  }
  return json;
}

std::vector<Result> Session::results() {
  const std::scoped_lock lock(mutex_);
  return results_;
}

std::vector<std::string> Session::kernels() {
  const std::scoped_lock lock(mutex_);
  if (!kernels_.empty()) return kernels_;
  const std::atomic<int> never{0};
  std::vector<std::string> arguments = {"plugins"};
  arguments.insert(arguments.end(), options_.context.begin(), options_.context.end());
  arguments.emplace_back("--json");
  const Result loaded = run_job(
      arguments, false, [](const std::string &) {}, never);
  for (const Json &plugin : part(loaded.data, "plugins"))
    for (const Json &kernel : part(plugin, "kernels")) {
      const std::string kind = text_of(kernel, "kind"), name = text_of(kernel, "name");
      if (kind == modelled && name.find(".reference.") == std::string::npos) kernels_.push_back(name);
    }
  std::sort(kernels_.begin(), kernels_.end());
  return kernels_;
}

std::string Session::file_of(int result, const std::string &name) {
  std::string directory;
  {
    const std::scoped_lock lock(mutex_);
    for (const Result &each : results_) {
      const Json &files = part(each.data, "files");
      if (each.id == result && std::find(files.begin(), files.end(), Json(name)) != files.end())
        directory = text_of(each.data, "directory");
    }
  }
  if (directory.empty()) fail(exit_bad_input, "no result {} with a file '{}'", result, name.substr(0, 80));
  std::ifstream in(fs::path(directory) / safe_name(name), std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) fail(exit_bad_input, "{} could not be read", name);
  return std::move(content).str();
}

void Session::keep(const std::string &name, const std::string &content) {
  if (options_.read_only) fail(exit_refused, "this workbench is read-only: it keeps no files");
  OutputFile file((fs::path(options_.folder) / safe_name(name)).string());
  file.write(content);
  file.commit();
}

}  // namespace tool
