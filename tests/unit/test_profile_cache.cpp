// SPDX-License-Identifier: BSD-3-Clause
// A profile is read once a process, and again when its file changes.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "core/model/profile_cache.hpp"

namespace {

using namespace sextant;
namespace fs = std::filesystem;

class ProfileCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("sextant-profile-cache-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Status times cannot be set, so what reads them as recent reads the file again.
  std::string write(const std::string &name, double rate) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "[machine]\nstream_rate = " << rate << "\n";
    return path.string();
  }
  static void settle() { ::usleep(2'100'000); }

  fs::path folder_;
};

TEST_F(ProfileCache, AFileIsReadOnceUntilItChanges) {
  const std::string path = write("p.toml", 1e9), same_size = write("q.toml", 2e9);
  settle();
  const auto first = shared_profile(path);
  EXPECT_EQ(first->machine.at("stream_rate"), 1e9);
  EXPECT_EQ(shared_profile(path), first) << "read a second time";
  fs::rename(same_size, path);  // as a calibration replaces it; equal size and an old time
  const auto replaced = shared_profile(path);
  EXPECT_EQ(replaced->machine.at("stream_rate"), 2e9);
  write("p.toml", 3e9);
  EXPECT_EQ(shared_profile(path)->machine.at("stream_rate"), 3e9) << "written in place a moment ago";
  write("p.toml", 4e9);
  EXPECT_EQ(shared_profile(path)->machine.at("stream_rate"), 4e9) << "and again at once";
  EXPECT_EQ(first->machine.at("stream_rate"), 1e9) << "what a context holds stays";
  fs::remove(path);
  EXPECT_THROW(shared_profile(path), Error);
}

TEST_F(ProfileCache, KeepsAFewFiles) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i <= profile_cache_size; ++i) paths.push_back(write(std::to_string(i), 1e9 + double(i)));
  settle();
  const std::weak_ptr<const Profile> first = shared_profile(paths[0]);
  EXPECT_FALSE(first.expired());
  for (std::size_t i = 1; i < profile_cache_size; ++i) shared_profile(paths[i]);
  EXPECT_FALSE(first.expired());
  shared_profile(paths[profile_cache_size]);
  EXPECT_TRUE(first.expired()) << "the one used longest ago goes";
}

}  // namespace
