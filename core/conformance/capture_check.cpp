// SPDX-License-Identifier: BSD-3-Clause
// Capture, change the inputs, replay, compare with a plain run, bit for bit.
#include "core/conformance/capture_check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/conformance/bench.hpp"

namespace sextant::conformance {
namespace {

using Contents = std::vector<char>;
using Arrays = std::vector<Contents>;  // one a span

class Proof {
 public:
  Proof(const sxt_bound &bound, Device &device, const sxt_head *args, const std::vector<CaptureInput> &inputs,
        const std::vector<CaptureOutput> &outputs)
      : bound_(bound),
        device_(device),
        args_(args),
        inputs_(inputs),
        outputs_(outputs),
        lending_(device, bound.scratch_bytes, 1, 0) {
    for (const CaptureInput &input : inputs) given_.push_back(read(input.data, input.bytes));
    for (std::size_t i = 0; i < inputs.size(); ++i) changed_.push_back(change(inputs[i], given_[i]));
    blank_ = outputs_now();
  }
  ~Proof() {
    if (graph_) device_.ops().graph_destroy(device_.handle(), graph_);
    try {
      reset(given_);
    } catch (...) {  // the device has failed; the proof has said so
    }
  }
  void run();

 private:
  const sxt_exec &exec() const { return lending_.exec(); }
  Contents read(const void *from, std::uint64_t bytes) const;
  void write(void *to, const Contents &bytes) const;
  static Contents change(const CaptureInput &input, const Contents &given);
  Arrays outputs_now() const;
  void reset(const Arrays &inputs) const;
  Arrays eager(const Arrays &inputs);
  void capture();
  void replay(const Arrays &inputs, const Arrays &want, const char *which);
  void check(sxt_status status, const char *step);
  void expect_kept(const char *while_doing);

  const sxt_bound &bound_;
  Device &device_;
  const sxt_head *args_;
  const std::vector<CaptureInput> &inputs_;
  const std::vector<CaptureOutput> &outputs_;
  mutable Lending lending_;
  Arrays given_, changed_, blank_;
  void *graph_ = nullptr;
};

Contents Proof::read(const void *from, std::uint64_t bytes) const {
  Contents copy(bytes);
  lending_.call().check(exec().host->copy(exec().host, &exec(), copy.data(), from, bytes), bound_.kernel, "be read");
  lending_.call().check(exec().host->synchronize(exec().host, &exec()), bound_.kernel, "be waited for");
  return copy;
}

void Proof::write(void *to, const Contents &bytes) const {
  lending_.call().check(exec().host->copy(exec().host, &exec(), to, bytes.data(), bytes.size()), bound_.kernel,
                        "be given inputs");
  lending_.call().check(exec().host->synchronize(exec().host, &exec()), bound_.kernel, "be waited for");
}

Contents Proof::change(const CaptureInput &input, const Contents &given) {
  Contents changed = given;
  if (input.changed)
    std::memcpy(changed.data(), input.changed, changed.size());
  else if (input.element_bytes < changed.size())
    std::rotate(changed.begin(), changed.begin() + static_cast<std::ptrdiff_t>(input.element_bytes), changed.end());
  return changed;
}

Arrays Proof::outputs_now() const {
  Arrays all;
  for (const CaptureOutput &output : outputs_) all.push_back(read(output.data, output.bytes));
  return all;
}

// Outputs first: an array may be both.
void Proof::reset(const Arrays &inputs) const {
  for (std::size_t i = 0; i < blank_.size(); ++i) write(outputs_[i].data, blank_[i]);
  for (std::size_t i = 0; i < inputs.size(); ++i) write(inputs_[i].data, inputs[i]);
}

void Proof::check(sxt_status status, const char *step) {
  if (status == SXT_OK) return;
  const std::string &said = lending_.call().sentence;
  fail(SXT_E_PLUGIN, "kernel '", bound_.kernel, "' is not capturable: it failed to ", step, ": ",
       said.empty() ? status_sentence(status) : said.c_str());
}

void Proof::expect_kept(const char *while_doing) {
  const std::string violation = lending_.violations();
  require(violation.empty(), SXT_E_PLUGIN, "kernel '", bound_.kernel, "' is not capturable: ", while_doing, ", ",
          violation);
}

Arrays Proof::eager(const Arrays &inputs) {
  reset(inputs);
  lending_.run(bound_, args_);
  expect_kept("run eagerly");
  return outputs_now();
}

void Proof::capture() {
  const sxt_device_ops &ops = device_.ops();
  reset(given_);
  sxt_exec capturing = exec();
  capturing.flags |= SXT_EXEC_CAPTURING;
  check(ops.capture_begin(device_.handle(), capturing.stream), "begin a capture");
  const sxt_status ran = bound_.run(bound_.state, bound_.session, args_, &capturing);
  // The capture is ended in any case, or the stream would stay in it.
  const sxt_status ended = ops.capture_end(device_.handle(), capturing.stream, &graph_);
  check(ran, "run while captured");
  check(ended, "end the capture");
  expect_kept("captured");
  require(outputs_now() == blank_, SXT_E_PLUGIN, "kernel '", bound_.kernel,
          "' is not capturable: while captured it wrote its outputs, so it works outside the exec's stream");
}

void Proof::replay(const Arrays &inputs, const Arrays &want, const char *which) {
  reset(inputs);
  check(device_.ops().graph_launch(device_.handle(), exec().stream, graph_), "be replayed");
  expect_kept("replayed");
  const Arrays got = outputs_now();
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto [at, wanted] = std::mismatch(got[i].begin(), got[i].end(), want[i].begin());
    if (at != got[i].end())
      fail(SXT_E_PLUGIN, "kernel '", bound_.kernel, "' is not capturable: replayed on ", which, " inputs, output ", i,
           " differs from a plain run's at byte ", at - got[i].begin());
  }
}

void Proof::run() {
  const Arrays with_given = eager(given_), with_changed = eager(changed_);
  require(with_given != with_changed, SXT_E_ARGUMENT, "the changed inputs of kernel '", bound_.kernel,
          "' give the same outputs, so that a replay would prove nothing");
  capture();
  replay(given_, with_given, "its");
  replay(changed_, with_changed, "changed");
  replay(changed_, with_changed, "changed (a second time)");
}

}  // namespace

void prove_capturable(const sxt_bound &bound, Device &device, const sxt_head *args,
                      const std::vector<CaptureInput> &inputs, const std::vector<CaptureOutput> &outputs) {
  require(device.captures(), SXT_E_NOT_SUPPORTED, "device '", device.machine().device, "' cannot capture");
  Proof(bound, device, args, inputs, outputs).run();
}

}  // namespace sextant::conformance
