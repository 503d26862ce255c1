// SPDX-License-Identifier: BSD-3-Clause
// What the workbench knows, apart from HTTP: the running job, its events, and the results. Any thread may call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "input/input_file.hpp"
#include "model/points.hpp"
#include "workbench/actions.hpp"
#include "workbench/folder.hpp"
#include "workbench/result.hpp"

namespace tool {

struct SessionOptions {
  std::string folder;                // of uploads, programs and results
  std::vector<std::string> context;  // options of every command
  bool read_only = false;
  std::vector<ModelledKernel> kernels;  // whose models can be built
};

class Session {
 public:
  // With the results that the folder holds, and numbers of jobs behind those of its programs. Throws where the results
  // cannot be read, and where another session writes into the folder, unless this one is read-only.
  explicit Session(SessionOptions options);
  ~Session();  // stops what is running
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  // The command line of a form; throws as action_line does.
  std::string command_of(const std::string &action, const Json &fields);
  // Starts a job and returns its number; throws when one is running, or the workbench is read-only.
  int start(const std::string &action, const Json &fields);
  void cancel();
  // {read_only, has_model, unsaved: why the last results could not be written, job: {id, view, action, command,
  // running, events[], next_event}, results: [{id, view, html}]}: events from number `event` on where `job` is the
  // running or last one, as far as they are still kept; results after the one numbered `result`.
  Json state(int job, std::size_t event, int result);
  std::vector<ResultPointer> results();
  ResultPointer result(int id);  // null where there is none
  const std::vector<ModelledKernel> &kernels() const { return options_.kernels; }
  // A file that a result lists, by its name; throws where there is none.
  std::shared_ptr<InputFile> file_of(int result, const std::string &name);
  // Keeps an uploaded file; throws when it is read-only or the name is not safe.
  void keep(const std::string &name, const std::string &content);

 private:
  void work();
  void run_one(std::unique_lock<std::mutex> &lock);
  void take_event(const std::string &text);
  ActionPlace place() const;
  std::string in_folder(const std::string &name) const;

  const SessionOptions options_;
  const std::unique_ptr<FolderLock> lock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false, waiting_ = false, running_ = false;
  std::atomic<int> cancel_{0};
  int number_ = 0, first_number_ = 0, result_number_ = 0;  // first_number_: before the first job of this session
  std::string action_, command_, unsaved_;
  ActionLine line_;
  std::deque<Json> events_;
  std::size_t first_event_ = 0;  // the number of the first that is still kept
  std::vector<ResultPointer> results_;
  std::thread worker_;
};

}  // namespace tool
