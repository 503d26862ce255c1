// SPDX-License-Identifier: BSD-3-Clause
// sextant machine: the device, its profile and how old it is; measured, its ceilings and the products below them.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "bench/triad.hpp"
#include "commands/command.hpp"
#include "commands/generate.hpp"
#include "input/context_options.hpp"
#include "input/matrix_input.hpp"
#include "input/numbers.hpp"
#include "report/events.hpp"
#include "report/explanation.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/dense.h"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr double seconds_a_kernel = 0.04;
constexpr double slow = 20;  // a kernel predicted so many times slower than the best is not measured

struct MachineOptions {
  ContextOptions context;
  std::string events;
  std::int64_t rows = 100000;
  bool measure = false, json = false;
};

Json profile_json(const std::string &path) {
  if (path.empty()) return nullptr;
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  if (error) return {{"path", path}, {"age_seconds", nullptr}};
  const std::chrono::duration<double> age = fs::file_time_type::clock::now() - written;
  return {{"path", path}, {"age_seconds", std::max(0.0, age.count())}};
}

// Flops a second of one core: C -= A B^H, by the library's own choice of kernel; 0 where there is none.
double core_flops(sxt_context *context) {
  constexpr std::int32_t n = 384;
  const double flops = 2.0 * n * n * n;
  sxt_dense_query query{};
  query.q = {{sizeof query, SXT_KIND_DENSE}, 100, 0, SXT_F64};
  query.operation = SXT_DENSE_GEMM;
  query.count = 1;
  query.max_m = query.max_n = query.max_k = n;
  query.flops = flops;
  sxt_selection *handle = nullptr;
  if (sxt_kernel_select(context, &query.q, nullptr, &handle) != SXT_OK) return 0;
  const Selection selection(handle);
  std::vector<double> a(std::size_t{n} * n, 0.5), b(a), c(a);
  void *pa = a.data(), *pb = b.data(), *pc = c.data();
  const std::int64_t ld = n;
  sxt_dense_args args{};
  args.h = {sizeof args, SXT_KIND_DENSE};
  args.operation = SXT_DENSE_GEMM;
  args.value_type = SXT_F64;
  args.count = 1;
  args.m = args.n = args.k = &n;
  args.a = &pa, args.b = &pb, args.c = &pc;
  args.lda = args.ldb = args.ldc = &ld;
  sxt_head *head = &args.h;
  double seconds = 0;
  if (sxt_selection_time(handle, &head, 1, 0.2, &seconds, nullptr) != SXT_OK || !(seconds > 0)) return 0;
  return flops / seconds;
}

// One product of every kernel that applies to the matrix: {matrix, kernel, seconds, flops, bytes, chosen}.
void measure_products(sxt_context *context, const HostCsr &a, Events &events, Json &points) {
  const Matrix matrix = matrix_of(context, a);
  std::vector<double> x = operand(a.n, 0), y(static_cast<std::size_t>(a.n));
  const double one = 1, zero = 0;
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.op = SXT_NO_TRANSPOSE, args.n_rhs = 1, args.ldx = args.ldy = a.n;
  args.alpha.value = &one, args.beta.value = &zero, args.x = x.data(), args.y = y.data();
  sxt_head *head = &args.h;
  const sxt_spmv_query query = product_query();
  const auto entries = static_cast<double>(a.values.size()), rows = static_cast<double>(a.n);
  double best = 0;
  std::vector<std::string> names = kernels_of(SXT_KIND_SPMV);
  names.insert(names.begin(), own_choice);
  std::string chosen;
  for (const std::string &name : names) {
    std::string reason;
    const Selection selection = select_kernel(context, name, query.m.q, matrix.get(), reason);
    if (!selection) continue;
    double predicted = 0, seconds = 0;
    check(sxt_selection_cost(selection.get(), nullptr, &predicted), context);
    if (name == own_choice) {
      chosen = sxt_selection_kernel(selection.get());
      best = predicted;
      continue;
    }
    if (predicted > slow * best) continue;
    if (sxt_selection_time(selection.get(), &head, 1, seconds_a_kernel, &seconds, nullptr) != SXT_OK) continue;
    const Json point = {{"matrix", a.name},
                        {"kernel", name},
                        {"seconds", seconds},
                        {"flops", 2 * entries},
                        {"bytes", 12 * entries + 4 * (rows + 1) + 16 * rows},
                        {"chosen", name == chosen}};
    events.tell({{"event", "point"}, {"point", point}});
    points.push_back(point);
  }
}

Json measured(const MachineOptions &options, sxt_context *context, int threads) {
  Events events(options.events);
  events.tell({{"event", "stage"}, {"stage", "ceilings"}});
  Json json;
  json["memory_bytes_per_s"] = triad_bandwidth(threads);
  const double core = core_flops(context);
  json["flops_per_s"] = core > 0 ? Json(core * threads) : Json();
  Json points = Json::array();
  for (const Generator make : generators("stencil-3d,banded,power-law")) {
    events.tell({{"event", "stage"}, {"stage", "products"}});
    measure_products(context, make(options.rows), events, points);
  }
  json["products"] = points;
  return json;
}

int machine(const MachineOptions &options) {
  check_outputs({{"--events", options.events}});
  const Context context = open_context(options.context);
  const std::string description = described(context.get());
  const bool host = description.starts_with("cpu:");
  if (options.measure && !host) fail(exit_usage, "--measure is of the host in this version: add --device cpu");
  const int threads = threads_of(context.get());
  Json json = {{"device", description},
               {"processor", processor_name()},
               {"threads", threads},
               {"cache_bytes", last_cache_bytes()},
               {"kernels", sxt_kernel_count()},
               {"plugins", sxt_plugin_count()},
               {"refused", sxt_refusal_count()},
               {"profile", profile_json(profile_of(description))}};
  if (options.measure) json["measured"] = measured(options, context.get(), threads);
  if (options.json) {
    print_json(json);
    return exit_done;
  }
  print("device     {}\nprofile    {}\n", description,
        json["profile"].is_null() ? "none: sextant calibrate measures this machine" : profile_of(description));
  if (!options.measure) return exit_done;
  const Json &m = json["measured"];
  print("memory     {}/s\ncores      {}\n", bytes_text(m["memory_bytes_per_s"].get<double>()),
        m["flops_per_s"].is_null() ? "-" : fmt::format("{:.3g} Gflop/s", m["flops_per_s"].get<double>() / 1e9));
  Table table({{""}, {"matrix"}, {"kernel"}, {"a product", true}, {"Gflop/s", true}, {"of memory", true}});
  for (const Json &p : m["products"]) {
    const double seconds = p["seconds"], bytes = p["bytes"], flops = p["flops"];
    table.add({p["chosen"].get<bool>() ? "*" : "", text_of(p, "matrix"), text_of(p, "kernel"), seconds_text(seconds),
               fmt::format("{:.2f}", flops / seconds / 1e9),
               fmt::format("{:.0f} %", 100 * bytes / seconds / m["memory_bytes_per_s"].get<double>())});
  }
  print_text(table.text());
  return exit_done;
}

constexpr const char *machine_footer = R"(Examples:
  sextant machine                               the device, and whether it has a profile
  sextant machine --measure                     its ceilings, and how near to them products come)";

}  // namespace

void add_machine(CLI::App &parent, Action &action) {
  auto options = std::make_shared<MachineOptions>();
  CLI::App *app = parent.add_subcommand("machine", "The device, its ceilings, and the age of its profile");
  app->add_flag("--measure", options->measure, "Measure the ceilings, and products on generated matrices");
  app->add_option("--n", options->rows, "--measure: rows of each matrix")
      ->capture_default_str()
      ->check(whole_number_from<std::int64_t>(1));
  app->add_flag("--json", options->json, "JSON instead of text");
  add_events(*app, options->events);
  add_context_options(*app, options->context);
  app->footer(machine_footer);
  app->callback([app, options, &action] {
    action = [app, options] {
      if (!options->measure) refuse_given(*app, {"--n", "--events"}, "has no effect without --measure");
      return machine(*options);
    };
  });
}

}  // namespace tool
