// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/session.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "input/numbers.hpp"
#include "report/error.hpp"
#include "report/explanation.hpp"
#include "report/write_file.hpp"
#include "workbench/job.hpp"
#include "workbench/kept.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_events = 5000, most_results = 60;
constexpr const char *results_file = "results.jsonl", *uploads_folder = "uploads";

bool tells_events(const ActionLine &line) {
  constexpr std::array<const char *, 3> telling = {"calibrate", "model", "generate-solver"};
  const auto has = [&](const char *option) {
    return std::find(line.arguments.begin(), line.arguments.end(), option) != line.arguments.end();
  };
  if (line.arguments.front() == "machine") return has("--measure");
  if (has("--accept") || has("--undo")) return false;  // done at once
  return std::find(telling.begin(), telling.end(), line.arguments.front()) != telling.end();
}

// The highest number of a program's folder that is there already. Larger ones than a workbench gives are left aside.
int programs_in(const std::string &folder) {
  constexpr int most = 1'000'000'000;
  int highest = 0, number = 0;
  std::error_code error;
  for (const auto &each : fs::directory_iterator(folder, error)) {
    const std::string name = each.path().filename().string();
    if (name.starts_with(program_folder) && reads(name.substr(std::string_view(program_folder).size()), number) &&
        number < most)
      highest = std::max(highest, number);
  }
  return highest;
}

}  // namespace

Session::Session(SessionOptions options)
    : options_(std::move(options)),
      lock_(options_.read_only ? nullptr : std::make_unique<FolderLock>(options_.folder)),
      number_(programs_in(options_.folder)),
      first_number_(number_),
      results_(kept_results(in_folder(results_file))) {
  result_number_ = static_cast<int>(results_.size());
  worker_ = std::thread([this] { work(); });
}

Session::~Session() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    cancel_.store(1);
  }
  changed_.notify_all();
  worker_.join();
}

std::string Session::in_folder(const std::string &name) const { return (fs::path(options_.folder) / name).string(); }

ActionPlace Session::place() const {
  return {options_.folder, in_folder(uploads_folder), options_.context, number_ + 1};
}

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
  ActionLine line = action_line(action, fields, place());
  std::error_code error;
  if (action == "accept" && !fs::exists(in_folder(last_model), error))
    fail(exit_refused, "there is no model to accept yet: build one first");
  line_ = std::move(line);
  action_ = action;
  command_ = command_text(line_.arguments);
  ++number_;
  events_.clear();
  first_event_ = 0;
  waiting_ = true;
  cancel_.store(0);
  changed_.notify_all();
  return number_;
}

void Session::cancel() {
  if (options_.read_only) fail(exit_refused, "this workbench is read-only: it cancels nothing");
  cancel_.store(1);
}

void Session::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || waiting_; });
    if (ended_) return;
    run_one(lock);
  }
}

void Session::take_event(const std::string &text) {
  Json event = Json::parse(text, nullptr, false);
  if (!event.is_object()) return;
  const std::scoped_lock lock(mutex_);
  events_.push_back(std::move(event));
  if (events_.size() <= most_events) return;
  events_.pop_front();
  ++first_event_;
}

void Session::run_one(std::unique_lock<std::mutex> &lock) {
  waiting_ = false;
  running_ = true;
  const ActionLine line = line_;
  Result result;
  result.id = ++result_number_;
  result.view = line.view;
  result.action = action_;
  result.command = command_;
  lock.unlock();
  try {
    Result answered = run_job(
        line.arguments, tells_events(line), [this](const std::string &text) { take_event(text); },
        [this] { return cancel_.load() != 0; });
    result.data = std::move(answered.data);
    result.error = std::move(answered.error);
  } catch (const std::exception &error) {
    result.error = error.what();
  }
  // Rendered once, and not under the lock.
  ResultPointer done = finish(std::move(result));
  lock.lock();
  results_.push_back(std::move(done));
  if (results_.size() > most_results) results_.erase(results_.begin());
  const std::vector<ResultPointer> kept = results_;
  lock.unlock();
  std::string unsaved;
  try {
    keep_results(in_folder(results_file), kept);
  } catch (const std::exception &error) {
    unsaved = fmt::format("the results could not be written, and end with this workbench: {}", error.what());
    message(unsaved);
  }
  lock.lock();
  unsaved_ = unsaved;
  running_ = false;
}

Json Session::state(int job, std::size_t event, int result) {
  const std::scoped_lock lock(mutex_);
  std::error_code error;
  Json json = {{"read_only", options_.read_only},
               {"has_model", fs::exists(in_folder(last_model), error)},
               {"unsaved", unsaved_},
               {"job", nullptr},
               {"results", Json::array()}};
  if (number_ > first_number_) {
    Json events = Json::array();
    for (std::size_t i = std::max(job == number_ ? event : 0, first_event_); i < first_event_ + events_.size(); ++i)
      events.push_back(events_[i - first_event_]);
    json["job"] = {{"id", number_},
                   {"view", line_.view},
                   {"action", action_},
                   {"command", command_},
                   {"running", running_ || waiting_},
                   {"events", events},
                   {"next_event", first_event_ + events_.size()}};
  }
  for (const ResultPointer &each : results_)
    if (each->id > result) json["results"].push_back({{"id", each->id}, {"view", each->view}, {"html", each->html}});
  return json;
}

std::vector<ResultPointer> Session::results() {
  const std::scoped_lock lock(mutex_);
  return results_;
}

ResultPointer Session::result(int id) {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::find_if(results_.begin(), results_.end(), [&](const ResultPointer &each) { return each->id == id; });
  return found == results_.end() ? nullptr : *found;
}

std::shared_ptr<InputFile> Session::file_of(int id, const std::string &name) {
  const ResultPointer of = result(id);
  const Json &files = of ? part(of->data, "files") : Json();
  if (std::find(files.begin(), files.end(), Json(name)) == files.end())
    fail(exit_bad_input, "no result {} with a file '{}'", id, printable(name));
  // Whatever stands in results that were kept: no file but those of a program in this folder.
  const fs::path program = fs::path(options_.folder) / fs::path(text_of(of->data, "directory")).filename();
  std::error_code error;
  if (!program.filename().string().starts_with(program_folder) || !fs::is_directory(fs::symlink_status(program, error)))
    fail(exit_bad_input, "{}: is no folder of a program", program.string());
  return std::make_shared<InputFile>((program / safe_name(name)).string(), Links::refused);
}

void Session::keep(const std::string &name, const std::string &content) {
  if (options_.read_only) fail(exit_refused, "this workbench is read-only: it keeps no files");
  const fs::path path = fs::path(in_folder(uploads_folder)) / safe_name(name);
  std::error_code error;
  if (fs::create_directories(path.parent_path(), error); error)
    fail(exit_bad_input, "{}: {}", path.parent_path().string(), error.message());
  write_text(path.string(), content);
}

}  // namespace tool
