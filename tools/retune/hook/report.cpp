// SPDX-License-Identifier: BSD-3-Clause
#include "hook/report.hpp"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hook/entries.hpp"
#include "hook/registry.hpp"
#include "hook/say.hpp"
#include "hook/settings.hpp"
#include "hook/timing.hpp"

namespace sextant::retune {
namespace {

using Json = nlohmann::ordered_json;

// A signal's handler may end the program while its thread has the lock.
constexpr auto most_wait = std::chrono::milliseconds(100);

const char *status_name(const Kernel &kernel) {
  if (kernel.driver_error != 0 || kernel.status == Status::refused) return "refused";
  return kernel.status == Status::proven ? "proven" : "declared";
}

Json kernel_json(const Kernel &kernel) {
  Json shapes = Json::array();
  double won = 0;
  bool measured = false;
  for (const ShapeCount &count : kernel.counts) {
    const std::uint64_t launches = count.launches.load();
    if (launches == 0) continue;
    shapes.push_back(
        {{"original", count.original}, {"chosen", count.chosen}, {"class", count.size_class}, {"launches", launches}});
    won += count.saved_s * static_cast<double>(launches);
    measured = measured || count.saved_s != 0;
  }
  std::string reason = kernel.reason;
  if (kernel.driver_error != 0)
    reason = "the driver refused a changed shape (error " + std::to_string(kernel.driver_error.load()) + ")";
  return {{"name", kernel.name},
          {"device", kernel.device->name},
          {"status", status_name(kernel)},
          {"reason", reason.empty() ? Json(nullptr) : Json(reason)},
          {"line", kernel.line && kernel.driver_error == 0 ? Json(kernel.line) : Json(nullptr)},
          {"order_free_sums", kernel.reorders},
          {"registers", kernel.facts.registers},
          {"launches", kernel.launches.load()},
          {"changed", kernel.changed.load()},
          {"other_launches", kernel.other.load()},
          {"shapes", std::move(shapes)},
          {"seconds_won", measured ? Json(won) : Json(nullptr)}};
}

std::string program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

__attribute__((constructor)) void begin() {
  remember_stderr();
  start_clock();
}

// The device is not asked for anything here: it may be gone.
__attribute__((destructor)) void end() {
  try {
    if (!registry().is_ours() || !registry().has_loaded()) return;
    const auto one = registry().lock_for(most_wait);
    if (!one) return;
    if (settings().policy == Policy::measured && !settings().dry_run) cache().save();
    if (settings().report.empty()) return;
    // Read at once by the command, or lost with the machine: not worth the time that a disk takes to hold it.
    std::ofstream file(settings().report + "/" + std::to_string(getpid()) + ".json");
    if (!(file << report_text())) say(settings().report + ": the report could not be written");
  } catch (const std::exception &error) {
    say(error.what());
  } catch (const NotOurs &) {
  }
}

}  // namespace

std::string report_text() {
  Json kernels = Json::array();
  for (const auto &kernel : registry().kernels()) kernels.push_back(kernel_json(*kernel));
  Json look_ups = Json::object();
  for (const auto &[name, count] : handed_out()) look_ups[name] = count;
  const Json report = {{"program", program()},
                       {"process", getpid()},
                       {"policy", name_of(settings().policy)},
                       {"dry_run", settings().dry_run},
                       {"look_ups", std::move(look_ups)},
                       {"unknown_launches", registry().unknown_launches.load()},
                       {"trial_seconds", trial_seconds()},
                       {"kernels", std::move(kernels)}};
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sextant::retune
