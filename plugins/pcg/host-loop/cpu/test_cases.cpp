// SPDX-License-Identifier: BSD-3-Clause
// The engines against the reference on the cases of the kind, and in front of the library's own kernels as parts.
#include <cstdint>
#include <filesystem>

#include "test_parts.hpp"

using namespace pcg_test;

namespace {

const char *const recurrences[] = {"classical", "chronopoulos-gear", "predict-recompute"};

template <class T>
Matrix<T> matrix_of(const sxt_case &c) {
  const auto &csr = plugin::as<sxt_csr>(c.a);
  Matrix<T> a;
  a.n = csr.s.rows;
  const auto *row_ptr = static_cast<const std::int32_t *>(csr.row_ptr);
  a.row_ptr.assign(row_ptr, row_ptr + a.n + 1);
  a.col.assign(static_cast<const std::int32_t *>(csr.col), static_cast<const std::int32_t *>(csr.col) + csr.s.nnz);
  a.values.assign(static_cast<const T *>(csr.values), static_cast<const T *>(csr.values) + csr.s.nnz);
  return a;
}

sxt_status run_reference(const sxt_kernel &kernel, sxt_case &c) {
  sxt_exec exec = make_exec();
  void *state = nullptr, *session = nullptr;
  const sxt_problem problem{sizeof problem, c.query, c.a, c.data};
  sxt_status status = kernel.prepare(&problem, nullptr, nullptr, &exec, &state);
  if (status == SXT_OK) status = kernel.open(state, nullptr, &exec, &session);
  if (status == SXT_OK) status = kernel.run(state, session, c.args, &exec);
  kernel.close(session);
  kernel.release(state);
  return status;
}

TEST(HostLoopCases, EveryRecurrencePassesEveryCaseOfTheKind) {
  const sxt_kind &kind = *load_own("pcg-reference")->kinds[0];
  for (std::uint64_t i = 0; i < kind.n_cases; ++i) {
    sxt_case want{};
    ASSERT_EQ(kind.make_case(Host::table(), 3, i, &want), SXT_OK);
    ASSERT_EQ(run_reference(*kind.reference, want), SXT_OK);
    for (const char *name : recurrences) {
      SCOPED_TRACE(std::string(want.description) + ", " + name);
      sxt_case got{};
      ASSERT_EQ(kind.make_case(Host::table(), 3, i, &got), SXT_OK);
      plugin::with_value_type(got.query->value_type, [&]<class T>(plugin::Tag<T>) {
        const Matrix<T> a = matrix_of<T>(got);
        auto &args = *reinterpret_cast<sxt_pcg_args *>(got.args);
        EXPECT_EQ(Engine<T>(name, a).run(args), SXT_OK);
        return static_cast<sxt_status>(SXT_OK);
      });
      double error = 99;
      char text[256] = "";
      sxt_message message{text, sizeof text};
      EXPECT_EQ(kind.compare(&got, &want, &error, &message), SXT_OK);
      EXPECT_LE(error, 1) << text;
      kind.free_case(&got);
    }
    kind.free_case(&want);
  }
}

// The library's own kernels: for a query, the first kernel of its kind that applies and is no reference.
class OwnKernels {
 public:
  explicit OwnKernels(const sxt_csr &a) : a_(a) {
    for (const auto &file : std::filesystem::directory_iterator(SEXTANT_PLUGIN_DIR "/cpu"))
      if (file.path().extension() == ".so") plugins_.push_back(load(file.path()));
    std::sort(plugins_.begin(), plugins_.end(), [](auto *l, auto *r) { return std::strcmp(l->name, r->name) < 0; });
  }
  ~OwnKernels() {
    for (const auto &[kernel, bound] : made_) {
      if (kernel->close && bound.session) kernel->close(bound.session);
      if (kernel->release && bound.state) kernel->release(const_cast<void *>(bound.state));
    }
  }

  bool has(const char *kind) const { return !all(kind).empty(); }

  sxt_bound bind(const sxt_query &query) {
    const sxt_machine machine = make_machine();
    for (const sxt_kernel *kernel : all(query.h.kind)) {
      char text[256] = "";
      sxt_message message{text, sizeof text};
      if (kernel->applicable && kernel->applicable(&query, nullptr, &machine, &message) != SXT_OK) continue;
      sxt_candidate candidates[8] = {};
      std::uint64_t count = 0;
      const std::vector<double> unknown(64, std::nan(""));
      const sxt_features features{count_features(*kernel), kernel->features, unknown.data()};
      EXPECT_EQ(kernel->candidates(&query, &features, &machine, nullptr, candidates, 8, &count), SXT_OK);
      const sxt_problem problem{sizeof problem, &query, kernel->storages ? &a_.s.h : nullptr, nullptr};
      void *state = nullptr, *session = nullptr;
      if (kernel->prepare) {
        EXPECT_EQ(kernel->prepare(&problem, &candidates[0], nullptr, &exec_, &state), SXT_OK) << kernel->name;
      }
      if (kernel->open) {
        EXPECT_EQ(kernel->open(state, nullptr, &exec_, &session), SXT_OK) << kernel->name;
      }
      const sxt_bound bound{kernel->name, state,         session, kernel->run, candidates[0].scratch_bytes,
                            1e-6,         kernel->flags, 0};
      made_.emplace_back(kernel, bound);
      return bound;
    }
    ADD_FAILURE() << "no kernel for " << query.h.kind;
    return {};
  }

 private:
  static std::uint64_t count_features(const sxt_kernel &kernel) {
    std::uint64_t count = 0;
    while (kernel.features && kernel.features[count]) ++count;
    return count;
  }

  // Kernels of a kind that read this CSR or no matrix, references last.
  std::vector<const sxt_kernel *> all(const char *kind) const {
    std::vector<const sxt_kernel *> found;
    for (const sxt_plugin *plugin : plugins_)
      for (std::uint64_t i = 0; i < plugin->n_kernels; ++i) {
        const sxt_kernel *k = plugin->kernels[i];
        if (std::strcmp(k->kind, kind) == 0 && k->n_slots == 0 && k->min_level <= 1 && reads_csr(*k))
          found.push_back(k);
      }
    std::stable_sort(found.begin(), found.end(), [](auto *l, auto *r) {
      return (l->flags & SXT_KERNEL_REFERENCE) < (r->flags & SXT_KERNEL_REFERENCE);
    });
    return found;
  }
  static bool reads_csr(const sxt_kernel &k) {
    if (!k.storages) return true;
    for (auto s = k.storages; *s; ++s)
      if (std::strcmp(*s, SXT_KIND_STORAGE_CSR) == 0) return true;
    return false;
  }

  const sxt_csr a_;
  std::vector<const sxt_plugin *> plugins_;
  std::vector<std::pair<const sxt_kernel *, sxt_bound>> made_;
  sxt_exec exec_ = make_exec(2);
};

template <class T>
void solve_with_own_kernels(double relative) {
  const Matrix<T> a = grid<T>(30, [](std::int32_t i) { return 1.5 + noise(i); });
  OwnKernels kernels(a.view());
  for (const char *kind :
       {SXT_KIND_SPMV, SXT_KIND_MULTIDOT, SXT_KIND_VECTOR, SXT_KIND_VECTOR_GROUP, SXT_KIND_PRECONDITIONER})
    if (!kernels.has(kind)) GTEST_SKIP() << "this build has no kernel of " << kind;
  for (const char *name : recurrences) {
    for (const bool fused : {false, true}) {
      for (const bool preconditioned : {false, true}) {
        if (fused && !kernels.has(SXT_KIND_SPMV_DOTS)) continue;
        if (preconditioned && std::string(name) == "predict-recompute") continue;
        SCOPED_TRACE(std::string(name) + (fused ? ", fused" : ", separate") + (preconditioned ? ", Jacobi" : ""));
        typename Engine<T>::Options options;
        options.fused = fused;
        options.source = [&](const sxt_query &query) { return kernels.bind(query); };
        options.preconditioned = preconditioned;
        const Engine<T> engine(name, a, options), plain(name, a);
        Solve<T> s;
        s.b = noise_vector<T>(a.n, 3);
        s.x.assign(s.b.size(), T(0));
        s.tolerance = relative * norm(s.b);
        Solve<T> simple = s;
        ASSERT_EQ(engine.solve(s), SXT_OK) << Host::sentence;
        ASSERT_EQ(plain.solve(simple), SXT_OK);
        EXPECT_EQ(s.args.reason, SXT_REASON_CONVERGED);
        EXPECT_LT(true_residual(a, s.b, s.x), 3 * s.tolerance);
        const double difference = std::fabs(double(s.args.iterations) - double(simple.args.iterations));
        EXPECT_LE(difference, preconditioned ? double(simple.args.iterations) : 3);
      }
    }
  }
}
TEST(HostLoopCases, SolvesThroughTheLibrarysKernelsF64) { solve_with_own_kernels<double>(1e-10); }
TEST(HostLoopCases, SolvesThroughTheLibrarysKernelsF32) { solve_with_own_kernels<float>(1e-5); }
TEST(HostLoopCases, SolvesThroughTheLibrarysKernelsC128) { solve_with_own_kernels<std::complex<double>>(1e-10); }

}  // namespace
