// SPDX-License-Identifier: BSD-3-Clause
// sextant plugin new: a folder with a kernel that works, its test and its benchmark, to be changed.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include "commands/command.hpp"
#include "commands/plugin_templates.hpp"
#include "input/context_options.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/preconditioner.h"

namespace tool {
namespace {

struct NewOptions {
  PluginRequest request;
  std::string output;
  bool list = false, json = false;
};

// A method's name in a query has 24 characters.
constexpr std::size_t longest_name = 23;

bool is_name(const std::string &text, bool dots) {
  const auto fits = [dots](char c) {
    return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) || c == '-' ||
           c == '_' || (dots && c == '.');
  };
  return !text.empty() && std::islower(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), fits);
}

int list_templates(const NewOptions &options) {
  if (options.json) {
    Json all = Json::array();
    for (const auto &each : plugin_templates())
      all.push_back({{"name", each[0]}, {"kind", each[1]}, {"devices", each[2]}, {"about", each[3]}});
    print_json(all);
    return exit_done;
  }
  Table table({{"name"}, {"kind"}, {"devices"}, {"what its kernels do"}});
  for (const auto &each : plugin_templates()) table.add({each[0], each[1], each[2], each[3]});
  print_text(table.text());
  return exit_done;
}

// All of it or nothing: a folder that was made here is removed where a file cannot be written.
void write_folder(const std::filesystem::path &path, const PluginFolder &folder) {
  std::error_code problem;
  if (!std::filesystem::create_directory(path, problem)) {
    const std::string why = problem ? problem.message() : "it is there already; give another name, or -o FOLDER";
    fail(exit_bad_input, "{} cannot be made: {}", path.string(), why);
  }
  try {
    for (const auto &[name, text] : folder.files) write_text((path / name).string(), text);
  } catch (...) {
    std::filesystem::remove_all(path, problem);
    throw;
  }
}

// A preconditioner is asked for by its method, the NAME alone: a method of the library's own would mean both kernels.
void warn_of_a_method(const PluginFolder &folder, const std::string &name) {
  if (folder.kind != SXT_KIND_PRECONDITIONER) return;
  ContextOptions on_cpu;
  on_cpu.device = "cpu";
  try {
    const Context loads_plugins = open_context(on_cpu);
  } catch (const ToolError &) {  // without a CPU's plugins there is nothing to warn of
    return;
  }
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    if (fmt::format("preconditioner.{}.{}", name, info.device) != info.name) continue;
    return message(
        fmt::format("{} is also a method of the library's own ({}): --precond {} takes the one that is predicted to be "
                    "faster; another NAME means yours alone",
                    name, info.name, name));
  }
}

int make_plugin(const NewOptions &options) {
  if (options.list) return list_templates(options);
  const PluginRequest &request = options.request;
  if (request.kind.empty() || request.name.empty())
    fail(exit_usage,
         "KIND and NAME are required: sextant plugin new spmv mine\n`sextant plugin new --list` names the kinds");
  if (!is_name(request.name, false) || request.name.size() > longest_name)
    fail(exit_usage, "NAME '{}': lower-case letters, digits, '-' and '_' after a letter, at most {}", request.name,
         longest_name);
  if (!is_name(request.domain, true))
    fail(exit_usage, "--domain '{}': a domain of yours backwards, such as com.example", request.domain);
  const PluginFolder folder = plugin_folder(request);
  const std::string path = options.output.empty() ? request.name : options.output;
  write_folder(path, folder);
  warn_of_a_method(folder, request.name);
  if (options.json) {
    Json files = Json::array();
    for (const auto &[name, text] : folder.files) files.push_back(name);
    print_json({{"path", path}, {"kind", folder.kind}, {"kernel", folder.kernel}, {"files", files}});
    return exit_done;
  }
  print("{} has {} of kind {}: {}\n", path, folder.kernel, folder.kind, folder.origin);
  print("Build and test it (CMAKE_PREFIX_PATH names the prefix of Sextant where that is not /usr):\n");
  print("  cmake -S {0} -B {0}/build && cmake --build {0}/build && ctest --test-dir {0}/build\n", path);
  print("{}/README.md says what each file is, and how the kernel is measured and used.\n", path);
  return exit_done;
}

constexpr const char *new_footer =
    R"(The folder builds against an installed Sextant alone, and passes the tests of its kind as it is. Change the kernel
and what its model counts; `sextant plugin check` says whether both are still right.
Examples:
  sextant plugin new spmv mine                  a product, for the CPU
  sextant plugin new vector mine --cuda         vector operations, for a CUDA device
  sextant plugin new storage mine               a storage format with a product that reads it
  sextant plugin new own mine --domain org.me   a kind of your own, "org.me.mine/1", with cases and a reference
Exit code 3: the folder is there already, or cannot be written.)";

}  // namespace

void add_plugin_new(CLI::App &plugin, Action &action) {
  auto options = std::make_shared<NewOptions>();
  CLI::App *app =
      plugin.add_subcommand("new", "Write a folder with a working kernel of a kind, its test and benchmark");
  app->add_option("kind", options->request.kind, "The kind: spmv, vector, ..., or own")->type_name("KIND");
  app->add_option("name", options->request.name, "The name of kernel, plugin and folder")->type_name("NAME");
  app->add_flag("--cuda", options->request.cuda, "For CUDA devices");
  app->add_option("--domain", options->request.domain, "In front of the kernel's name, and of kinds of its own")
      ->default_val("com.example")
      ->type_name("DOMAIN");
  app->add_option("-o,--output", options->output, "The folder; default: NAME")->type_name("FOLDER");
  app->add_flag("--list", options->list, "The kinds that have a template");
  app->add_flag("--json", options->json, "What was written, or the list, as JSON");
  app->footer(new_footer);
  app->callback([options, &action] { action = [options] { return make_plugin(*options); }; });
}

}  // namespace tool
