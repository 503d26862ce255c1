// SPDX-License-Identifier: BSD-3-Clause
// Suite dispatch: what a call through the C interface costs over the kernel it ends in. The same kernel is run on the
// same tiny operands twice: by the call, and directly through the function table of its plugin, opened a second time.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "bench.hpp"
#include "sextant/kinds/reduction.h"
#include "sextant/kinds/spmv.h"
#include "sextant/kinds/storage.h"
#include "sextant/kinds/vector.h"
#include "sextant/plugin.h"

namespace tool {
namespace {

// What a kernel alone may ask of a host while it is measured: memory, when it is prepared.
const sxt_host *bare_host() {
  static const sxt_host host = [] {
    sxt_host h{};
    h.struct_size = sizeof h;
    h.abi_major = SXT_PLUGIN_ABI_MAJOR;
    h.abi_minor = SXT_PLUGIN_ABI_MINOR;
    h.log = [](const sxt_host *, sxt_log_level, const char *, const char *) {};
    h.set_error = [](const sxt_host *, const sxt_exec *, const char *) {};
    h.alloc = [](const sxt_host *, const sxt_exec *, sxt_space, std::uint64_t bytes, std::uint64_t alignment) {
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    h.free = [](const sxt_host *, const sxt_exec *, sxt_space, void *memory) { std::free(memory); };
    h.copy = [](const sxt_host *, const sxt_exec *, void *to, const void *from, std::uint64_t bytes) {
      std::memmove(to, from, bytes);
      return sxt_status{SXT_OK};
    };
    h.synchronize = [](const sxt_host *, const sxt_exec *) { return sxt_status{SXT_OK}; };
    h.get_service = [](const sxt_host *, const char *) -> const void * { return nullptr; };
    return h;
  }();
  return &host;
}

// The table of a loaded kernel, by way of its plugin's file.
const sxt_kernel &table_of(const std::string &name) {
  std::string plugin;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    check(sxt_kernel_get(i, &info), nullptr);
    if (name == info.name) plugin = info.plugin;
  }
  for (std::int64_t i = 0; i < sxt_plugin_count(); ++i) {
    sxt_plugin_info info{};
    info.struct_size = sizeof info;
    check(sxt_plugin_get(i, &info), nullptr);
    if (plugin != info.name) continue;
    void *library = dlopen(info.path, RTLD_NOW | RTLD_LOCAL);
    const auto entry = library ? reinterpret_cast<sxt_plugin_entry_fn>(dlsym(library, "sxt_plugin_entry_0")) : nullptr;
    const sxt_plugin *description = nullptr;
    if (!entry || entry(bare_host(), &description) != SXT_OK) break;
    for (std::uint64_t k = 0; k < description->n_kernels; ++k)
      if (name == description->kernels[k]->name) return *description->kernels[k];
  }
  fail(kInternal, "kernel '{}' could not be opened a second time", name);
}

// A kernel of the CPU made ready by hand on one thread.
class Direct {
 public:
  Direct(const std::string &kernel, const sxt_query &query, const sxt_head *a) : kernel_(table_of(kernel)) {
    exec_.host = bare_host();
    exec_.threads = 1;
    sxt_candidate candidate{};
    candidate.launch[0] = 1;
    const sxt_problem problem{sizeof problem, &query, a, nullptr};
    require_ok(kernel_.prepare ? kernel_.prepare(&problem, &candidate, nullptr, &exec_, &state_) : SXT_OK, "prepare");
    require_ok(kernel_.open ? kernel_.open(state_, nullptr, &exec_, &session_) : SXT_OK, "open");
    exec_.scratch = scratch_;
    exec_.scratch_bytes = sizeof scratch_;
  }
  ~Direct() {
    if (session_ && kernel_.close) kernel_.close(session_);
    if (state_ && kernel_.release) kernel_.release(state_);
  }
  Direct(const Direct &) = delete;
  Direct &operator=(const Direct &) = delete;

  void run(sxt_head *args) const { require_ok(kernel_.run(state_, session_, args, &exec_), "run"); }

 private:
  void require_ok(sxt_status status, const char *step) const {
    if (status != SXT_OK)
      fail(kInternal, "kernel '{}' failed to {} alone: {}", kernel_.name, step, sxt_status_name(status));
  }
  const sxt_kernel &kernel_;
  sxt_exec exec_{};
  void *state_ = nullptr, *session_ = nullptr;
  alignas(256) char scratch_[4096] = {};
};

template <class Q>
Q query_of(const char *kind, std::int32_t operation) {
  Q query{};
  query.q.h = {sizeof query, kind};
  query.q.expected_runs = 1000;
  query.q.value_type = SXT_F64;
  query.n = 1;
  query.operation = operation;
  return query;
}

Selection select(sxt_context *context, const sxt_query &query, sxt_matrix *matrix = nullptr) {
  sxt_selection *selection = nullptr;
  check(sxt_kernel_select(context, &query, matrix, &selection), context);
  return Selection(selection);
}

Vector wrap(sxt_context *context, double *values) {
  sxt_vector *vector = nullptr;
  check(sxt_vector_wrap(context, 1, SXT_F64, SXT_SPACE_HOST, values, &vector), context);
  return Vector(vector);
}

// One path: the kernel alone, the path, and the difference in nanoseconds.
void compare(BenchSession &session, const std::string &name, const std::string &kernel, std::function<void()> direct,
             std::function<void()> call) {
  session.report.show(name, kernel);
  std::vector<Contender> contenders(2);
  contenders[0].name = "table";
  contenders[0].peer = true;
  contenders[0].run = std::move(direct);
  contenders[1].name = kernel;
  contenders[1].run = std::move(call);
  measure(contenders, session.options.repeat);
  const double overhead_ns = (contenders[1].seconds - contenders[0].seconds) * 1e9;
  session.report.add(name, contenders, 0, {{"n", 1}, {"overhead_ns", overhead_ns}});
  if (!session.options.json) message(fmt::format("{}: {:.0f} ns over {}", name, overhead_ns, kernel));
}

void bench_dot(BenchSession &session) {
  sxt_context *context = session.context.get();
  double x[] = {0.5}, y[] = {0.25}, result = 0;
  const auto query = query_of<sxt_reduction_query>(SXT_KIND_REDUCTION, SXT_REDUCTION_DOT);
  sxt_reduction_args args{};
  args.h = {sizeof args, SXT_KIND_REDUCTION};
  args.n = 1, args.operation = SXT_REDUCTION_DOT, args.x = x, args.y = y, args.result = &result;
  const Selection selection = select(context, query.q);
  const std::string kernel = sxt_selection_kernel(selection.get());
  const Direct direct(kernel, query.q, nullptr);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  const auto alone = [&] { direct.run(&args.h); };
  compare(session, "sxt_dot", kernel, alone, [&] { check(sxt_dot(vx.get(), vy.get(), &result), context); });
  compare(session, "sxt_kernel_run dot", kernel, alone,
          [&] { check(sxt_kernel_run(selection.get(), &args.h), context); });
}

void bench_axpy(BenchSession &session) {
  sxt_context *context = session.context.get();
  double x[] = {0.5}, y[] = {0.25};
  const double alpha = 1e-9;
  const auto query = query_of<sxt_vector_query>(SXT_KIND_VECTOR, SXT_VECTOR_AXPY);
  sxt_vector_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR};
  args.n = 1, args.operation = SXT_VECTOR_AXPY, args.x = x, args.y = y, args.alpha.value = &alpha;
  const std::string kernel = sxt_selection_kernel(select(context, query.q).get());
  const Direct direct(kernel, query.q, nullptr);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  compare(
      session, "sxt_axpy", kernel, [&] { direct.run(&args.h); },
      [&] { check(sxt_axpy(&alpha, vx.get(), vy.get()), context); });
}

void bench_spmv_call(BenchSession &session) {
  sxt_context *context = session.context.get();
  const std::int32_t row_ptr[] = {0, 1}, col[] = {0};
  const double value[] = {2}, one = 1, zero = 0;
  double x[] = {0.5}, y[] = {0};
  sxt_matrix *made = nullptr;
  check(sxt_matrix_from_csr(context, 1, 1, row_ptr, col, value, nullptr, &made), context);
  const Matrix matrix(made);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  // The kernel that reads plain CSR row by row stands for all: what is measured is the way to it.
  std::string kernel;
  for (const std::string &name : kernels_of(SXT_KIND_SPMV))
    if (name.starts_with("spmv.csr.") && name.find("rows") != std::string::npos) kernel = name;
  if (kernel.empty()) return session.report.skip("sxt_spmv", "spmv.csr", "no kernel reads CSR row by row");
  check(sxt_context_force(context, SXT_KIND_SPMV, kernel.c_str()), context);
  sxt_spmv_query query{};
  query.m.q = {{sizeof query, SXT_KIND_SPMV}, 100, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = query.m.nnz = 1;
  query.m.matrix_type = SXT_F64;
  query.m.storage = SXT_KIND_STORAGE_CSR;
  query.op = SXT_NO_TRANSPOSE;
  query.n_rhs = 1;
  sxt_csr csr{};
  csr.s.h = {sizeof csr, SXT_KIND_STORAGE_CSR};
  csr.s.value_type = SXT_F64;
  csr.s.index_type = csr.s.offset_type = SXT_I32;
  csr.s.rows = csr.s.cols = csr.s.nnz = 1;
  csr.row_ptr = row_ptr, csr.col = col, csr.values = value;
  const Direct direct(kernel, query.m.q, &csr.s.h);
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.op = SXT_NO_TRANSPOSE, args.n_rhs = 1, args.ldx = args.ldy = 1;
  args.alpha.value = &one, args.beta.value = &zero, args.x = x, args.y = y;
  compare(
      session, "sxt_spmv", kernel, [&] { direct.run(&args.h); },
      [&] { check(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vx.get(), nullptr, vy.get()), context); });
  check(sxt_context_force(context, SXT_KIND_SPMV, nullptr), context);
}

}  // namespace

int bench_dispatch(const BenchOptions &given) {
  BenchOptions options = given;
  options.context.threads = 1;  // a team's fork and join would hide what is measured
  BenchSession session(options, "dispatch");
  bench_dot(session);
  bench_axpy(session);
  bench_spmv_call(session);
  return session.finish();
}

}  // namespace tool
