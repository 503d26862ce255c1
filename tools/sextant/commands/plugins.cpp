// SPDX-License-Identifier: BSD-3-Clause
// sextant plugins: what is loaded, which kernels it brought, and what was refused at which stage and why.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "report/refusals.hpp"
#include "report/table.hpp"

namespace tool {
namespace {

struct PluginsOptions {
  ContextOptions context;
  bool json = false, strict = false;
};

// Strings of the registry may be null where a plugin gave none.
std::string text(const char *string) { return string == nullptr ? "" : string; }

Json kernel_json(const sxt_kernel_info &info) {
  return {{"name", text(info.name)},
          {"kind", text(info.kind)},
          {"device", text(info.device)},
          {"description", text(info.description)},
          {"version", info.version},
          {"deterministic", info.deterministic != 0},
          {"capturable", info.capturable != 0},
          {"reference", info.reference != 0},
          {"quarantined", info.quarantined != 0}};
}

// Every plugin with its kernels.
Json plugins_json() {
  Json plugins = Json::array();
  for (std::int64_t i = 0; i < sxt_plugin_count(); ++i) {
    sxt_plugin_info info{};
    info.struct_size = sizeof info;
    check(sxt_plugin_get(i, &info), nullptr);
    plugins.push_back({{"name", text(info.name)},
                       {"version", text(info.version)},
                       {"path", text(info.path)},
                       {"vendor", text(info.vendor)},
                       {"license", text(info.license)},
                       {"kernels", Json::array()}});
  }
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    for (Json &plugin : plugins) {
      if (plugin["name"] == text(info.plugin)) plugin["kernels"].push_back(kernel_json(info));
    }
  }
  return plugins;
}

// "deterministic, capturable", what a kernel promises, and what became of it.
std::string remarks(const Json &kernel) {
  std::string text;
  for (const char *key : {"reference", "deterministic", "capturable", "quarantined"}) {
    if (kernel[key] == true) text += (text.empty() ? "" : ", ") + std::string(key);
  }
  return text;
}

// For a device that this machine does not have: nothing is wrong with the file.
bool waits_for_a_device(const Json &refusal) { return refusal["stage"] == "device"; }

std::size_t count_wrong(const Json &refused) {
  return static_cast<std::size_t>(std::count_if(refused.begin(), refused.end(), std::not_fn(waits_for_a_device)));
}

void print_plugins(const Json &plugins, const Json &refused) {
  Table table({{"kernel"}, {"kind"}, {"device"}, {"remarks"}, {"plugin"}});
  std::size_t kernels = 0;
  for (const Json &plugin : plugins) {
    for (const Json &kernel : plugin["kernels"]) {
      table.add({kernel["name"], kernel["kind"], kernel["device"], remarks(kernel), plugin["name"]},
                kernel["quarantined"] == true ? Style::bad : Style::plain);
      ++kernels;
    }
  }
  print_text(table.text());
  Table files({{"plugin"}, {"version"}, {"kernels", true}, {"path"}});
  for (const Json &plugin : plugins) {
    files.add({plugin["name"], plugin["version"], std::to_string(plugin["kernels"].size()), plugin["path"]});
  }
  print("\n{}", files.text());
  const std::size_t wrong = count_wrong(refused), waiting = refused.size() - wrong;
  print("\n{} plugins with {} kernels; {} refused\n", plugins.size(), kernels, wrong);
  if (waiting) {
    const auto first = std::find_if(refused.begin(), refused.end(), waits_for_a_device);
    print("{} more are not loaded: {}\n", waiting, (*first)["reason"].get<std::string>());
  }
  for (const Json &refusal : refused) {
    if (waits_for_a_device(refusal)) continue;
    print("{} {} (stage {}): {}\n", styled(Style::bad, "refused"), refusal["path"].get<std::string>(),
          refusal["stage"].get<std::string>(), refusal["reason"].get<std::string>());
  }
}

int list_plugins(const PluginsOptions &options) {
  const Context context = open_context(options.context, true);
  const Json plugins = plugins_json(), refused = refusals_json();
  options.json ? print_json({{"plugins", plugins}, {"refused", refused}}) : print_plugins(plugins, refused);
  return options.strict && count_wrong(refused) > 0 ? exit_refused : exit_done;
}

constexpr const char *plugins_footer = R"(Examples:
  sextant plugins                               kernels, the files they come from, and refusals with stage and reason
  sextant plugins --plugin-path ./libmine.so    with a plugin of yours
  sextant plugins --json --strict               for scripts

Exit code 6: with --strict, something was refused for another reason than a device that is not there.)";

}  // namespace

Json refusals_json() {
  Json refused = Json::array();
  for (std::int64_t i = 0; i < sxt_refusal_count(); ++i) {
    sxt_refusal_info info{};
    info.struct_size = sizeof info;
    check(sxt_refusal_get(i, &info), nullptr);
    refused.push_back({{"path", text(info.path)}, {"stage", text(info.stage)}, {"reason", text(info.reason)}});
  }
  return refused;
}

void add_plugins(CLI::App &parent, Action &action) {
  auto options = std::make_shared<PluginsOptions>();
  CLI::App *app = parent.add_subcommand("plugins", "What is loaded, and what was refused at which stage and why");
  app->add_flag("--json", options->json, "The lists as JSON");
  app->add_flag("--strict", options->strict, "Exit code 6 when anything was refused");
  add_context_options(*app, options->context);
  app->footer(plugins_footer);
  app->callback([options, &action] { action = [options] { return list_plugins(*options); }; });
}

}  // namespace tool
