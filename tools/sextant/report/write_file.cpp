// SPDX-License-Identifier: BSD-3-Clause
// Output files by the common writer, and the two formats written to them.
#include "report/write_file.hpp"

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>

#include "commands/generate.hpp"
#include "files/output_file.hpp"
#include "input/matrix_view.hpp"

namespace tool {
namespace {

namespace files = sextant::files;

// f(), with the writer's errors as the command's.
template <class F>
auto writing(F &&f) {
  try {
    return f();
  } catch (const files::WriteError &problem) {
    fail(exit_bad_input, "{}", problem.what());
  }
}

// Equal for two names of one file.
std::string identity(const std::string &path) {
  std::error_code error;
  const std::string target = writing([&] { return files::behind_links(path); });
  const std::string canonical = std::filesystem::weakly_canonical(target, error).string();
  return error ? target : std::filesystem::absolute(canonical, error).string();
}

}  // namespace

OutputFile::OutputFile(const std::string &path)
    : file_(writing([&] { return std::make_unique<files::OutputFile>(path); })) {}

OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view text) {
  writing([&] { file_->write(text); });
}

void OutputFile::commit() {
  writing([&] { file_->commit(); });
}

void write_text(const std::string &path, std::string_view text) {
  writing([&] { files::write_file(path, text); });
}

void check_writable(const std::string &path) {
  writing([&] { files::check_writable(path); });
}

void check_outputs(const std::vector<Output> &outputs) {
  std::map<std::string, std::string> options;
  for (const auto &[option, path] : outputs) {
    if (path.empty()) continue;
    check_writable(path);
    if (files::is_special(path)) continue;
    const auto [place, added] = options.emplace(identity(path), option);
    if (!added) fail(exit_usage, "{} and {} name the same file: {}", place->second, option, path);
  }
}

void write_vector(const std::string &path, const HostVector &vector) {
  const bool complex = vector.type == SXT_C128;
  OutputFile file(path);
  file.write(fmt::format("%%MatrixMarket matrix array {} general\n", complex ? "complex" : "real"));
  file.write(fmt::format("{} 1\n", vector.length()));
  fmt::memory_buffer line;
  for (std::size_t i = 0; i < vector.values.size(); i += complex ? 2 : 1) {
    line.clear();
    fmt::format_to(std::back_inserter(line), "{}", vector.values[i]);
    if (complex) fmt::format_to(std::back_inserter(line), " {}", vector.values[i + 1]);
    line.push_back('\n');
    file.write({line.data(), line.size()});
  }
  file.commit();
}

void write_matrix(const std::string &path, const HostCsr &a) {
  write_matrix(path, MatrixFormat::matrix_market, view_of(a), false, a.name);
}

void write_history(const std::string &path, const double *residuals, std::int64_t count) {
  OutputFile file(path);
  file.write("iteration,residual\n");
  for (std::int64_t i = 0; i < count; ++i) file.write(fmt::format("{},{}\n", i, residuals[i]));
  file.commit();
}

}  // namespace tool
