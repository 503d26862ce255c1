// SPDX-License-Identifier: BSD-3-Clause
// sextant bench published: each headline of the five sources beside what the same kind of comparison gives here. Every
// figure is measured by another suite of this command, in a process of its own, and says where it cannot be compared.
#include "bench/published.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <memory>

#include "bench/measure.hpp"
#include "commands/child_process.hpp"
#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "input/numbers.hpp"
#include "report/table.hpp"

namespace tool {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t most_output = std::uint64_t{64} << 20;

struct PublishedOptions {
  ContextOptions context;
  std::int64_t rows = 262144, length = std::int64_t{1} << 23, systems = 100;
  std::int64_t repeat = 3;
  std::string orders = "350,700,1700";
  bool json = false;
};

// One headline. ours: NaN where it was not measured, and why says why.
struct Figure {
  std::string source, what, published;
  double ours = nothing;
  std::string conditions = {}, why = {};
  Json cases = Json::array();
};

bool on_gpu(const PublishedOptions &options) { return options.context.device.rfind("cuda", 0) == 0; }

int wait_for(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

std::string content_of(int file) {
  std::string out;
  char buffer[65536];
  lseek(file, 0, SEEK_SET);
  for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<std::size_t>(got));
  close(file);
  return out;
}

// The rows of `sextant bench ...` with --json; an empty array with the reason where it failed.
Json rows_of(std::vector<std::string> arguments, const PublishedOptions &options, std::string &why) {
  arguments.insert(arguments.begin(), {"sextant", "bench"});
  arguments.insert(arguments.end(), {"--repeat", std::to_string(options.repeat), "--json"});
  if (!options.context.profile.empty()) arguments.insert(arguments.end(), {"--profile", options.context.profile});
  const int output = memory_file(), errors = memory_file();
  const Child child = start_child(arguments, "", "", output, errors, most_output);
  close(child.report);
  const int code = wait_for(child.process);
  const std::string text = content_of(output), said = content_of(errors);
  if (code == exit_done) {
    const Json all = Json::parse(text, nullptr, false);
    if (!all.is_discarded() && all.contains("rows")) return all["rows"];
  }
  why = fmt::format("{} {} ended with {}: {}", arguments[1], arguments[2], code, said.substr(0, said.find('\n')));
  return Json::array();
}

double number_in(const Json &row, const char *key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_number() ? at->get<double>() : nothing;
}

std::string word_in(const Json &row, const char *key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_string() ? at->get<std::string>() : "";
}

double mean_of(const Json &cases, const char *key) {
  double sum = 0;
  int count = 0;
  for (const Json &each : cases)
    if (const double value = number_in(each, key); std::isfinite(value)) sum += value, ++count;
  return count > 0 ? sum / count : nothing;
}

// ---- one headline each

constexpr const char *solved = "stencil-2d,stencil-3d,banded,power-law";

// Whole solves to the same tolerance, of the library's choice and of a textbook's loop on one CPU thread.
Figure pcg(const PublishedOptions &options) {
  Figure out{"Wang 2017", "generated PCG over one CPU thread, mean", "56.91 on one GPU"};
  const std::vector<std::string> matrices{"--generate", solved, "--n", std::to_string(options.rows)};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), matrices.begin(), matrices.end());
    return arguments;
  };
  const Json one = rows_of(with({"pcg", "--device", "cpu", "--threads", "1"}), options, out.why);
  if (!out.why.empty()) return out;
  std::vector<std::string> here{"pcg", "--device", options.context.device};
  if (!on_gpu(options) && options.context.threads > 0)
    here.insert(here.end(), {"--threads", std::to_string(options.context.threads)});
  const Json ours = rows_of(with(here), options, out.why);
  for (const Json &row : ours) {
    if (word_in(row, "kernel") != "choice") continue;
    for (const Json &base : one) {
      if (word_in(base, "case") != word_in(row, "case") || word_in(base, "peer") != "textbook") continue;
      const double textbook_s = number_in(base, "peer_seconds"), seconds = number_in(row, "seconds");
      out.cases.push_back({{"case", row["case"]},
                           {"textbook_seconds", textbook_s},
                           {"seconds", seconds},
                           {"ratio", textbook_s / seconds}});
      break;
    }
  }
  out.ours = mean_of(out.cases, "ratio");
  out.conditions = fmt::format(
      "solves to 1e-8 of {} generated matrices of about {} rows, by choice, over Jacobi-preconditioned "
      "loops compiled for one thread; set-up apart",
      out.cases.size(), count_text(options.rows));
  if (!on_gpu(options)) out.why = "the ratio is of CPU threads: the headline is of a GPU (--device cuda)";
  return out;
}

Figure two_gpus(const PublishedOptions &) {
  return {"Wang 2017", "the same on two GPUs, over one GPU",
          "1.83",      nothing,
          "",          "this suite has one device; gpu_world_tables measures worlds (docs/measurements/two_gpus.md)"};
}

Figure models(const PublishedOptions &) {
  return {"Wang 2017",
          "predictions of PCG within",
          "5 %",
          nothing,
          "",
          "sextant verify-model has the errors of every kernel, gpu_regret the hit rates of trees and selection "
          "(docs/measurements/models.md): both take minutes and a calibrated profile"};
}

// The five variants are kernels; time of each on the same vector.
Figure reductions(const PublishedOptions &options) {
  Figure out{"Zuo 2009", "sum of 8M f32: the last of five steps over the first", "34"};
  if (!on_gpu(options)) return out.why = "the five steps are kernels of a GPU (--device cuda)", out;
  const Json rows = rows_of({"reduction", "--device", options.context.device, "--op", "sum", "--type", "f32", "--n",
                             std::to_string(options.length)},
                            options, out.why);
  double first = nothing, last = nothing, best = nothing;
  for (const Json &row : rows) {
    const std::string kernel = word_in(row, "kernel");
    const double seconds = number_in(row, "seconds");
    if (kernel == "reduction.interleaved.cuda") first = seconds;
    if (kernel == "reduction.overload.cuda") last = seconds;
    if (!(best <= seconds)) best = seconds;
    out.cases.push_back({{"kernel", kernel}, {"seconds", seconds}});
  }
  out.ours = first / last;
  out.conditions = fmt::format("{} values; the fastest kernel is {:.2f} times as fast as the last step",
                               count_text(options.length), last / best);
  return out;
}

Figure cholesky(const PublishedOptions &) {
  return {"Zou, Dou, Guo",
          "sparse Cholesky on a GPU over a multi-core CPU",
          "2.69 to 3.88",
          nothing,
          "",
          "HSL_MA87, the other side, is not free to take; gpu_cholesky_tables compares with this library on the CPU "
          "(docs/measurements/cholesky_gpu.md)"};
}

Figure hermitian(const PublishedOptions &options) {
  Figure out{"Zhang, Liao", "1000 Hermitian systems of 350, 700, 1700 over one CPU thread", "18.55 to 26.35"};
  const Json rows = rows_of({"hermitian", "--device", options.context.device, "--n", options.orders, "--phase",
                             "factor-solve", "--cpu-thread", "--systems", std::to_string(options.systems)},
                            options, out.why);
  for (const Json &row : rows)
    if (word_in(row, "kernel") == "choice")
      out.cases.push_back({{"n", number_in(row, "n")},
                           {"systems", number_in(row, "systems")},
                           {"seconds", number_in(row, "seconds")},
                           {"ratio", number_in(row, "cpu_thread_ratio")}});
  out.ours = mean_of(out.cases, "ratio");
  out.conditions = fmt::format(
      "{} systems, c128; the CPU thread is LAPACK on some of them, scaled, where the source had a "
      "loop of its own: the ratio is of a better baseline",
      options.systems);
  if (!on_gpu(options) && out.why.empty())
    out.why = "the ratio is of CPU threads: the headline is of a GPU (--device cuda)";
  return out;
}

Figure launches(const PublishedOptions &) {
  return {"Yang 2012",
          "block sizes by the published rule",
          "programs unchanged, faster",
          nothing,
          "",
          "sextant retune runs other programs by the rule; what it changes and gains is in "
          "docs/measurements/gpu_retune.md"};
}

// ---- what is told

std::string ratio_text(double ratio) { return std::isfinite(ratio) ? fmt::format("{:.2f}", ratio) : "-"; }

void print_figures(const std::vector<Figure> &figures, const std::string &device) {
  print("device     {}\n\n", device);
  Table table({{"source"}, {"headline"}, {"published", true}, {"here", true}, {"how, or why not"}});
  for (const Figure &each : figures) {
    const std::string how =
        each.conditions.empty() || each.why.empty() ? each.conditions + each.why : each.conditions + "; " + each.why;
    table.add({each.source, each.what, each.published, ratio_text(each.ours), how});
  }
  print_text(table.text());
}

Json json_of(const Figure &figure) {
  return {{"source", figure.source},
          {"headline", figure.what},
          {"published", figure.published},
          {"ours", std::isfinite(figure.ours) ? Json(figure.ours) : Json()},
          {"conditions", figure.conditions},
          {"why", figure.why},
          {"cases", figure.cases}};
}

int bench_published(const PublishedOptions &options) {
  std::string device;
  {
    const Context context = open_context(options.context);
    device = described(context.get());
  }
  std::vector<Figure> figures;
  for (Figure (*measure_one)(const PublishedOptions &) :
       {pcg, two_gpus, models, reductions, cholesky, hermitian, launches})
    figures.push_back(measure_one(options));
  if (!options.json) {
    print_figures(figures, device);
    return exit_done;
  }
  Json out = {{"device", device}, {"figures", Json::array()}};
  for (const Figure &each : figures) out["figures"].push_back(json_of(each));
  print_json(out);
  return exit_done;
}

constexpr const char *footer =
    R"(Each figure is a ratio of two times measured here, by another suite in a process of its own; what cannot be compared
honestly says why. The sources are listed in docs/measurements/published.md.)";

}  // namespace

void add_bench_published(CLI::App &parent, Action &action) {
  auto options = std::make_shared<PublishedOptions>();
  CLI::App *app =
      parent.add_subcommand("published", "The headlines of published work beside the same comparisons here");
  app->add_option("--n", options->rows, "Rows of the generated matrices")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{64}, std::int64_t{1} << 28));
  app->add_option("--systems", options->systems, "Hermitian systems in a set; published are 1000")
      ->capture_default_str()
      ->check(whole_number_from<std::int64_t>(1));
  app->add_option("--orders", options->orders, "Their orders")->capture_default_str();
  app->add_option("--repeat", options->repeat, "Samples of each kernel")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}));
  app->add_flag("--json", options->json, "The figures as JSON");
  add_context_options(*app, options->context);
  app->footer(footer);
  app->callback([options, &action] {
    action = [options] {
      if (options->context.device == "auto") options->context.device = "cpu";
      return bench_published(*options);
    };
  });
}

}  // namespace tool
