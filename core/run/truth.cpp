// SPDX-License-Identifier: BSD-3-Clause
#include "core/run/truth.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/model/cost.hpp"
#include "sextant/plugin/kinds/residual.h"

namespace sextant {

namespace {

constexpr std::uint64_t most_timed = 64;

// Makes a kernel's candidate the choice where it is the cheapest so far; where it does not apply, adds the reason.
void take_if_cheaper(const registry::Kernel &kernel, const Query &query, const Context &context, Choice &choice,
                     std::string &reason) {
  const sxt_kernel &table = kernel.table;
  char why[256] = "";
  sxt_message message{why, sizeof why};
  if (table.min_level > context.machine().level ||
      (table.applicable && table.applicable(query.get(), nullptr, &context.machine(), &message) != SXT_OK)) {
    reason += text("\n  ", kernel.name(), ": ", why[0] ? why : "it does not apply here");
    return;
  }
  std::vector<sxt_candidate> list(most_timed);
  std::uint64_t count = 0;
  if (table.candidates(query.get(), nullptr, &context.machine(), nullptr, list.data(), most_timed, &count) != SXT_OK)
    count = 0;
  list.resize(std::min(count, most_timed));
  for (const sxt_candidate &each : list) {
    const Prediction run = predict(table, *query.get(), each, context.machine(), context.profile());
    if (choice.kernel && !(run.seconds < choice.run_s)) continue;
    choice.kernel = &kernel;
    choice.candidate = each;
    choice.run_s = run.seconds;
    choice.setup_s = run.setup_s;
    choice.rel_error = run.rel_error;
  }
}

// Why a kernel that was forced for the kind is not taken; "" where none was, or where it is the choice anyway.
std::string tell_of_force(const Context &context, Choice &choice) {
  const char *by = "";
  const std::string forced = context.forced(SXT_KIND_RESIDUAL, &by);
  if (forced.empty() || forced == choice.kernel->name()) return "";
  Considered line;
  line.kernel = forced;
  line.device = context.device_name();
  line.reason = text("forced ", by, ", and not taken: what calls a solve converged is the cheapest kernel of ",
                     SXT_KIND_RESIDUAL, " that came with the library, whatever is forced");
  choice.considered.push_back(line);
  const std::string sentence = text("kernel ", forced, " was ", line.reason);
  context.log()(SXT_LOG_WARNING, sentence);
  return sentence;
}

// What an explanation says of the choice.
Considered line_of(const Choice &choice) {
  Considered line;
  line.kernel = choice.kernel->name();
  line.device = choice.kernel->table.device;
  line.format = choice.storage;
  std::copy_n(choice.candidate.launch, 4, line.launch);
  line.setup_s = choice.setup_s;
  line.run_s = choice.run_s;
  line.rel_error = choice.rel_error;
  line.applicable = line.chosen = true;
  line.reason = choice.reason;
  line.memory_bytes = choice.candidate.state_bytes + choice.candidate.scratch_bytes;
  return line;
}

}  // namespace

ChoicePtr choose_truth(Matrix &matrix, double runs, const std::string &role, std::string &passed_over) {
  Context &context = matrix.context();
  sxt_residual_query asked{};
  asked.m = matrix.query_part(SXT_KIND_RESIDUAL, sizeof asked, runs);
  asked.m.q.flags |= SXT_QUERY_DETERMINISTIC;
  asked.n_rhs = 1;
  auto choice = std::make_shared<Choice>();
  choice->role = role;
  choice->query = Query(&asked.m.q);
  choice->query.matrix_part().storage = SXT_KIND_STORAGE_CSR;
  choice->storage = SXT_KIND_STORAGE_CSR;
  choice->trusted = true;
  choice->reason = "only the library's own kernels judge answers";
  std::string reason;
  for (const bool reference : {false, true})
    for (const registry::Kernel *kernel :
         registry::Registry::instance().own_kernels(SXT_KIND_RESIDUAL, context.device_name()))
      if (kernel->has(SXT_KERNEL_REFERENCE) == reference && !(reference && choice->kernel))
        take_if_cheaper(*kernel, choice->query, context, *choice, reason);
  require(
      choice->kernel != nullptr, SXT_E_NO_KERNEL, "no kernel of ", SXT_KIND_RESIDUAL,
      " that came with the library serves device ", context.device_name(),
      ", and only such a kernel may call a solve converged; is a plugin named residual-* missing beside the library?",
      reason);
  choice->considered.push_back(line_of(*choice));
  passed_over = tell_of_force(context, *choice);
  choice->total_s = choice->setup_s + choice->query.expected_runs() * choice->run_s;
  return choice;
}

}  // namespace sextant
