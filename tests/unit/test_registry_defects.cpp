// SPDX-License-Identifier: BSD-3-Clause
// Every file of the defective corpus is refused with the correct stage and a message that names the cause, and the
// process continues.
#include <elf.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstddef>

#include "test_registry_util.hpp"

using namespace registry_test;
using testing::HasSubstr;

namespace {

// A whole file that is refused: load_path throws, and the only record has stage and message.
void expect_refused(const std::string &path, const std::string &stage, const std::string &words) {
  Registry registry("/nonexistent");
  const std::string said = load(registry, path);
  EXPECT_THAT(said, HasSubstr(path));
  EXPECT_THAT(said, HasSubstr("'" + stage + "'"));
  EXPECT_THAT(said, HasSubstr(words));
  const auto records = refusals_of(registry, path);
  ASSERT_EQ(records.size(), 1u) << path;
  EXPECT_EQ(records[0].stage, stage);
  EXPECT_THAT(records[0].reason, HasSubstr(words));
  EXPECT_TRUE(registry.plugins().empty());
  EXPECT_TRUE(registry.all_kernels().empty());
}

struct Defect {
  const char *mock, *stage, *words;
};
class WholePlugin : public testing::TestWithParam<Defect> {};
TEST_P(WholePlugin, IsRefused) { expect_refused(mock(GetParam().mock), GetParam().stage, GetParam().words); }

INSTANTIATE_TEST_SUITE_P(
    Defects, WholePlugin,
    testing::Values(Defect{"old-major", "abi", "it speaks plugin ABI 7.1, this library speaks 0.1"},
                    Defect{"newer-minor", "abi", "it speaks plugin ABI 0.2, this library exactly 0.1"},
                    Defect{"needs-newer-host", "abi", "it needs a library with plugin ABI 0.6 or newer"},
                    Defect{"wrong-magic", "abi", "magic number"}, Defect{"small-struct", "abi", "struct_size 72"},
                    Defect{"nameless", "entry", "its name is NULL"},
                    Defect{"bad-name", "entry", "its name has a character"},
                    Defect{"nothing-inside", "entry", "no kernel and no kind"},
                    Defect{"entry-error", "entry", "SXT_E_DEVICE: the licence server did not answer"},
                    Defect{"entry-null", "entry", "no description"},
                    Defect{"throw-in-entry", "entry", "exception out: thrown in the entry"},
                    Defect{"no-symbol", "entry", "no symbol 'sxt_plugin_entry_0'"},
                    Defect{"future-symbol", "entry", "needs a newer library"},
                    Defect{"undefined-symbol", "open", "a_function_without_definition"}),
    [](const auto &info) {
      std::string name = info.param.mock;
      for (char &c : name) c = c == '-' ? '_' : c;
      return name;
    });

// A plugin of two kernels (or a kind) of which one entry is refused and the rest is taken.
struct PartDefect {
  const char *mock, *stage, *words;
  std::vector<std::string> kernels;
};
class PartOfAPlugin : public testing::TestWithParam<PartDefect> {};
TEST_P(PartOfAPlugin, IsRefusedAlone) {
  Registry registry("/nonexistent");
  ASSERT_EQ(load(registry, mock("scale")), "");
  const std::string path = mock(GetParam().mock);
  EXPECT_EQ(load(registry, path), "");
  const auto records = refusals_of(registry, path);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].stage, GetParam().stage);
  EXPECT_THAT(records[0].reason, HasSubstr(GetParam().words));
  std::vector<std::string> kernels;
  for (const auto *kernel : registry.all_kernels())
    if (kernel->plugin->path == path) kernels.push_back(kernel->name());
  EXPECT_EQ(kernels, GetParam().kernels);
}

using Names = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Defects, PartOfAPlugin,
    testing::Values(
        PartDefect{"kernel-without-run", "kernel",
                   "kernel 0 ('com.example.kernel_without_run') of plugin "
                   "'mock-kernel_without_run': its function run is NULL",
                   Names{"com.example.kernel_without_run.second"}},
        PartDefect{"kernel-without-name", "kernel", "kernel 0 of plugin 'mock-kernel_without_name': its name is NULL",
                   Names{"com.example.kernel_without_name.second"}},
        PartDefect{"kernel-null", "kernel", "it is NULL", Names{"com.example.kernel_null.second"}},
        PartDefect{"kernel-small", "kernel", "required members end at 168", Names{"com.example.kernel_small.second"}},
        PartDefect{"kernel-bad-kind", "kernel", "'scale' is not of the form",
                   Names{"com.example.kernel_bad_kind.second"}},
        PartDefect{"kernel-bad-slot", "kernel", "slot 0 ('A') names no alternative",
                   Names{"com.example.kernel_bad_slot.second"}},
        PartDefect{"device-without-ops", "kernel", "no operations", Names{"com.example.device_without_ops.second"}},
        PartDefect{"duplicate-kernel", "duplicate", "kernel 'com.example.duplicate_kernel'",
                   Names{"com.example.duplicate_kernel"}},
        PartDefect{"duplicate-kind", "duplicate",
                   "kind 'com.example.scale/1' of plugin 'mock-duplicate_kind' is already defined "
                   "by plugin 'mock-scale'",
                   Names{"com.example.duplicate_kind", "com.example.duplicate_kind.second"}},
        PartDefect{"kind-without-compare", "kind", "make_case, compare or free_case is NULL",
                   Names{"com.example.kind_without_compare", "com.example.kind_without_compare.second"}},
        PartDefect{"kind-foreign-reference", "kind", "is of kind 'com.example.other/1'",
                   Names{"com.example.kind_foreign_reference", "com.example.kind_foreign_reference.second"}}),
    [](const auto &info) {
      std::string name = info.param.mock;
      for (char &c : name) c = c == '-' ? '_' : c;
      return name;
    });

// ---- files that are broken as files
// ------------------------------------------------------------------------------------

class BrokenFile : public testing::Test {
 protected:
  // The good mock with some of its bytes changed.
  std::string altered(std::size_t at, std::vector<unsigned char> bytes) {
    std::string whole = contents(mock("scale"));
    for (std::size_t i = 0; i < bytes.size(); ++i) whole[at + i] = static_cast<char>(bytes[i]);
    write(folder_ / "x.so", whole);
    return folder_ / "x.so";
  }
  std::string cut(std::size_t bytes) {
    write(folder_ / "x.so", contents(mock("scale")).substr(0, bytes));
    return folder_ / "x.so";
  }
  Folder folder_;
};

TEST_F(BrokenFile, NotElf) {
  write(folder_ / "x.so", "#!/bin/sh\necho a script that was renamed, long enough to hold an ELF header of 64 bytes\n");
  expect_refused(folder_ / "x.so", "open", "not an ELF file");
}

TEST_F(BrokenFile, Empty) {
  write(folder_ / "x.so", "");
  expect_refused(folder_ / "x.so", "open", "the file is empty");
}

TEST_F(BrokenFile, CutInsideItsHeader) {
  expect_refused(cut(40), "open", "cut short: it ends inside its ELF header, after 40");
}

TEST_F(BrokenFile, CutBehindItsHeader) { expect_refused(cut(100), "open", "program headers end beyond its 100 bytes"); }

TEST_F(BrokenFile, CutInTheMiddle) { expect_refused(cut(contents(mock("scale")).size() / 2), "open", "cut short"); }

TEST_F(BrokenFile, CutAtItsEnd) {
  expect_refused(cut(contents(mock("scale")).size() - 1), "open", "section headers end beyond");
}

TEST_F(BrokenFile, OfAnotherArchitecture) {
  expect_refused(altered(offsetof(Elf64_Ehdr, e_machine), {EM_S390, 0}), "open",
                 "wrong architecture: it is for IBM S/390");
}

TEST_F(BrokenFile, Of32Bits) { expect_refused(altered(EI_CLASS, {ELFCLASS32}), "open", "it is a 32-bit file"); }

TEST_F(BrokenFile, OfTheOtherByteOrder) { expect_refused(altered(EI_DATA, {ELFDATA2MSB}), "open", "byte order"); }

TEST_F(BrokenFile, NotASharedObject) {
  expect_refused(altered(offsetof(Elf64_Ehdr, e_type), {ET_REL, 0}), "open", "not a shared object");
}

TEST_F(BrokenFile, DirectoryNamedLikeAPlugin) {
  Registry registry("/nonexistent");
  folder_.directory("x.so");
  EXPECT_EQ(registry.load_path(folder_.path(), {}), 0);
  const auto records = refusals_of(registry, folder_ / "x.so");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].stage, "open");
  EXPECT_THAT(records[0].reason, HasSubstr("directory"));
}

TEST_F(BrokenFile, DanglingLink) {
  Registry registry("/nonexistent");
  fs::create_symlink("/nonexistent/plugin", folder_ / "x.so");
  EXPECT_EQ(registry.load_path(folder_.path(), {}), 0);
  const auto records = refusals_of(registry, folder_ / "x.so");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_THAT(records[0].reason, HasSubstr("No such file"));
}

TEST_F(BrokenFile, Pipe) {  // opening it must not wait for a writer
  ASSERT_EQ(mkfifo((folder_ / "x.so").c_str(), 0600), 0);
  expect_refused(folder_ / "x.so", "open", "not a regular file");
}

TEST_F(BrokenFile, Unreadable) {
  if (geteuid() != 0) {
    write(folder_ / "x.so", contents(mock("scale")));
    fs::permissions(folder_ / "x.so", fs::perms(0));
    expect_refused(folder_ / "x.so", "open", "Permission denied");
    return;
  }
  // Root reads every file; a child without root's rights does not.
  write(folder_ / "x.so", contents(mock("scale")));
  fs::permissions(folder_ / "x.so", fs::perms(0));
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0) _exit(1);
    Registry registry("/nonexistent");
    const bool said = load(registry, folder_ / "x.so").find("Permission denied") != std::string::npos;
    _exit(said ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(BrokenFile, Missing) {
  Registry registry("/nonexistent");
  try {
    registry.load_path(folder_ / "y.so", {});
    FAIL() << "loaded a file that is not there";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_FILE_READ);
    EXPECT_THAT(problem.what(), HasSubstr(folder_ / "y.so"));
    EXPECT_THAT(problem.what(), HasSubstr("No such file"));
  }
}

// A plugin that crashes ends only the child in which it is first loaded.
TEST(CrashingEntry, EndsTheChildOnly) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn it into an exit
    Registry registry("/nonexistent");
    load(registry, mock("entry-crash"));
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}

// The same refusal again makes no second record.
TEST(Refusals, AreRecordedOnce) {
  Registry registry("/nonexistent");
  load(registry, mock("old-major"));
  const std::string again = load(registry, mock("old-major"));
  EXPECT_THAT(again, HasSubstr("abi"));
  EXPECT_EQ(registry.refusals().size(), 1u);
}

}  // namespace
