// SPDX-License-Identifier: BSD-3-Clause
// Unusual files and handles: targets that are not regular files, endless files, kernels that only the library can call,
// arguments that are too short.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/plugin/kinds/vector.h"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DoorsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("sextant-doors-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char *name) const { return (folder_ / name).string(); }
  std::string read(const std::string &from) const {
    std::ifstream in(from);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder_;
};

sxt_status save(const Context &context, const std::string &path) { return sxt_plan_save(context.get(), path.c_str()); }

// ---- where plans are written ----

TEST_F(DoorsTest, APlanGoesThroughAFifoWhichStays) {
  const Context context = cpu(1);
  const std::string fifo = path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read(fifo); });
  EXPECT_EQ(save(context, fifo), SXT_OK) << last_error(context);
  reader.join();
  EXPECT_THAT(got, HasSubstr("# A plan of Sextant"));
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(DoorsTest, AReaderThatLeavesIsAnErrorAndNoSignal) {
  const Context context = cpu(1);
  const std::string fifo = path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDWR);
  ASSERT_GE(reader, 0);
  std::thread leaves([&] {  // once the pipe is full and its writer waits
    for (int waiting = 0, before = -1; waiting == 0 || waiting != before; usleep(20000)) {
      before = waiting;
      ioctl(reader, FIONREAD, &waiting);
    }
    close(reader);
  });
  // A plan of more bytes than a pipe holds.
  for (int i = 0; i < 400; ++i) {
    const Matrix matrix = diagonal(std::vector<double>(static_cast<std::size_t>(i + 1), 2)).matrix(context);
    std::vector<double> x(static_cast<std::size_t>(i + 1), 1), y(x);
    ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data()), SXT_OK);
  }
  EXPECT_EQ(save(context, fifo), SXT_E_FILE_WRITE);
  EXPECT_THAT(last_error(context), HasSubstr("Broken pipe"));
  leaves.join();
}

TEST_F(DoorsTest, APlanReplacesWhatALinkLeadsToAndKeepsItsMode) {
  const Context context = cpu(1);
  const std::string target = path("target"), link = path("link");
  std::ofstream(target) << "old";
  ASSERT_EQ(chmod(target.c_str(), 0640), 0);
  fs::create_symlink("target", link);
  ASSERT_EQ(save(context, link), SXT_OK) << last_error(context);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(read(target), HasSubstr("# A plan of Sextant"));
  struct stat status {};
  ASSERT_EQ(stat(target.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  const std::string nowhere = path("nowhere");
  fs::create_symlink("later", nowhere);
  ASSERT_EQ(save(context, nowhere), SXT_OK) << last_error(context);
  EXPECT_TRUE(fs::is_symlink(nowhere));
  EXPECT_TRUE(fs::is_regular_file(path("later")));
}

TEST_F(DoorsTest, ADeviceStaysADevice) {
  const Context context = cpu(1);
  EXPECT_EQ(save(context, "/dev/null"), SXT_OK) << last_error(context);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(save(context, "/dev/full"), SXT_E_FILE_WRITE);
  EXPECT_THAT(last_error(context), HasSubstr("/dev/full: could not be written: No space left on device"));
  EXPECT_EQ(save(context, folder_.string()), SXT_E_FILE_WRITE);
  EXPECT_THAT(last_error(context), HasSubstr("Is a directory"));
  for (const auto &entry : fs::directory_iterator(folder_)) ADD_FAILURE() << "left behind: " << entry.path();
}

// ---- files that never end, or never begin ----

TEST_F(DoorsTest, WhatIsNoRegularFileIsNotRead) {
  const Context context = cpu(1);
  const std::string fifo = path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string &each : {fifo, std::string("/dev/zero")}) {
    EXPECT_EQ(sxt_plan_load(context.get(), each.c_str(), 0), SXT_E_FILE_READ) << each;
    EXPECT_EQ(last_error(context), each + ": it is not a regular file");
    sxt_context_options options = context_options();
    options.device = "cpu";
    options.profile_path = each.c_str();
    EXPECT_EQ(make<Context>([&](auto **out) { return sxt_context_create(&options, out); }, SXT_E_FILE_READ), nullptr);
    EXPECT_EQ(std::string(sxt_last_error(nullptr)), each + ": it is not a regular file");
    for (const std::int32_t stamp : {0, 1}) {
      const sxt_status status = sxt_plugin_check(context.get(), each.c_str(), stamp, nullptr, nullptr);
      EXPECT_EQ(status, stamp ? SXT_E_FILE_READ : SXT_E_PLUGIN) << each;
      EXPECT_THAT(last_error(context), HasSubstr("not a regular file"));
    }
  }
}

TEST_F(DoorsTest, ATextThatIsTooLongIsNotRead) {
  const Context context = cpu(1);
  const std::string large = path("large");
  std::ofstream(large) << "format = 1\n";
  fs::resize_file(large, std::uintmax_t{1} << 40);  // a hole
  EXPECT_EQ(sxt_plan_load(context.get(), large.c_str(), 0), SXT_E_FILE_READ);
  EXPECT_THAT(last_error(context), HasSubstr("at most 67108864 are read"));
}

// ---- kernels and their arguments ----

std::set<std::string> kinds() {
  std::set<std::string> all;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(sxt_kernel_get(i, &info), SXT_OK);
    all.insert(info.kind);
  }
  return all;
}

TEST_F(DoorsTest, AnyKindMayBeAskedForWithAndWithoutAMatrix) {
  const Context context = cpu(1);
  const Matrix matrix = laplacian(5, 1).matrix(context);
  ASSERT_GT(kinds().size(), 15u);
  for (const std::string &kind : kinds())
    for (const bool about_matrix : {false, true}) {
      alignas(16) char space[512] = {};  // an empty query of any kind
      auto &query = *reinterpret_cast<sxt_matrix_query *>(space);
      query.q.h = {sizeof space, kind.c_str()};
      query.q.expected_runs = 1;
      query.q.value_type = SXT_F64;
      query.q.flags = about_matrix ? SXT_QUERY_MATRIX : 0;
      sxt_selection *selection = nullptr;
      const sxt_status status =
          sxt_kernel_select(context.get(), &query.q, about_matrix ? matrix.get() : nullptr, &selection);
      const bool inner = kind.starts_with("sxt.storage.") || kind == "sxt.device/1" || kind == "sxt.features/1" ||
                         kind == "sxt.launch/1";
      if (inner) {
        EXPECT_EQ(status, SXT_E_NOT_SUPPORTED) << kind << last_error(context);
        EXPECT_THAT(last_error(context), HasSubstr(kind));
      }
      if (selection) {
        sxt_head args = {sizeof args, kind.c_str()};
        EXPECT_EQ(sxt_kernel_run(selection, &args), SXT_E_ARGUMENT) << kind;
        EXPECT_THAT(last_error(context), HasSubstr("struct_size"));
        sxt_head *const list[] = {&args};
        EXPECT_EQ(sxt_selection_time(selection, list, 1, 0, nullptr, nullptr), SXT_E_ARGUMENT) << kind;
      }
      sxt_selection_destroy(selection);
    }
}

TEST_F(DoorsTest, ArgumentsOfAKindAreAllThere) {
  const Context context = cpu(1);
  const Matrix matrix = laplacian(5, 1).matrix(context);
  const sxt_spmv_query query = product_query(1);
  const Selection selection =
      make<Selection>([&](auto **out) { return sxt_kernel_select(context.get(), &query.m.q, matrix.get(), out); });
  std::vector<double> x(25, 1), y(25, 7);
  const double one = 1, zero = 0;
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.n_rhs = 1;
  args.ldx = args.ldy = 25;
  args.alpha.value = &one, args.beta.value = &zero;
  args.x = x.data(), args.y = y.data();
  for (std::uint64_t bytes = 0; bytes < sizeof args; ++bytes) {
    args.h.struct_size = bytes;
    EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_E_ARGUMENT) << bytes;
  }
  EXPECT_EQ(y, std::vector<double>(25, 7));
  args.h.struct_size = sizeof args;
  EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_OK) << last_error(context);
  EXPECT_EQ(y[0], 3);  // 4 + 1 - 1 - 1
}

// ---- data that another thread reads during a solve ----

TEST_F(DoorsTest, TheHistoryIsThereAsFarAsItsLengthSays) {
  const Context context = cpu(1);
  const Matrix matrix = laplacian(150).matrix(context);
  sxt_pcg_options how = pcg_options();
  how.preconditioner = "none";
  const Pcg pcg = make<Pcg>([&](auto **out) { return sxt_pcg_create(matrix.get(), &how, out); });
  std::vector<double> b(150 * 150, 1), x(b.size()), history(2000, -1);
  volatile std::int64_t length = 0;
  sxt_solve_options options = solve_options();
  options.history = history.data();
  options.history_capacity = 2000;
  options.history_length = &length;
  std::atomic<bool> over{false};
  std::int64_t looks = 0, holes = 0;
  std::thread watcher([&] {
    while (!over) {
      const std::int64_t known = __atomic_load_n(&length, __ATOMIC_ACQUIRE);
      for (std::int64_t i = 0; i < known; ++i) holes += history[static_cast<std::size_t>(i)] < 0;
      ++looks;
    }
  });
  solve(pcg, b, x, SXT_OK, &options);
  over = true;
  watcher.join();
  EXPECT_GT(looks, 0);
  EXPECT_EQ(holes, 0);
  EXPECT_GT(length, 50);
}

}  // namespace
}  // namespace api_test
