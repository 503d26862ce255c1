#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each check of the repository's rules passes a small project that keeps them, and fails it once a rule is broken."""

import pathlib
import shutil
import tempfile
import unittest

import check_arrows
import check_links
import check_shell
import check_sizes
import check_spdx
import check_words
import functions

SPDX = "// SPDX-License-" + "Identifier: BSD-3-Clause\n"
# A project that keeps every rule; the tests change one file of it.
PROJECT = {
    ".gitignore": "/build*/\n*.pyc\n",
    "include/sextant/plugin/plugin.h": SPDX + "#include <stdint.h>\nint sxt_rows_of(void);\n",
    "include/sextant/plugin/kinds/spmv.h": SPDX + '#include "sextant/plugin/plugin.h"\n',
    "core/base/error.hpp": SPDX + "#include <string>\n",
    "core/matrix/csr.cpp": SPDX + '#include "core/base/error.hpp"\nint rows(int n) { return n; }\n',
    "abi/matrix.cpp": SPDX + '#include "core/base/error.hpp"\nconst char *suffix = ".so";\n',
    "plugins/spmv/csr/kernel.cpp": SPDX + '#include "rows.hpp"\n#include "sextant/plugin/kinds/spmv.h"\n',
    "plugins/spmv/csr/rows.hpp": SPDX,
    "plugins/spmv/coo/cuda.cu": SPDX + "#include <cuda_runtime.h>\n",
    "tools/sextant/main.cpp": SPDX + '#include "sextant/plugin/plugin.h"\n',
    "tools/run": "#!/usr/bin/env bash\n" + SPDX.replace("//", "#") + 'echo "$1"\n',
    "tests/unit/test_csr.cpp": SPDX + '#include "core/base/error.hpp"\nconst char *name = "spmv.csr.cpu";\n',
    "README.md": "# Rows and `columns`\n\nSee [above](#rows-and-columns), [docs](docs) and [more](docs/models.md#what-else).\n",
    "docs/design.md": "# Design\n\n### Core, from the ground up\n\n| folder |\n|---|\n| `core/base/` |\n| `core/matrix/` |\n",
    "docs/models.md": "# More\n\n## What *else*?\n\n[Back](../README.md), [out](https://example.org/x).\n",
}


class RuleTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="sextant-rules-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in PROJECT.items():
            self.plant(name, text)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def problems(self, check):
        problems, checked = check.check(self.root)
        self.assertGreater(checked, 0)
        return problems

    def assert_found(self, check, name, text, expected):
        """One problem, and its sentence names the file and says `expected`."""
        self.assertEqual(self.problems(check), [])
        self.plant(name, text)
        problems = self.problems(check)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(name, problems[0])
        self.assertIn(expected, problems[0])


class Arrows(RuleTest):
    def check_planted(self, name, line, expected):
        self.assert_found(check_arrows, name, SPDX + line + "\n", expected)

    def test_core_must_not_see_abi(self):
        self.check_planted("core/x.cpp", '#include "abi/guard.hpp"', "core sees core, files, include, names, plot only")

    def test_core_must_not_see_plugins_by_relative_path(self):
        line = '#include "../../plugins/spmv/csr/rows.hpp"'
        self.check_planted("core/matrix/x.cpp", line, "core sees core, files, include, names, plot only")

    def test_folders_of_core_see_those_before_them(self):
        line = '#include "core/matrix/csr.hpp"'
        self.check_planted("core/base/x.hpp", line, "core/base sees only folders that docs/design.md lists before it")

    def test_folders_of_core_see_by_relative_path_what_they_may(self):
        self.plant("core/matrix/csr.hpp", SPDX)
        self.plant("core/matrix/x.cpp", SPDX + '#include "csr.hpp"\n#include "../base/error.hpp"\n')
        self.assertEqual(self.problems(check_arrows), [])
        self.check_planted("core/base/x.cpp", '#include "../matrix/csr.hpp"', "core/base sees only folders")

    def test_a_circle_by_way_of_a_third_folder(self):
        rows = "".join(f"| `core/{name}/` |\n" for name in ("base", "matrix", "plan"))
        self.plant("docs/design.md", f"### Core, from the ground up\n\n{rows}\n# Else\n\n| `core/x/` |\n")
        self.plant("core/plan/plan.hpp", SPDX + '#include "core/matrix/csr.hpp"\n')
        self.check_planted("core/base/x.cpp", '#include "core/plan/plan.hpp"', "core/base sees only folders")

    def test_a_folder_of_core_without_a_place(self):
        self.assertEqual(self.problems(check_arrows), [])
        self.plant("core/plan/plan.hpp", SPDX)
        self.assertEqual(self.problems(check_arrows), ["core/plan is not in the table of docs/design.md"])

    def test_a_place_without_a_folder(self):
        self.plant("docs/design.md", PROJECT["docs/design.md"] + "| `core/plan/` |\n")
        self.assertEqual(self.problems(check_arrows), ["docs/design.md lists core/plan, which is not there"])

    def test_the_retuner_stands_alone(self):
        self.plant("files/output_file.hpp", SPDX)
        self.plant("include/sextant/sdk/launch_choice.hpp", SPDX)
        self.plant("tools/retune/hook/x.cpp", SPDX + '#include "files/output_file.hpp"\n#include "sextant/sdk/launch_choice.hpp"\n')
        self.assertEqual(self.problems(check_arrows), [])
        line = '#include "sextant/plugin/plugin.h"'
        self.check_planted("tools/retune/hook/y.cpp", line, "tools/retune sees its own folder, the SDK and files only")

    def test_core_must_not_see_cuda(self):
        self.check_planted("core/x.cpp", "# include <cuda_runtime.h>", "CUDA stays under plugins/")

    def test_abi_must_not_see_plugins(self):
        self.check_planted("abi/x.cpp", '#include "plugins/spmv/csr/rows.hpp"', "abi sees abi, core, include only")

    def test_plugins_must_not_see_core(self):
        self.check_planted("plugins/spmv/csr/x.cpp", '#include "core/base/error.hpp"', "plugins see include, plugins/formats/")

    def test_plugins_must_not_see_each_other(self):
        self.check_planted("plugins/spmv/coo/x.cpp", '#include "../csr/rows.hpp"', "their own folder only")

    def test_plugins_see_formats_and_what_their_kind_shares(self):
        for name in ("plugins/formats/ell.hpp", "plugins/spmv/shared/rows.hpp", "plugins/spmv/shared/cuda/rows.hpp"):
            self.plant(name, SPDX)
        lines = '#include "plugins/formats/ell.hpp"\n#include "plugins/spmv/shared/cuda/rows.hpp"\n'
        self.plant("plugins/spmv/coo/x.cpp", SPDX + lines)
        self.plant("plugins/spmv/shared/more.hpp", SPDX + '#include "plugins/spmv/shared/rows.hpp"\n')
        self.assertEqual(self.problems(check_arrows), [])

    def test_plugins_must_not_see_what_another_kind_shares(self):
        self.plant("plugins/pcg/shared/parts.hpp", SPDX)
        self.check_planted("plugins/spmv/coo/x.cpp", '#include "plugins/pcg/shared/parts.hpp"', "the shared/ of their kind")

    def test_formats_must_not_see_what_a_kind_shares(self):
        self.plant("plugins/pcg/shared/parts.hpp", SPDX)
        self.check_planted("plugins/formats/x.hpp", '#include "plugins/pcg/shared/parts.hpp"', "plugins see include")

    def test_headers_of_programs_must_not_see_those_of_plugins(self):
        line = '#include "sextant/plugin/plugin.h"'
        self.check_planted("include/sextant/x.h", line, "programs headers do not see plugin")

    def test_headers_in_c_must_not_see_those_in_cpp(self):
        for name in ("include/sextant/sextant.hpp", "include/sextant/cpp/arrays.hpp"):
            self.plant(name, SPDX)
        self.plant("include/sextant/eigen.hpp", SPDX + '#include "sextant/cpp/arrays.hpp"\n#include "sextant/sextant.hpp"\n')
        self.check_planted("include/sextant/x.h", '#include "sextant/sextant.hpp"', "programs headers do not see cpp")

    def test_headers_in_cpp_must_not_see_the_sdk(self):
        self.plant("include/sextant/sdk/kernel.hpp", SPDX)
        self.check_planted("include/sextant/cpp/x.hpp", '#include "sextant/sdk/kernel.hpp"', "cpp headers do not see sdk")

    def test_headers_of_plugins_must_not_see_the_sdk(self):
        self.plant("include/sextant/sdk/kernel.hpp", SPDX)
        self.check_planted("include/sextant/plugin/x.h", '#include "sextant/sdk/kernel.hpp"', "plugin headers do not see sdk")

    def test_helpers_for_cuda_are_for_plugins(self):
        self.plant("include/sextant/sdk/cuda/exec.hpp", SPDX + "#include <cuda_runtime.h>\n")
        self.plant("tools/sextant/templates/spmv/kernel.cu", SPDX + '#include "sextant/sdk/cuda/exec.hpp"\n')  # the text of a plugin
        self.assertEqual(self.problems(check_arrows), [])
        self.check_planted("tools/x.cpp", '#include "sextant/sdk/cuda/exec.hpp"', "CUDA stays under plugins/")

    def test_tools_must_not_see_core(self):
        self.check_planted("tools/x.cpp", '#include "core/base/error.hpp"', "tools sees files, include, names, plot, tools only")

    def test_the_measurement_of_choices_sees_core_and_no_plugin(self):
        lines = '#include "core/base/error.hpp"\n#include "sextant/plugin/plugin.h"\n'
        self.plant("tools/measure/regret/x.cpp", SPDX + lines)
        self.check_planted("tools/measure/regret/y.cpp", '#include "plugins/spmv/csr/rows.hpp"', "tools sees abi, core, files")

    def test_the_model_builder_sees_the_fit_and_nothing_else_of_core(self):
        self.plant("docs/design.md", PROJECT["docs/design.md"] + "| `core/model/` |\n")
        for name in ("fit", "profile"):
            self.plant(f"core/model/{name}.hpp", SPDX)
        self.plant("tools/sextant/model/x.cpp", SPDX + '#include "core/model/fit.hpp"\n')
        self.check_planted("tools/sextant/model/y.cpp", '#include "core/model/profile.hpp"', "tools sees files, include, names")

    def test_other_parts_of_the_command_must_not_see_the_fit(self):
        self.plant("docs/design.md", PROJECT["docs/design.md"] + "| `core/model/` |\n")
        self.plant("core/model/fit.hpp", SPDX)
        self.check_planted("tools/sextant/workbench/x.cpp", '#include "core/model/fit.hpp"', "tools sees files, include, names")

    def test_other_measurements_must_not_see_core(self):
        self.check_planted("tools/measure/x.cpp", '#include "core/base/error.hpp"', "tools sees files, include, names")

    def test_plot_must_see_nothing_else(self):
        self.check_planted("plot/x.cpp", '#include "core/base/error.hpp"', "plot sees plot only")

    def test_bindings_must_not_see_core(self):
        line = "#include <core/base/error.hpp>"
        self.check_planted("bindings/cpp/x.hpp", line, "bindings sees bindings, include only")

    def test_public_headers_see_only_themselves(self):
        self.check_planted("include/sextant/x.h", '#include "core/base/error.hpp"', "include sees include only")

    def test_core_must_not_name_a_kernel(self):
        self.check_planted("core/x.cpp", 'auto k = "spmv.csr.vector.cuda";', 'names the kernel "spmv.csr.vector.cuda"')

    def test_abi_must_not_name_a_plugin(self):
        self.check_planted("abi/x.cpp", 'auto p = "spmv-csr.so";', 'names the shared object "spmv-csr.so"')

    def test_comments_do_not_count(self):
        self.plant("core/x.cpp", SPDX + '// #include "abi/guard.hpp"\n/* "spmv.csr.cpu"\n#include "abi/x.hpp" */\n')
        self.assertEqual(self.problems(check_arrows), [])

    def test_ignored_folders_do_not_count(self):
        self.plant("build-x/core/x.cpp", '#include "abi/guard.hpp"\n')
        self.assertEqual(self.problems(check_arrows), [])


def long_function(head, lines):
    """A function of so many lines, head and closing brace included."""
    return head + " {\n" + "  work();\n" * (lines - 2) + "}\n"


class Links(RuleTest):
    def test_file_that_is_not_there(self):
        missing = "nowhere" + ".md"
        self.assert_found(check_links, "docs/pcg.md", f"[a](models.md) and [b]({missing})\n", f"{missing}, which is not there")

    def test_heading_that_is_not_there(self):
        self.assert_found(check_links, "docs/pcg.md", "[a](models.md#what-ever)\n", "docs/models.md has no such heading")

    def test_heading_of_the_same_file(self):
        self.assert_found(check_links, "docs/pcg.md", "# Here\n[a](#here) [b](#there)\n", "#there")

    def test_function_that_no_header_has(self):
        text = "`sxt_rows_of`, SXT_ROWS_OF and `sxt_rows_*`, but `sxt_rows_off`\n"
        self.assert_found(check_links, "docs/pcg.md", text, "sxt_rows_off, which no source has")

    def test_code_is_no_link(self):
        self.plant("docs/pcg.md", "`f[i](j)`\n\n```cpp\nx[i](k);\n# Not a heading\n```\n")
        self.assertEqual(self.problems(check_links), [])


class Sizes(RuleTest):
    def test_file_of_501_lines(self):
        self.plant("core/x.hpp", SPDX + "\n" * 499)
        self.assertEqual(self.problems(check_sizes), [])
        self.assert_found(check_sizes, "core/x.hpp", SPDX + "\n" * 500, "has 501 lines")

    def test_function_of_61_lines(self):
        self.plant("core/x.cpp", SPDX + long_function("void f(int a)", 60))
        self.assertEqual(self.problems(check_sizes), [])
        self.assert_found(check_sizes, "core/x.cpp", SPDX + long_function("void f(int a)", 61), "f has 61 lines")

    def test_member_of_a_class_in_a_namespace(self):
        text = "namespace a {\nclass B : public C {\n public:\n" + long_function("  int get() const", 61) + "};\n}\n"
        self.assert_found(check_sizes, "core/x.cpp", SPDX + text, "get has 61 lines")

    def test_constructor_with_initialisers(self):
        text = long_function("T::T(int a, std::vector<int> v = {})\n    : a_{a}, v_(v)", 60)
        self.assert_found(check_sizes, "core/x.cpp", SPDX + text, "T::T has 61 lines")

    def test_kernel_bodies_may_have_150_lines(self):
        head = "__global__ void k(int *x)"
        self.plant("plugins/spmv/coo/k.cu", SPDX + long_function(head, 150))
        self.assertEqual(self.problems(check_sizes), [])
        self.assert_found(check_sizes, "plugins/spmv/coo/k.cu", SPDX + long_function(head, 151), "k has 151 lines")

    def test_openmp_makes_a_kernel_only_in_plugins(self):
        text = SPDX + long_function("void k()", 70).replace("  work();", "#pragma omp parallel for", 1)
        self.plant("plugins/spmv/csr/k.cpp", text)
        self.assertEqual(self.problems(check_sizes), [])
        self.assert_found(check_sizes, "core/k.cpp", text, "k has 70 lines")

    def test_python_shell_and_fortran_functions(self):
        self.assert_found(check_sizes, "tools/x.py", "def f():\n" + "    g()\n" * 60, "f has 61 lines")
        self.plant("tools/x.py", "")
        self.assert_found(check_sizes, "tools/x.sh", "f() {\n" + "  g\n" * 59 + "}\n", "f has 61 lines")
        self.plant("tools/x.sh", "")
        fortran = "pure subroutine f(x)\n" + "  x = 1\n" * 59 + "end subroutine\n"
        self.assert_found(check_sizes, "bindings/fortran/x.f90", fortran, "f has 61 lines")

    def test_braces_in_strings_comments_and_directives_do_not_count(self):
        text = (
            'int f() {\n  g("}", \'}\', 1\'000, R"(})"); // }\n'
            "#if A\n  if (x) {\n#else\n  if (y) {\n#endif\n  }\n}\n"
            "int h() { return 1; }\n"
        )
        found = [(f.name, f.first, f.last) for f in functions.c_functions(text)]
        self.assertEqual(found, [("f", 1, 9), ("h", 10, 10)])


class Words(RuleTest):
    def test_a_folder_of_the_machine(self):
        self.assert_found(check_words, "core/x.cpp", "// /" + "work/thing\n", "/" + "work/")

    def test_a_home_folder(self):
        self.assert_found(check_words, "tools/x", 'cd "/' + 'root/x"\n', "/" + "root/")

    def test_relative_folders_are_allowed(self):
        self.plant("tools/x", "ls $DIR/" + "work/x ../" + "root/x\n")
        self.assertEqual(self.problems(check_words), [])

    def test_a_package_host(self):
        self.assert_found(check_words, "README.md", "https://py" + "pi.org/simple\n", "py" + "pi.org")

    def test_a_header_that_is_not_there(self):
        line = "// as sextant/" + "kinds/spmv.h says\n"
        self.assert_found(check_words, "core/x.cpp", line, "sextant/" + "kinds/spmv.h, which is not here")

    def test_a_document_that_is_not_there(self):
        self.assert_found(check_words, "core/x.cpp", "// docs/missing" + ".md says why\n", "which is not here")

    def test_each_of_the_worst_words(self):
        sentences = [
            "nobody asks", "TEST(X, ThatNobodyFills)", "somebody's array", "whoever calls", "who asks for it", "its user and his files",
            "somebody else's", "the crooked array", "SXT_KERNEL_OPPONENT", "in one meeting", "struct SumsMeeting", "a recorded solve",
            "which is had here", "a hand that is laid on it", "3 ms in the mean", "to know better", "for want of memory",
            "at 1 times", "not to its taste", "it shall run", "hitherto", "a stranger's kernel", "the plan has no say",
        ]
        for sentence in sentences:
            self.assertTrue(check_words.worst_words(sentence), sentence)
        for pattern, reason in check_words.WORST:
            self.assertTrue(any(pattern.search(sentence.lower()) for sentence in sentences), reason)

    def test_worst_words_are_found_in_files(self):
        self.assert_found(check_words, "plugins/x.cpp", "int a;\n// nobody asks\n", 'plugins/x.cpp:2 says "nobody"')

    def test_worst_words_on_two_lines(self):
        self.assert_found(check_words, "tools/x.cpp", "// 3 ms in the\n// mean\n", "say on average")

    def test_worst_words_in_messages_of_joined_strings(self):
        joined = ('raise ValueError("no solve for "\n                 "want of memory")\n', "raise ValueError(f'{a} for'\n    f' want of memory')\n",
                  'raise ValueError("for " + "want of memory")\n', 'fail("for "\n     "want of memory");\n')  # fmt: skip
        for text in joined:
            self.assertTrue(check_words.worst_words(text), text)
        self.assert_found(check_words, "bindings/python/sextant/_x.py", joined[0], "for lack of")
        self.assertEqual(check_words.worst_words('say("for", "want", "of")\n'), [])

    def test_common_words_that_look_like_the_worst(self):
        for sentence in ("in the mean of ten", 'names "sy" and "he"', "latency.meetings", "this, when, there, other", "marshalled"):
            self.assertEqual(check_words.worst_words(sentence), [])


class Licence(RuleTest):
    def test_a_source_without_its_line(self):
        self.assert_found(check_spdx, "core/x.cpp", "int x;\n", "has no line")

    def test_a_script_without_its_line(self):
        self.assert_found(check_spdx, "tools/x", "#!/bin/sh\n\n\n# SPDX too late\n", "has no line")


class Shell(RuleTest):
    def test_a_script_that_does_not_parse(self):
        self.assert_found(check_shell, "tools/x", "#!/usr/bin/env bash\nif true; then\n", "syntax error")


if __name__ == "__main__":
    unittest.main()
