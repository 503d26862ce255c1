// SPDX-License-Identifier: BSD-3-Clause
// What the models of sparse Cholesky say beside what is measured: every candidate of every scheduler of a device, in
// turns on the same matrix, in lines of JSON.
//
//   cholesky_models [--device cpu|cuda] [--threads N] [--type f64|f32|c64|c128] [--ldlh] [--order NAME] [--repeat N]
//                   [--longest S] [--until S] [--first] PROBLEM...
//
// PROBLEM as for gpu_cholesky_peers. A line has the matrix, order and shape of the structure (all that a model is
// told), the kernel, its launch and terms, the predicted seconds with their error bar, and the median, least and most
// of the measured ones; factorisations first, then solves in place of 1, 8 and 64 right-hand sides. --longest:
// candidates that are predicted to take more seconds are left out (1), but for the best of a kernel. --until: no
// problem begins after so many seconds. --first: only the best candidate of each kernel. Everything lies in the
// device's memory.
#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/base/types.hpp"
#include "core/cholesky/analysis.hpp"
#include "core/choose/selector.hpp"
#include "core/model/cost.hpp"
#include "core/model/timing.hpp"
#include "core/run/prepared.hpp"
#include "tools/measure/cholesky_peers/problem_files.hpp"

namespace {

using namespace sextant;
using gpu_test::Problem;

struct Options {
  std::string device = "cpu", order, type = "f64";
  int threads = 0, repeat = 7;
  double longest = 1, until = 1e9;
  bool ldlh = false, first = false;
  std::vector<std::string> problems;
};

void need(sxt_status status) {
  if (status < 0) throw std::runtime_error(sxt_last_error(nullptr));
}

struct OnDevice {
  sxt_context *handle = nullptr;
  explicit OnDevice(const Options &from) {
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = from.device.c_str();
    options.threads = from.threads;
    need(sxt_context_create(&options, &handle));
  }
  ~OnDevice() { sxt_context_destroy(handle); }
  Context &context() const { return *handle->context; }
};

sxt_value_type type_of(const std::string &name) {
  for (const sxt_value_type type : {SXT_F64, SXT_F32, SXT_C64, SXT_C128})
    if (name == value_name(type)) return type;
  throw std::runtime_error("no type is called " + name);
}

// The matrix in the type asked for.
std::shared_ptr<Matrix> matrix_of(const OnDevice &device, const Problem &a, sxt_value_type type) {
  return with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> values;
    for (const double each : a.values) values.push_back(static_cast<T>(each));
    sxt_matrix_options options;
    sxt_matrix_options_init(&options, sizeof options);
    options.value_type = type;
    sxt_matrix *made = nullptr;
    need(sxt_matrix_from_csr(device.handle, a.n(), a.n(), a.ptr.data(), a.col.data(), values.data(), &options, &made));
    std::shared_ptr<Matrix> out = made->matrix;
    sxt_matrix_destroy(made);
    return out;
  });
}

// ---- lines of JSON -------------------------------------------------------------------------------------------------

std::string shape_text(const sxt_cholesky_query &q) {
  char text[4096];
  int at = std::snprintf(
      text, sizeof text,
      "\"n\":%lld,\"nnz\":%lld,\"nnz_l\":%lld,\"values\":%lld,\"index\":%lld,\"n_super\":%lld,\"n_blocks\":%lld,"
      "\"max_rows\":%lld,\"max_width\":%lld,\"height\":%lld,\"amalgamation\":%lld,\"block\":%lld,\"flops\":%.6g,"
      "\"critical\":%.6g,\"update\":%.6g,\"stack\":%.6g,\"level_rows\":%.6g,\"level_children\":%.6g,"
      "\"large_count\":%.6g,\"large_ancestors\":%.6g,\"narrow_level_columns\":%.6g,\"wide_level_columns\":%.6g,"
      "\"classes\":[",
      (long long)q.m.rows, (long long)q.m.nnz, (long long)q.nnz_l, (long long)q.values, (long long)q.index_size,
      (long long)q.n_super, (long long)q.n_blocks, (long long)q.max_rows, (long long)q.max_width, (long long)q.height,
      (long long)q.amalgamation, (long long)q.block, q.flops, q.critical_flops, q.update_values, q.stack_values,
      q.level_rows, q.level_children, q.large_count, q.large_ancestors, q.narrow_level_columns, q.wide_level_columns);
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) {
    const sxt_front_class &f = q.classes[c];
    at += std::snprintf(text + at, sizeof text - static_cast<std::size_t>(at), "%s[%.6g,%.6g,%.6g,%.6g]", c ? "," : "",
                        f.count, f.columns, f.values, f.flops);
  }
  return std::string(text, static_cast<std::size_t>(at)) + "]";
}

std::string terms_text(const Choice &choice, const sxt_machine &machine) {
  const ModelTerms terms = model_terms(choice.kernel->table, *choice.query.get(), choice.candidate, machine);
  std::string out = "{";
  for (std::uint32_t k = 0; k < terms.count; ++k) {
    char text[128];
    std::snprintf(text, sizeof text, "%s\"%s\":%.6g", k ? "," : "", term_name(choice.kernel->table, k),
                  terms.values[k]);
    out += text;
  }
  return out + "}";
}

struct Turn {
  ChoicePtr choice;
  std::unique_ptr<Prepared> prepared;
  std::unique_ptr<Session> session;
  double setup_s = 0, first_s = 0;
  std::vector<double> seconds;
};

class System {
 public:
  System(const OnDevice &device, const Problem &problem, const Options &options)
      : device_(device.context().device()), options_(options), name_(problem.name), type_(type_of(options.type)) {
    cholesky::Settings settings;
    settings.order = options.order;
    settings.factorization = options.ldlh ? SXT_LDLH : SXT_LLH;
    settings.expected_factors = settings.expected_solves = 1000;
    settings.check_symmetry = settings.recorded = false;
    analysis_ = std::make_unique<cholesky::Analysis>(matrix_of(device, problem, type_), settings);
    const sxt_symbolic &s = analysis_->symbolic();
    const auto number = static_cast<std::uint64_t>(value_bytes(type_));
    const Buffer &values = analysis_->matrix().csr().values;
    factor_ = DeviceBuffer(device_, static_cast<std::uint64_t>(s.values) * number);
    values_ = DeviceBuffer(device_, values.bytes());
    b_ = DeviceBuffer(device_, static_cast<std::uint64_t>(64 * s.n) * number);
    device_.copy(values_.data(), values.data(), values.bytes());
    call_.h = {sizeof call_, SXT_KIND_CHOLESKY};
    call_.factors = options.ldlh ? SXT_FACTORS_LDLH : SXT_FACTORS_LLH;
    call_.n_sets = 1, call_.value_type = call_.value_type_a = type_;
    call_.values = values_.data(), call_.factor = factor_.data();
    call_.failed_column = &failed_, call_.failed_pivot = &pivot_, call_.changed = &changed_;
  }

  void measure(std::int32_t phase, std::int64_t n_rhs) {
    sxt_cholesky_query query = analysis_->query(phase, n_rhs);
    call_.phase = phase;
    call_.b = b_.data(), call_.ldb = analysis_->symbolic().n, call_.n_rhs = n_rhs;
    Selector selector(analysis_->context(), nullptr);
    std::vector<ChoicePtr> list;
    std::set<const registry::Kernel *> seen;
    for (const ChoicePtr &choice : selector.every({.query = Query(&query.m.q), .role = "cholesky"})) {
      if (choice->kernel->has(SXT_KERNEL_REFERENCE)) continue;
      const bool best = seen.insert(choice->kernel).second;
      if (best || (!options_.first && choice->run_s < options_.longest)) list.push_back(choice);
    }
    // All in turns, where their memory is little; else one after the other.
    constexpr double little = 2e9;
    const std::size_t together = bytes() < little ? list.size() : 1;
    for (std::size_t first = 0; first < list.size(); first += together) {
      std::vector<Turn> turns;
      for (std::size_t k = first; k < std::min(first + together, list.size()); ++k) add(turns, list[k]);
      run(turns, n_rhs);
      for (Turn &turn : turns) print(turn, query);
    }
  }

 private:
  double bytes() const { return static_cast<double>(factor_.bytes() + b_.bytes()); }

  void add(std::vector<Turn> &turns, const ChoicePtr &choice) const {
    try {
      Turn turn;
      turn.choice = choice;
      turn.setup_s = time_once([&] {
        turn.prepared = std::make_unique<Prepared>(analysis_->context(), choice, nullptr, &analysis_->symbolic().h);
      });
      turn.session = turn.prepared->open();
      turns.push_back(std::move(turn));
    } catch (const std::exception &problem) {
      std::fprintf(stderr, "%s: %s: %s\n", name_.c_str(), choice->kernel->name(), problem.what());
    }
  }

  void fill_right_sides(std::int64_t n_rhs) {
    with_value_type(type_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto count = static_cast<std::size_t>(analysis_->symbolic().n * n_rhs);
      if (ones_.size() != count * sizeof(T)) {
        ones_.resize(count * sizeof(T));
        std::fill_n(reinterpret_cast<T *>(ones_.data()), count, T(1));
      }
      device_.copy(b_.data(), ones_.data(), ones_.size());
    });
  }

  // Seconds of a call of a warm session, of at most `calls` of them. Solves of solutions would leave the range of
  // numbers after some: b is filled anew, and the caches are warmed by a solve that does not count.
  double seconds_of(Turn &turn, int calls, std::int64_t n_rhs) {
    constexpr int most_solves = 2;
    const auto ask = [&](int times) {
      for (int k = 0; k < times; ++k) turn.session->ask(&call_.h);
    };
    double seconds = 0;
    int done = 0;
    while (done < calls) {
      const int next = n_rhs > 0 ? std::min(most_solves, calls - done) : calls;
      if (n_rhs > 0) fill_right_sides(n_rhs);
      if (calls > 1) ask(1);
      seconds += time_once([&] { ask(next); });
      done += next;
    }
    if (failed_ >= 0) throw std::runtime_error("column " + std::to_string(failed_) + " failed");
    return seconds / done;
  }

  // Short runs are timed several at a time.
  void run(std::vector<Turn> &turns, std::int64_t n_rhs) {
    constexpr double shortest_s = 3e-3;
    for (int round = -1; round < options_.repeat; ++round) {
      for (Turn &turn : turns) {
        if (!turn.session) continue;
        const double calls = round < 0 ? 1 : shortest_s / std::max(turn.first_s, 1e-6);
        try {
          const double seconds = seconds_of(turn, static_cast<int>(std::clamp(calls, 1.0, 30.0)), n_rhs);
          if (round < 0)
            turn.first_s = seconds;
          else
            turn.seconds.push_back(seconds);
        } catch (const std::exception &problem) {
          std::fprintf(stderr, "%s: %s: %s\n", name_.c_str(), turn.choice->kernel->name(), problem.what());
          turn.session.reset();
        }
      }
    }
  }

  void print(Turn &turn, const sxt_cholesky_query &query) const {
    if (turn.seconds.empty()) return;
    std::sort(turn.seconds.begin(), turn.seconds.end());
    const Choice &choice = *turn.choice;
    std::uint64_t host = 0, device = 0;
    if (const auto *ops = static_cast<const sxt_cholesky_ops *>(choice.kernel->table.ops))
      ops->bytes(choice.query.get(), &analysis_->symbolic(), &analysis_->context().machine(), &choice.candidate, &host,
                 &device);
    std::printf(
        "{\"matrix\":\"%s\",\"order\":\"%s\",\"type\":\"%s\",\"factors\":%d,\"phase\":%d,\"n_rhs\":%lld,\"kernel\":"
        "\"%s\",\"launch\":[%lld,%lld],\"class\":%u,\"units\":%g,\"working_set\":%.6g,\"predicted\":%.6g,"
        "\"rel_error\":%.3g,\"measured\":%.6g,\"least\":%.6g,\"most\":%.6g,\"first\":%.6g,\"setup\":%.6g,"
        "\"predicted_setup\":%.6g,\"host_bytes\":%llu,\"device_bytes\":%llu,\"terms\":%s,%s}\n",
        name_.c_str(), analysis_->method().c_str(), value_name(type_), query.factors, query.phase,
        (long long)query.n_rhs, choice.kernel->name(), (long long)choice.candidate.launch[0],
        (long long)choice.candidate.launch[1], choice.candidate.model_class, choice.candidate.units,
        choice.candidate.working_set_bytes, choice.run_s, choice.rel_error, turn.seconds[turn.seconds.size() / 2],
        turn.seconds.front(), turn.seconds.back(), turn.first_s, turn.setup_s, choice.setup_s, (unsigned long long)host,
        (unsigned long long)device, terms_text(choice, analysis_->context().machine()).c_str(),
        shape_text(query).c_str());
    std::fflush(stdout);
  }

  Device &device_;
  const Options &options_;
  const std::string name_;
  const sxt_value_type type_;
  std::unique_ptr<cholesky::Analysis> analysis_;
  DeviceBuffer factor_, values_, b_;
  std::vector<std::byte> ones_;
  sxt_cholesky_args call_{};
  std::int64_t failed_ = -1, changed_ = 0;
  double pivot_ = 0;
};

Options parse(int argc, char **argv) {
  Options out;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value = [&] {
      if (++k >= argc) throw std::runtime_error(word + " needs a value");
      return std::string(argv[k]);
    };
    if (word == "--device")
      out.device = value();
    else if (word == "--threads")
      out.threads = std::stoi(value());
    else if (word == "--type")
      out.type = value();
    else if (word == "--order")
      out.order = value();
    else if (word == "--repeat")
      out.repeat = std::max(1, std::stoi(value()));
    else if (word == "--longest")
      out.longest = std::stod(value());
    else if (word == "--until")
      out.until = std::stod(value());
    else if (word == "--ldlh")
      out.ldlh = true;
    else if (word == "--first")
      out.first = true;
    else
      out.problems.push_back(word);
  }
  return out;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    const double begun = seconds_now();
    const Options options = parse(argc, argv);
    const OnDevice device(options);
    for (const std::string &name : options.problems) {
      if (seconds_now() - begun > options.until) break;
      try {
        System system(device, gpu_test::problem_of(name, device.handle), options);
        system.measure(SXT_CHOLESKY_FACTOR, 0);
        for (const std::int64_t n_rhs : {1, 8, 64}) system.measure(SXT_CHOLESKY_SOLVE, n_rhs);
      } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), problem.what());
      }
    }
    return 0;
  } catch (const std::exception &problem) {
    std::fprintf(stderr, "cholesky_models: %s\n", problem.what());
    return 1;
  }
}
