// SPDX-License-Identifier: BSD-3-Clause
// What the suites have in common: the session, kernels as contenders, matrices.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "bench/bench.hpp"
#include "bench/triad.hpp"
#include "input/matrix_input.hpp"
#include "report/explanation.hpp"
#include "report/write_file.hpp"

namespace tool {

int threads_of(sxt_context *context) {
  const std::string text = described(context);
  const std::size_t end = text.find(" units"), start = text.rfind(' ', end - 1);
  if (end == std::string::npos || start == std::string::npos)
    fail(exit_internal, "the device does not say its threads");
  return std::max(1, std::atoi(text.c_str() + start + 1));
}

namespace {

BenchMachine describe_machine(const BenchOptions &options, sxt_context *context) {
  BenchMachine machine{processor_name(), threads_of(context), last_cache_bytes(), 0};
  machine.triad = options.triad * 1e9;
  if (machine.triad > 0) return machine;
  // Before any peer is there: the threads of some spin for a while.
  if (!options.peers.names.empty() || !options.markdown.empty()) machine.triad = triad_bandwidth(machine.threads);
  return machine;
}

BenchMatrix borrowed(sxt_context *context, Matrix handle, std::string name) {
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  check(sxt_matrix_get_info(handle.get(), &info), context);
  if (info.value_type != SXT_F64) {
    fail(exit_not_solved, "{}: bench takes real matrices; this one is {}", name, value_type_name(info.value_type));
  }
  BenchMatrix matrix{std::move(name), std::move(handle), {}};
  const void *row_ptr = nullptr, *col = nullptr, *values = nullptr;
  check(sxt_matrix_get_csr(matrix.handle.get(), &row_ptr, &col, &values), context);
  matrix.csr = {info.rows,       info.cols, info.nnz, info.offset_type,
                info.index_type, row_ptr,   col,      static_cast<const double *>(values)};
  return matrix;
}

std::string file_name(const std::string &path) { return std::filesystem::path(path).filename().string(); }

// The file's name, or its path where another file of this run has the same name.
std::string case_of(const std::string &path, const std::vector<std::string> &all) {
  const bool shared = std::any_of(all.begin(), all.end(),
                                  [&](const auto &each) { return each != path && file_name(each) == file_name(path); });
  return shared ? path : file_name(path);
}

BenchMatrix from_file(BenchSession &session, const std::string &path, bool square) {
  sxt_context *context = session.context.get();
  LoadedMatrix loaded = read_matrix(context, path);
  if (square && loaded.info.rows != loaded.info.cols) fail(exit_not_solved, "{}: the matrix is not square", path);
  return borrowed(context, std::move(loaded.handle), session.report.case_name(case_of(path, session.options.matrices)));
}

BenchMatrix from_generated(BenchSession &session, const HostCsr &a) {
  sxt_context *context = session.context.get();
  return borrowed(context, matrix_of(context, a), session.report.case_name(a.name));
}

// Bytes of the matrix that a product by the chosen kernel reads: its storage and state, as the library reports them.
// CSR arrays, which every matrix holds, and those that COO shares with them are not included.
double matrix_bytes(const Selection &selection, const sxt_matrix_info &a) {
  const double value = 8, index = a.index_type == SXT_I64 ? 8 : 4, offset = a.offset_type == SXT_I64 ? 8 : 4;
  const auto nnz = static_cast<double>(a.nnz);
  for (const Json &candidate : explain_json(selection.get()).value("candidates", Json::array())) {
    if (!candidate.value("chosen", false)) continue;
    const std::string format = short_format(text_of(candidate, "format"));
    if (format == "csr") return nnz * (value + index) + static_cast<double>(a.rows + 1) * offset;
    if (format == "coo") return nnz * (value + 2 * index);
    return number_of(candidate, "memory_bytes");
  }
  return 0;
}

// The part of the library's sentence about this kernel; the sentence lists every other one too.
std::string own_reason(const std::string &sentence, const std::string &kernel) {
  const std::size_t start = sentence.find("\n  " + kernel);
  if (start == std::string::npos) return sentence;
  return sentence.substr(start + 3, sentence.find('\n', start + 1) - start - 3);
}

double predicted_run(const Selection &selection) {
  double setup = 0, run = 0;
  check(sxt_selection_cost(selection.get(), &setup, &run), nullptr);
  return run;
}

}  // namespace

BenchSession::BenchSession(const BenchOptions &bench_options, const char *suite)
    : options(bench_options),
      context(open_context(options.context)),
      machine(describe_machine(options, context.get())),
      peers(open_peers(options.peers, machine.threads)),
      report(suite, machine),
      files(options.matrices.size()) {
  if (!options.markdown.empty()) check_writable(options.markdown);
}

int BenchSession::finish() const {
  if (options.json) {
    print_json({{"suite", report.suite()},
                {"repeat", options.repeat},
                {"processor", machine.processor},
                {"threads", machine.threads},
                {"triad_gb_per_s", machine.triad > 0 ? Json(machine.triad * 1e-9) : Json()},
                {"peers", peers.described()},
                {"missing_peers", peers.missing},
                {"rows", report.rows()},
                {"summary", report.summary()},
                {"left_out", files.left_out()},
                {"skipped", report.skipped()},
                {"failed", report.failed()}});
  } else {
    print_text(report.table());
    print_text("\n" + report.summary_table());
    if (machine.triad > 0) print("\ntriad {:.1f} GB/s on {} threads\n", machine.triad * 1e-9, machine.threads);
    for (const Json &peer : peers.described()) {
      print("{}: {}; {} threads\n", text_of(peer, "name"), text_of(peer, "version"), peer["threads"].get<int>());
    }
  }
  for (const Json &skipped : report.skipped()) {
    if (!options.verbose) break;
    message(fmt::format("{}: {} left out: {}", text_of(skipped, "case"), text_of(skipped, "kernel"),
                        text_of(skipped, "reason")));
  }
  if (!options.json && !options.verbose && !report.skipped().empty()) {
    message(fmt::format("{} combinations do not apply; --verbose says why", report.skipped().size()));
  }
  if (!options.markdown.empty()) write_text(options.markdown, report.markdown(options.command_line, peers.described()));
  return files.exit_code(report.all_good() ? exit_done : exit_not_solved);
}

sxt_spmv_query product_query() {
  sxt_spmv_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_SPMV};
  query.m.q.expected_runs = usual_runs;
  query.m.q.flags = SXT_QUERY_MATRIX;
  query.m.q.value_type = SXT_F64;
  query.op = SXT_NO_TRANSPOSE;
  query.n_rhs = 1;
  return query;
}

std::vector<std::string> kernels_of(const char *kind) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    if (std::string(info.kind) == kind && std::string(info.device) == "cpu") names.emplace_back(info.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Selection select_kernel(sxt_context *context, const std::string &kernel, const sxt_query &query, sxt_matrix *matrix,
                        std::string &reason) {
  const bool forced = kernel != own_choice;
  if (forced) check(sxt_context_force(context, query.h.kind, kernel.c_str()), context);
  sxt_selection *selection = nullptr;
  const sxt_status status = sxt_kernel_select(context, &query, matrix, &selection);
  reason = status == SXT_OK ? "" : own_reason(sxt_last_error(context), kernel);
  if (forced) check(sxt_context_force(context, query.h.kind, nullptr), context);
  // Not applying is an answer; running out of memory is not.
  if (status == SXT_E_MEMORY || status == SXT_E_DEVICE) throw ToolError(exit_device, reason, status);
  return Selection(status == SXT_OK ? selection : nullptr);
}

void add_kernels(BenchSession &session, const std::string &name, const sxt_query &query, sxt_matrix *matrix,
                 sxt_head *args, double operand_bytes, const std::function<double()> &error,
                 std::vector<Contender> &contenders) {
  sxt_context *context = session.context.get();
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  if (matrix) check(sxt_matrix_get_info(matrix, &info), context);
  // The choice comes first, while the matrix holds only its CSR: its set-up then includes every storage it needs.
  std::vector<std::string> kernels = kernels_of(query.h.kind);
  kernels.insert(kernels.begin(), own_choice);
  for (const std::string &kernel : kernels) {
    session.report.show(name, kernel);
    std::string reason;
    Selection selection;
    Contender contender;
    contender.setup_seconds = seconds_of([&] { selection = select_kernel(context, kernel, query, matrix, reason); });
    if (!selection) {
      // A single kernel may not apply; if the library finds none at all, that is a failure.
      kernel == own_choice ? session.report.fail(name, kernel, reason) : session.report.skip(name, kernel, reason);
      continue;
    }
    contender.name = kernel;
    contender.predicted_seconds = predicted_run(selection);
    if (matrix) contender.bytes = matrix_bytes(selection, info) + operand_bytes;
    const std::shared_ptr<sxt_selection> keep(selection.release(), sxt_selection_destroy);
    contender.run = [args, context, handle = keep.get()] { check(sxt_kernel_run(handle, args), context); };
    contender.error = error;
    contender.details = [handle = keep.get()] { return Json{{"chosen", sxt_selection_kernel(handle)}}; };
    contender.keep = keep;
    contenders.push_back(std::move(contender));
  }
}

void for_each_matrix(BenchSession &session, std::int64_t default_size, bool square,
                     const std::function<void(BenchMatrix &)> &visit) {
  const BenchOptions &options = session.options;
  for (const std::string &path : options.matrices)
    session.files.visit(path, [&] {
      BenchMatrix matrix = from_file(session, path, square);
      visit(matrix);
    });
  for (const Json &each : session.files.left_out())
    session.report.skip(text_of(each, "path"), "all", text_of(each, "reason"));
  session.files.require_some(!options.generate.empty());
  if (!options.matrices.empty() && options.generate.empty()) return;
  for (const std::int64_t size : options.sizes.empty() ? std::vector{default_size} : options.sizes) {
    for (const Generator make : generators(options.generate)) {
      BenchMatrix matrix = from_generated(session, make(size));
      visit(matrix);
    }
  }
}

bool peer_csr(BenchSession &session, const BenchMatrix &matrix, sxt_peer_csr &csr) {
  const textbook::Csr &a = matrix.csr;
  if (a.offset_type != SXT_I32 || a.index_type != SXT_I32) {
    for (const sxt_peer *peer : session.peers.ready)
      session.report.skip(matrix.name, peer->name, "the matrix needs 64-bit indices; peers are given 32-bit ones");
    return false;
  }
  csr = {static_cast<std::int32_t>(a.rows),        static_cast<std::int32_t>(a.cols),
         static_cast<std::int32_t>(a.nnz),         static_cast<const std::int32_t *>(a.row_ptr),
         static_cast<const std::int32_t *>(a.col), a.values};
  return true;
}

std::vector<double> operand(std::int64_t n, double phase) {
  std::vector<double> values(static_cast<std::size_t>(n));
  // Multiples of the golden ratio modulo 1 spread evenly.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double turn = static_cast<double>(i) * 0.6180339887498949 + phase;
    values[i] = 0.5 + (turn - std::floor(turn));
  }
  return values;
}

double relative_error(const std::vector<double> &got, const std::vector<double> &want) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(got[i])) return got[i];
    difference = std::max(difference, std::abs(got[i] - want[i]));
    size = std::max(size, std::abs(want[i]));
  }
  return size > 0 ? difference / size : difference;
}

}  // namespace tool
