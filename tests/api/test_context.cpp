// SPDX-License-Identifier: BSD-3-Clause
// Contexts: options, errors that name what is wrong, forcing, lists.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <locale>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

TEST(ContextTest, OptionsInitWritesNoFurtherThanTheCallersSize) {
  sxt_context_options options;
  std::memset(&options, 0x5a, sizeof options);
  const std::uint64_t older = offsetof(sxt_context_options, log);
  sxt_context_options_init(&options, older);
  EXPECT_EQ(options.struct_size, older);
  EXPECT_EQ(options.threads, 0);
  unsigned char byte;
  std::memcpy(&byte, reinterpret_cast<char *>(&options) + older, 1);
  EXPECT_EQ(byte, 0x5a);
}

TEST(ContextTest, AShorterOlderStructIsEnough) {
  sxt_context_options options;
  sxt_context_options_init(&options, offsetof(sxt_context_options, profile_path));
  options.device = "cpu";
  const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
  EXPECT_NE(context, nullptr);
}

TEST(ContextTest, NullAndUnknownArgumentsAreNamed) {
  EXPECT_EQ(sxt_context_create(nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_STREQ(sxt_last_error(nullptr), "context is NULL");
  sxt_context_options options = context_options();
  options.device = "cpuu";
  sxt_context *context = nullptr;
  EXPECT_EQ(sxt_context_create(&options, &context), SXT_E_UNKNOWN_NAME);
  EXPECT_NE(std::strstr(sxt_last_error(nullptr), "the nearest is 'cpu'"), nullptr) << sxt_last_error(nullptr);
  EXPECT_EQ(context, nullptr);
  options = context_options();
  options.threads = -3;
  EXPECT_EQ(sxt_context_create(&options, &context), SXT_E_ARGUMENT);
  EXPECT_NE(std::strstr(sxt_last_error(nullptr), "-3"), nullptr);
}

TEST(ContextTest, MissingProfileAndPluginAreNamed) {
  sxt_context_options options = context_options();
  options.profile_path = "/nonexistent/profile.toml";
  sxt_context *context = nullptr;
  EXPECT_EQ(sxt_context_create(&options, &context), SXT_E_FILE_READ);
  EXPECT_NE(std::strstr(sxt_last_error(nullptr), "/nonexistent/profile.toml"), nullptr);
  options = context_options();
  const char *paths[] = {"/nonexistent/kernel.so"};
  options.plugin_paths = paths;
  options.n_plugin_paths = 1;
  EXPECT_EQ(sxt_context_create(&options, &context), SXT_E_FILE_READ);
  EXPECT_NE(std::strstr(sxt_last_error(nullptr), "/nonexistent/kernel.so"), nullptr);
}

TEST(ContextTest, ErrorsBelongToTheirContextAndThread) {
  const Context one = cpu(), two = cpu();
  EXPECT_EQ(sxt_context_force(one.get(), "sxt.spmv/1", "spmv.csr.row.cpu"), SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(one).find("spmv.csr.rows.cpu"), std::string::npos) << last_error(one);
  EXPECT_EQ(last_error(two), "");
  char cut[8];
  std::int64_t length = 0;
  sxt_last_error_copy(one.get(), cut, sizeof cut, &length);
  EXPECT_EQ(std::strlen(cut), sizeof cut - 1);
  EXPECT_EQ(length, static_cast<std::int64_t>(last_error(one).size()));
}

TEST(ContextTest, AThreadDropsItsOldestSentence) {
  const Context first = cpu(1);
  std::vector<Context> others;
  for (int i = 0; i < 70; ++i) {
    others.push_back(cpu(1));
    EXPECT_EQ(sxt_context_force(others.back().get(), "no kind", nullptr), SXT_E_UNKNOWN_NAME);
  }
  EXPECT_EQ(sxt_context_force(first.get(), "no kind", nullptr), SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(first), "");
  EXPECT_NE(last_error(others.back()), "");
  EXPECT_EQ(last_error(others.front()), "");
}

TEST(ContextTest, SentencesAreNotCutWithinACharacter) {
  const Context context = cpu(1);
  EXPECT_EQ(sxt_context_force(context.get(), "\xc3\xa4\xe2\x82\xac", nullptr),
            SXT_E_UNKNOWN_NAME);  // an umlaut, a euro
  const std::string whole = last_error(context);
  const auto begin = static_cast<std::int64_t>(whole.find("\xc3"));
  ASSERT_GE(begin, 0) << whole;
  const auto kept = [&](std::int64_t bytes) {
    char cut[256];
    sxt_last_error_copy(context.get(), cut, begin + bytes + 1, nullptr);
    return static_cast<std::int64_t>(std::strlen(cut)) - begin;
  };
  EXPECT_EQ(kept(0), 0);
  EXPECT_EQ(kept(1), 0);
  EXPECT_EQ(kept(2), 2);
  EXPECT_EQ(kept(3), 2);
  EXPECT_EQ(kept(4), 2);
  EXPECT_EQ(kept(5), 5);
}

TEST(ContextTest, DestroyAcceptsNull) {
  sxt_context_destroy(nullptr);
  sxt_matrix_destroy(nullptr);
  sxt_vector_destroy(nullptr);
  sxt_pcg_destroy(nullptr);
  sxt_selection_destroy(nullptr);
}

TEST(ContextTest, ObjectsKeepTheirContextAlive) {
  Context context = cpu();
  const Csr a = laplacian(4);
  Matrix matrix = a.matrix(context);
  std::vector<double> x(16, 1), y(16);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  context.reset();
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vx.get(), nullptr, vy.get()), SXT_OK);
  EXPECT_EQ(y, a.times(x));
}

TEST(ContextTest, ListsWhatIsLoaded) {
  const Context context = cpu();
  ASSERT_GT(sxt_plugin_count(), 5);
  bool found = false;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info kernel{};
    kernel.struct_size = sizeof kernel;
    ASSERT_EQ(sxt_kernel_get(i, &kernel), SXT_OK);
    found = found || !std::strcmp(kernel.name, "spmv.csr.rows.cpu");
  }
  EXPECT_TRUE(found);
  sxt_plugin_info plugin{};
  plugin.struct_size = sizeof plugin;
  EXPECT_EQ(sxt_plugin_get(sxt_plugin_count(), &plugin), SXT_E_INDEX);
  plugin.struct_size = 0;
  EXPECT_EQ(sxt_plugin_get(0, &plugin), SXT_E_ARGUMENT);
}

TEST(ContextTest, EveryStatusAndReasonHasANameAndASentence) {
  EXPECT_STREQ(sxt_status_name(SXT_E_INDEX), "SXT_E_INDEX");
  EXPECT_STREQ(sxt_status_name(12345), "SXT_UNKNOWN");
  EXPECT_STREQ(sxt_reason_name(SXT_REASON_STAGNATED), "stagnated");
  EXPECT_STRNE(sxt_reason_sentence(SXT_REASON_A_INDEFINITE), "");
  std::int32_t major = -1, minor = -1, patch = -1;
  sxt_version(&major, &minor, &patch);
  EXPECT_EQ(std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch), sxt_version_string());
}

// A program's own locale changes how streams read numbers.
TEST(ContextTest, TheEnvironmentIsReadInAnyLocale) {
  struct CommaForPoint : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaForPoint));
  setenv("SEXTANT_RACE", "3:0.2", 1);
  sxt_context *made = nullptr;
  const sxt_status status = sxt_context_create(nullptr, &made);
  unsetenv("SEXTANT_RACE");
  std::locale::global(before);
  EXPECT_EQ(status, SXT_OK) << sxt_last_error(nullptr);
  sxt_context_destroy(made);
}

TEST(ContextTest, AnEmptyNameOfAProfileIsNone) {
  std::vector<std::string> lines;
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.threads = 1;
  options.log = [](void *user, sxt_log_level, const char *message) {
    static_cast<std::vector<std::string> *>(user)->emplace_back(message);
  };
  options.log_user = &lines;
  setenv("SEXTANT_PROFILE", "", 1);
  const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
  unsetenv("SEXTANT_PROFILE");
  EXPECT_TRUE(lines.empty()) << lines.front();
}

TEST(ContextTest, AnAmountForTheDevicesPoolIsANumberOfBytes) {
  for (const char *wrong : {"much", "-1", "4T", "4 G", "4GB", "99999999999999999999", "G"}) {
    setenv("SEXTANT_DEVICE_POOL", wrong, 1);
    sxt_context *context = nullptr;
    EXPECT_EQ(sxt_context_create(nullptr, &context), SXT_E_ARGUMENT) << wrong;
    EXPECT_NE(std::string(sxt_last_error(nullptr)).find("SEXTANT_DEVICE_POOL"), std::string::npos);
  }
  for (const char *good : {"0", "512M", "4G", "1000000", ""}) {
    setenv("SEXTANT_DEVICE_POOL", good, 1);
    sxt_context *context = nullptr;
    EXPECT_EQ(sxt_context_create(nullptr, &context), SXT_OK) << good << ": " << sxt_last_error(nullptr);
    sxt_context_destroy(context);
  }
  unsetenv("SEXTANT_DEVICE_POOL");
}

// "cuda" is there and does not open: with "auto" a message names the device used instead, and "cuda" alone is an error.
TEST(ContextTest, AutoNamesTheDeviceThatDoesNotOpen) {
  std::vector<std::string> lines;
  static const char *const paths[] = {SEXTANT_MOCK_DIR "/device-broken.so"};
  sxt_context_options options = context_options();
  options.device = "auto";
  options.plugin_paths = paths;
  options.n_plugin_paths = 1;
  options.log = [](void *user, sxt_log_level level, const char *message) {
    if (level == SXT_LOG_WARNING) static_cast<std::vector<std::string> *>(user)->emplace_back(message);
  };
  options.log_user = &lines;
  const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
  std::string all;
  for (const std::string &line : lines) all += line + "\n";
  EXPECT_NE(all.find("device = auto does without 'cuda': "), std::string::npos) << all;
  EXPECT_NE(all.find("the mock is out of order"), std::string::npos) << all;
  char text[200] = "";
  ASSERT_EQ(sxt_context_describe(context.get(), text, sizeof text, nullptr), SXT_OK);
  EXPECT_EQ(std::string(text).find("cpu"), 0u) << text;
  options.device = "cuda";
  make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); }, SXT_E_DEVICE);
  EXPECT_NE(std::string(sxt_last_error(nullptr)).find("the mock is out of order"), std::string::npos);
}

TEST(ContextTest, TheLogGetsWarningsOnlyWhenAsked) {
  std::vector<std::string> lines;
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.log = [](void *user, sxt_log_level, const char *message) {
    static_cast<std::vector<std::string> *>(user)->emplace_back(message);
  };
  options.log_user = &lines;
  const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
  EXPECT_TRUE(lines.empty());
  const std::string path = testing::TempDir() + "damaged_plan.toml";
  FILE *file = std::fopen(path.c_str(), "w");
  std::fputs("format = [", file);
  std::fclose(file);
  EXPECT_EQ(sxt_plan_load(context.get(), path.c_str(), 0), SXT_OK);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find(path), std::string::npos);
  EXPECT_EQ(sxt_plan_load(context.get(), path.c_str(), 1), SXT_E_PLAN);
}

}  // namespace
}  // namespace api_test
