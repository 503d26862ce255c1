// SPDX-License-Identifier: BSD-3-Clause
// Cases, and what a run is lent while the suite watches.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/conformance/bench.hpp"
#include "core/device/host.hpp"

namespace sextant::conformance {
namespace {

constexpr std::uint64_t guard_bytes = 256;  // on both sides of the scratch; keeps its alignment
constexpr int guard_byte = 0xA5;
constexpr int scratch_byte = 0xFF;  // NaN in every floating-point type: no kernel may count on zeros

// Writes count bytes of `value` at `to`, which lies in device space.
void fill(const sxt_exec &exec, char *to, int value, std::uint64_t count) {
  const std::vector<char> bytes(count, static_cast<char>(value));
  require(count == 0 || exec.host->copy(exec.host, &exec, to, bytes.data(), count) == SXT_OK, SXT_E_DEVICE,
          "could not fill ", count, " bytes of device memory");
  exec.host->synchronize(exec.host, &exec);  // `bytes` must outlive the copy
}

bool intact(const sxt_exec &exec, const char *at) {
  std::vector<char> bytes(guard_bytes);
  if (exec.host->copy(exec.host, &exec, bytes.data(), at, guard_bytes) != SXT_OK) return false;
  exec.host->synchronize(exec.host, &exec);
  return bytes == std::vector<char>(guard_bytes, static_cast<char>(guard_byte));
}

}  // namespace

Case::Case(const Kind &kind, std::uint64_t seed, std::uint64_t i, const Query *like) : kind_(kind) {
  case_.struct_size = sizeof case_;
  const sxt_status status = like ? kind.make_case_like(&host(), seed, i, like->get(), &case_)
                                 : kind.table.make_case(&host(), seed, i, &case_);
  if (like && status == SXT_NOT_APPLICABLE) fail(status, "there are no more cases like the query");
  require(status == SXT_OK, SXT_E_PLUGIN, "kind '", kind.table.id, "' could not make its case ", i, ": ",
          status_sentence(status));
  if (case_.query && case_.args) return;
  kind.table.free_case(&case_);
  fail(SXT_E_PLUGIN, "kind '", kind.table.id, "' made case ", i, " without ", case_.query ? "args" : "a query");
}

Case::~Case() { kind_.table.free_case(&case_); }

void Case::move(const sxt_exec &exec, bool to_device) {
  const Call &call = *static_cast<const Call *>(exec.call);
  if (call.device->on_host()) return;
  require(kind_.table.move_case != nullptr, SXT_NOT_APPLICABLE, "the cases of kind '", kind_.table.id,
          "' run on host memory only");
  call.check(kind_.table.move_case(&case_, &exec, to_device ? 1 : 0), kind_.table.id, "move a case");
}

double Case::distance(const Case &want, std::string &sentence) const {
  char said[512] = "";
  sxt_message message{said, sizeof said};
  double distance = std::numeric_limits<double>::quiet_NaN();
  const sxt_status status = kind_.table.compare(&case_, &want.case_, &distance, &message);
  sentence = said;
  if (status == SXT_OK) return distance;
  if (sentence.empty()) sentence = text("compare failed: ", status_sentence(status));
  return std::numeric_limits<double>::quiet_NaN();
}

Lending::Lending(Device &device, std::uint64_t scratch_bytes, int threads, std::uint32_t flags)
    : device_(device), call_(device), exec_(make_exec(call_)), scratch_(device, scratch_bytes + 2 * guard_bytes) {
  exec_.threads = device.on_host() ? threads : 1;
  exec_.flags = flags;
  exec_.scratch = scratch_.as<char>() + guard_bytes;
  exec_.scratch_bytes = scratch_bytes;
  fill(exec_, scratch_.as<char>(), guard_byte, guard_bytes);
  fill(exec_, scratch_.as<char>() + guard_bytes, scratch_byte, scratch_bytes);
  fill(exec_, scratch_.as<char>() + guard_bytes + scratch_bytes, guard_byte, guard_bytes);
  if (device.on_host()) return;
  status_ = DeviceBuffer(device, sizeof(std::int32_t));
  fill(exec_, status_.as<char>(), 0, sizeof(std::int32_t));
  exec_.device_status = status_.as<std::int32_t>();
  call_.check(device.ops().stream_create(device.handle(), &exec_.stream), device.machine().device, "create a stream");
}

Lending::~Lending() {
  if (exec_.stream && device_.ops().stream_destroy) device_.ops().stream_destroy(device_.handle(), exec_.stream);
}

void Lending::run(const sxt_bound &bound, const sxt_head *args) {
  const std::uint64_t before = call_.allocations;
  const sxt_status status = bound.run(bound.state, bound.session, args, &exec_);
  run_allocations_ += call_.allocations - before;
  call_.check(status, bound.kernel, "run");
}

std::string Lending::violations() {
  const sxt_status waited = exec_.host->synchronize(exec_.host, &exec_);
  if (waited != SXT_OK) return text("its work failed on the device: ", status_sentence(waited));
  if (run_allocations_) return text("run allocated memory ", run_allocations_, " time(s)");
  const char *first = static_cast<const char *>(exec_.scratch);
  if (!intact(exec_, first - guard_bytes)) return "it wrote before the beginning of its scratch";
  if (!intact(exec_, first + exec_.scratch_bytes))
    return text("it wrote beyond the ", exec_.scratch_bytes, " bytes of scratch its candidate asked for");
  std::int32_t word = 0;
  if (exec_.device_status && (exec_.host->copy(exec_.host, &exec_, &word, exec_.device_status, sizeof word) != SXT_OK ||
                              exec_.host->synchronize(exec_.host, &exec_) != SXT_OK || word != 0))
    return text("it left ", word, " in the device's status word");
  return "";
}

}  // namespace sextant::conformance
