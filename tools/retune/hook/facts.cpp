// SPDX-License-Identifier: BSD-3-Clause
// What is found out of a kernel at its first launch: the driver's facts, and whether its shape may be changed.
#include "hook/entries.hpp"
#include "hook/registry.hpp"
#include "hook/settings.hpp"

namespace sextant::retune {
namespace {

using driver::Handle;

std::shared_ptr<const Device> read_device(const driver::Calls &calls, int ordinal) {
  auto device = std::make_shared<Device>();
  device->ordinal = ordinal;
  char name[256] = "";
  if (calls.device_name) calls.device_name(name, sizeof name - 1, ordinal);
  device->name = name;
  const auto number = [&](driver::DeviceAttribute attribute) {
    int value = 0;
    if (calls.device_attribute(&value, attribute, ordinal) != driver::success) value = 0;
    return std::int64_t{value};
  };
  device->limits = {number(driver::device_multiprocessors),      number(driver::device_max_threads_per_unit),
                    number(driver::device_max_blocks_per_unit),  number(driver::device_registers_per_unit),
                    number(driver::device_shared_per_unit),      number(driver::device_max_threads_per_block),
                    number(driver::device_max_shared_per_block), number(driver::device_warp_size)};
  return device;
}

// Of a library's kernel the attributes are those of its function in the current context.
bool read_facts(const driver::Calls &calls, Handle handle, bool kernel, Facts &facts, int &compiled_from) {
  if (kernel && (!calls.kernel_function || calls.kernel_function(&handle, handle) != driver::success)) return false;
  const auto read = [&](int &value, driver::FunctionAttribute attribute) {
    return calls.function_attribute(&value, attribute, handle) == driver::success;
  };
  return read(facts.most_threads, driver::max_threads_per_block) && read(facts.registers, driver::num_regs) &&
         read(facts.static_shared, driver::shared_size_bytes) && read(compiled_from, driver::ptx_version);
}

Proofs &proofs_of(LoadedModule &module, std::size_t which) {
  module.proofs.resize(module.image.ptx.size());
  std::unique_ptr<Proofs> &proofs = module.proofs[which];
  if (!proofs) {
    auto made = std::make_unique<Proofs>();
    if (image::unpack(module.image.ptx[which], made->text, made->problem)) {
      made->module = ptx::read_module(made->text);
      made->prover = std::make_unique<ptx::Prover>(made->module);
    }
    proofs = std::move(made);
  }
  return *proofs;
}

}  // namespace

ptx::Verdict verdict_on(LoadedModule &module, const std::string &kernel, int compiled_from) {
  const image::Image &image = module.image;
  const auto refused = [](std::string reason) { return ptx::Verdict{false, false, 0, std::move(reason)}; };
  if (!image.problem.empty()) return refused(image.problem);
  if (image.ptx.empty()) return refused("its module has machine code alone and no PTX");
  ptx::Verdict verdict = refused("its machine code was compiled from PTX for " + std::to_string(compiled_from) +
                                 ", which its module does not hold");
  bool seen = false;
  // Where a module has several texts for one architecture, each that has the kernel must allow it.
  for (std::size_t i = 0; i < image.ptx.size(); ++i) {
    if (image.ptx[i].target != 0 && image.ptx[i].target != compiled_from) continue;
    const Proofs &proofs = proofs_of(module, i);
    if (!proofs.prover) return refused(proofs.problem);
    if (proofs.module.refusal) return {false, false, proofs.module.refusal.line, proofs.module.refusal.reason};
    if (proofs.module.target != compiled_from || !proofs.module.functions.count(kernel)) continue;
    const ptx::Verdict one = proofs.prover->prove(kernel);
    if (!seen || verdict.proven) verdict = one;
    seen = true;
  }
  return verdict;
}

Kernel *Registry::make(const FunctionName &function, Handle handle) {
  const driver::Calls *calls = driver_calls();
  int ordinal = 0, compiled_from = 0;
  Facts facts;
  if (!calls || !calls->function_attribute || !calls->context_device || !calls->device_attribute) return nullptr;
  if (calls->context_device(&ordinal) != driver::success) return nullptr;
  if (!read_facts(*calls, handle, function.kernel, facts, compiled_from)) return nullptr;
  std::shared_ptr<const Device> &device = devices_[ordinal];
  if (!device) device = read_device(*calls, ordinal);
  LoadedModule &module = *owners_.at(function.owner).module;
  const std::pair key(module.image.hash, function.name);
  for (auto [at, end] = by_name_.equal_range(key); at != end; ++at)
    if (at->second->facts == facts && at->second->device == device) return at->second;

  auto kernel = std::make_unique<Kernel>();
  kernel->name = function.name;
  kernel->module = module.image.hash;
  kernel->facts = facts;
  kernel->device = device;
  if (const Declaration *declared = settings().allow.find(function.name)) {
    kernel->status = Status::declared;
    kernel->reason = declared->reason;
  } else {
    ptx::Verdict verdict = verdict_on(module, function.name, compiled_from);
    if (verdict.proven && facts.static_shared > 0) verdict = {false, false, 0, "the driver says it has shared memory"};
    kernel->status = verdict.proven ? Status::proven : Status::refused;
    kernel->reason = verdict.reason;
    kernel->line = verdict.line;
    kernel->reorders = verdict.reorders;
  }
  kernel->left_alone = kernel->status == Status::refused;
  Kernel *made = kernel.get();
  kernels_.push_back(std::move(kernel));
  by_name_.emplace(key, made);
  return made;
}

std::uint32_t Kernel::count_of(const Shape &original, std::uint32_t chosen, double saved_s) {
  const int size_class = class_of(original.threads());
  for (std::uint32_t i = 0; i + 1 < most_counts; ++i) {
    ShapeCount &count = counts[i];
    if (count.original == 0) {
      count.chosen = chosen, count.size_class = size_class, count.saved_s = saved_s;
      count.original = original.block;
    }
    if (count.original == original.block && count.chosen == chosen && count.size_class == size_class) return i;
  }
  return most_counts - 1;
}

}  // namespace sextant::retune
