// SPDX-License-Identifier: BSD-3-Clause
// Suite dispatch on a GPU: the host's time for a call. Calls on a caller's stream only enqueue, so they are timed in
// batches that wait for the device outside the clock: the kernel by its plugin's function table, the same kernel as a
// selection, which looks nothing up, and the call by name, which looks the decision tree up. Then calls that wait.
#include <algorithm>
#include <cstdint>

#include "bench/device/device.hpp"
#include "report/explanation.hpp"
#include "report/kernel_table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"

namespace tool {
namespace {

constexpr std::int64_t length = 2;
constexpr int batch_calls = 200;  // fewer than a stream takes before it makes its caller wait
// The driver's name for each thread's own stream: a caller's stream that needs no call into the driver.
void *const thread_stream = reinterpret_cast<void *>(2);  // NOLINT(performance-no-int-to-ptr)

struct DispatchWay {
  std::string name, kernel;
  std::function<void()> call;
  std::vector<double> samples;
};

// Seconds of one call in a batch, for each way in turn.
void time_ways(sxt_context *context, std::vector<DispatchWay> &ways, int batch, int rounds) {
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      DispatchWay &way = ways[(turn + static_cast<std::size_t>(round + 1)) % ways.size()];
      const double seconds = seconds_of([&] {
        for (int i = 0; i < batch; ++i) way.call();
      });
      check(sxt_context_synchronize(context), context);
      if (round >= 0) way.samples.push_back(seconds / batch);  // the first round sets up and warms
    }
  }
}

template <class Q>
Q query_of(const char *kind, std::int32_t operation) {
  Q query{};
  query.q.h = {sizeof query, kind};
  query.q.expected_runs = usual_runs;
  query.q.value_type = SXT_F64;
  query.n = length;
  query.operation = operation;
  return query;
}

Selection select(sxt_context *context, const sxt_query &query) {
  sxt_selection *selection = nullptr;
  check(sxt_kernel_select(context, &query, nullptr, &selection), context);
  return Selection(selection);
}

// The configuration that a selection runs.
sxt_candidate candidate_of(const Selection &selection) {
  sxt_candidate candidate{};
  const Json explained = explain_json(selection.get());
  for (const Json &each : explained.value("candidates", Json::array())) {
    if (!each.value("chosen", false)) continue;
    for (std::size_t i = 0; i < 4; ++i) candidate.launch[i] = each["launch"][i].get<std::int64_t>();
  }
  return candidate;
}

Vector device_vector(sxt_context *context) {
  sxt_vector *vector = nullptr;
  check(sxt_vector_create(context, length, SXT_F64, &vector), context);
  Vector owner(vector);
  const double half = 0.5;
  check(sxt_fill(&half, vector), context);
  return owner;
}

class DispatchSuite {
 public:
  explicit DispatchSuite(const BenchOptions &options)
      : options_(options),
        context_(open_context(options.context)),
        x_(device_vector(context_.get())),
        y_(device_vector(context_.get())),
        result_(device_vector(context_.get())) {
    if (!options.markdown.empty()) check_writable(options.markdown);
    sheet_.title = fmt::format("host's time a call, n = {}, us (median)", length);
    sheet_.titles = {"call", "us", "over the one before, ns"};
    axpy_.h = {sizeof axpy_, SXT_KIND_VECTOR};
    axpy_.n = length, axpy_.operation = SXT_VECTOR_AXPY, axpy_.alpha.value = &tiny_;
    axpy_.x = sxt_vector_data(x_.get()), axpy_.y = sxt_vector_data(y_.get());
    dot_.h = {sizeof dot_, SXT_KIND_REDUCTION};
    dot_.n = length, dot_.operation = SXT_REDUCTION_DOT, dot_.result_on_device = 1;
    dot_.x = axpy_.x, dot_.y = axpy_.y, dot_.result = sxt_vector_data(result_.get());
  }

  int run() {
    check(sxt_context_set_stream(context_.get(), thread_stream), context_.get());
    enqueued();
    check(sxt_context_set_stream(context_.get(), nullptr), context_.get());
    waiting();
    show(options_, sheet_);
    return finish_device(options_, context_.get(), {sheet_}, rows_);
  }

 private:
  void enqueued() {
    sxt_context *context = context_.get();
    const auto vector_query = query_of<sxt_vector_query>(SXT_KIND_VECTOR, SXT_VECTOR_AXPY);
    const auto dot_query = query_of<sxt_reduction_query>(SXT_KIND_REDUCTION, SXT_REDUCTION_DOT);
    const Selection axpy = select(context, vector_query.q), dot = select(context, dot_query.q);
    axpy_kernel_ = sxt_selection_kernel(axpy.get());
    dot_kernel_ = sxt_selection_kernel(dot.get());
    const DirectKernel table(axpy_kernel_, vector_query.q, nullptr, candidate_of(axpy), thread_stream);
    std::vector<DispatchWay> ways = {
        {"axpy by the table, enqueued", axpy_kernel_, [&] { table.run(&axpy_.h); }, {}},
        {"sxt_kernel_run axpy, enqueued",
         axpy_kernel_,
         [&] { check(sxt_kernel_run(axpy.get(), &axpy_.h), context); },
         {}},
        {"sxt_axpy, enqueued", axpy_kernel_, [&] { check(sxt_axpy(&tiny_, x_.get(), y_.get()), context); }, {}}};
    add(ways, batch_calls);
    ways = {
        {"sxt_kernel_run dot, enqueued", dot_kernel_, [&] { check(sxt_kernel_run(dot.get(), &dot_.h), context); }, {}}};
    add(ways, batch_calls);
  }

  // Results for the host, and calls without a caller's stream: the device's work and both transfers count too.
  void waiting() {
    sxt_context *context = context_.get();
    double sum = 0;
    std::vector<DispatchWay> ways = {
        {"sxt_axpy, waits", axpy_kernel_, [&] { check(sxt_axpy(&tiny_, x_.get(), y_.get()), context); }, {}},
        {"sxt_dot, waits", dot_kernel_, [&] { check(sxt_dot(x_.get(), y_.get(), &sum), context); }, {}}};
    add(ways, batch_calls / 4);
  }

  void add(std::vector<DispatchWay> &ways, int batch) {
    time_ways(context_.get(), ways, batch, 4 * std::max(1, options_.repeat));
    double before = 0;
    std::string before_name;
    for (DispatchWay &way : ways) {
      const double seconds = median(way.samples);
      const Json over = before > 0 ? Json((seconds - before) * 1e9) : Json();
      sheet_.lines.push_back({way.name, fmt::format("{:.3f}", seconds * 1e6),
                              over.is_null() ? "-" : fmt::format("{:.0f}", over.get<double>())});
      Json row = comparison("dispatch", way.name, way.kernel, seconds, before_name, before);
      row.update({{"n", length}, {"overhead_ns", over}});
      rows_.push_back(std::move(row));
      before = seconds, before_name = way.name;
    }
  }

  const BenchOptions &options_;
  Context context_;
  Vector x_, y_, result_;
  std::string axpy_kernel_, dot_kernel_;
  double tiny_ = 1e-9;
  sxt_vector_args axpy_{};
  sxt_reduction_args dot_{};
  Sheet sheet_;
  Json rows_ = Json::array();
};

}  // namespace

int bench_device_dispatch(const BenchOptions &options) { return DispatchSuite(options).run(); }

}  // namespace tool
