// SPDX-License-Identifier: BSD-3-Clause
#include "commands/solve_keep.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "input/context_options.hpp"
#include "input/matrix_view.hpp"
#include "input/standard_input.hpp"
#include "report/explanation.hpp"
#include "report/write_file.hpp"
#include "report/write_matrix.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr const char *of_every_run[] = {"command.txt", "log.txt"};

// A word as a shell reads it.
std::string quoted(const std::string &word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || std::string("-_./=+,:@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The command line of this process, and the folder it runs in. (Linux)
std::string command_text() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::error_code error;
  std::string line, text = fmt::format("cd {}\n", quoted(fs::current_path(error).string()));
  for (std::size_t at = 0; at < words.size(); at = words.find('\0', at) + 1)
    line += (line.empty() ? "" : " ") + quoted(words.c_str() + at);
  return text + line + "\n";
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&now, &parts)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

std::string about_text(const SolveRun &run, int exit_code, const std::string &sentence) {
  std::string text =
      fmt::format("sextant {}, {}\nexit code {}: {}\n", sxt_version_string(), time_text(), exit_code, sentence);
  if (run.context) text += fmt::format("device: {}\n", described(run.context.get()));
  if (!run.matrix.handle) return text;
  text += fmt::format("matrix: {}: {}\n", run.matrix.path, describe(run.matrix));
  std::error_code error;
  const fs::path file = fs::canonical(run.matrix.path, error);
  if (!error) text += fmt::format("its file: {}, {} bytes\n", file.string(), fs::file_size(file, error));
  return text;
}

}  // namespace

RunFolder::RunFolder(const std::string &path) : path_(path) {
  if (path_.empty()) return;
  std::error_code error;
  if (fs::exists(path_, error) && !fs::is_empty(path_, error))
    fail(exit_bad_input, "--keep {}: it is there already, and {}", path_,
         error ? "cannot be looked into: " + error.message() : "not empty");
  made_ = fs::create_directory(path_, error);
  if (error) fail(exit_bad_input, "--keep {}: {}", path_, error.message());
  write_text(in("command.txt"), command_text());
  write_text(in("log.txt"), "");
}

RunFolder::~RunFolder() {
  if (path_.empty() || kept_) return;
  std::error_code ignored;
  for (const char *name : of_every_run) fs::remove(in(name), ignored);
  if (made_) fs::remove(path_, ignored);
}

std::string RunFolder::log_path() const { return path_.empty() ? "" : in("log.txt"); }

void RunFolder::keep(const SolveRun &run, int exit_code, const std::string &sentence) {
  if (path_.empty()) return;
  kept_ = true;
  std::vector<std::string> names(std::begin(of_every_run), std::end(of_every_run));
  const auto add = [&](const char *name, auto write) {
    try {
      write(in(name));
      names.emplace_back(name);
    } catch (const std::exception &error) {
      message(fmt::format("--keep {}: {} was not written: {}", path_, name, error.what()));
    }
  };
  add("about.txt", [&](const std::string &path) { write_text(path, about_text(run, exit_code, sentence)); });
  if (run.matrix.handle && is_standard_input(run.matrix.path))
    add("A.mtx.gz", [&](const std::string &path) {
      write_matrix(path, MatrixFormat::matrix_market,
                   view_of(run.context.get(), run.matrix.handle.get(), run.matrix.info), false, "");
    });
  if (!run.b.values.empty()) add("b.mtx", [&](const std::string &path) { write_vector(path, run.b); });
  if (!run.x.values.empty()) add("x.mtx", [&](const std::string &path) { write_vector(path, run.x); });
  if (run.history.length > 0)
    add("history.csv",
        [&](const std::string &path) { write_history(path, run.history.residuals.get(), run.history.length); });
  if (run.pcg) {
    add("explain.txt", [&](const std::string &path) { write_text(path, explain_text(run.pcg.get())); });
    add("plan.toml",
        [&](const std::string &path) { check(sxt_plan_save(run.context.get(), path.c_str()), run.context.get()); });
  }
  message(fmt::format("{} holds {}", path_, fmt::join(names, ", ")));
}

}  // namespace tool
