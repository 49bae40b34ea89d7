"""The rules find what they are there for, and nothing else: each reads a small tree with known mistakes."""

import tempfile
import unittest
from pathlib import Path

import budgets
import environment
import layering
import links
import mirror
import operations
import preprocessor
import tree
import wording

ARCHITECTURE = """
| folder | holds | may include |
|---|---|---|
| `runtime/` | tensors | |
| `ops/` | operations | `runtime/` |
| `comm/` | collectives | `runtime/` |

| headers | included only in | package |
|---|---|---|
| `mpi.h` | `comm/mpi/` | Open MPI |
| `cuda*.h` | `*_cuda.cu` `*/cuda/*` | CUDA |
"""


def lines(count, line="x();"):
    return "\n".join([line] * count)


class RuleTest(unittest.TestCase):
    def found(self, check, files):
        """path:line of every violation in a tree of `files`, path -> text."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                target = Path(root) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
            return [f"{violation.path}:{violation.line}" for violation in sorted(check(tree.Tree(root)))]

    def test_layering_follows_the_table_of_folders(self):
        files = {
            "docs/architecture.md": ARCHITECTURE,
            "runtime/tensor.h": '#pragma once\n#include <vector>\n#include "ops/relu.h"\n',
            "ops/relu.h": '#include "runtime/tensor.h"\n#include "ops/relu.h"\n#include "comm/ring.h"\n',
            "comm/ring.h": '#include "build_config.h"\n#include "proto/state.pb.h"\n// #include "ops/relu.h"\n',
            "models/cnn.h": '#include "runtime/tensor.h"\n',
            "tests/runtime/tensor_test.cpp": '#include "ops/relu.h"\n',
        }
        self.assertEqual(self.found(layering.check, files), ["models/cnn.h:1", "ops/relu.h:3", "runtime/tensor.h:3"])

    def test_layering_wants_includes_from_the_root(self):
        files = {
            "docs/architecture.md": ARCHITECTURE,
            "ops/relu.h": "",
            "ops/relu.cpp": '#include "relu.h"\n#include "ops/relu.h"\n#include "vector"\n',
        }
        self.assertEqual(self.found(layering.check, files), ["ops/relu.cpp:1", "ops/relu.cpp:3"])

    def test_layering_keeps_libraries_where_they_belong(self):
        files = {
            "docs/architecture.md": ARCHITECTURE,
            "comm/mpi/transport.cpp": "#include <mpi.h>\n#include <sys/mman.h>\n#include <cuda_runtime.h>\n",
            "comm/ring.cpp": "#include <mpi.h>\n#include <unordered_map>\n#include <cstdint>\n",
            "ops/relu_cuda.cu": "#include <cuda_fp16.h>\n#include <boost/any.hpp>\n",
            "runtime/cuda/device_cuda.cu": "#include <cuda_runtime.h>\n",
        }
        self.assertEqual(self.found(layering.check, files),
                         ["comm/mpi/transport.cpp:3", "comm/ring.cpp:1", "ops/relu_cuda.cu:2"])

    def test_layering_reads_the_build_files(self):
        files = {
            "docs/architecture.md": ARCHITECTURE,
            "ops/CMakeLists.txt": "# not lockstep_comm\nlockstep_library(ops DEPS lockstep_runtime lockstep_comm)\n",
        }
        self.assertEqual(self.found(layering.check, files), ["ops/CMakeLists.txt:2"])

    def test_mirror_wants_a_test_for_every_implementation(self):
        files = {path: "" for path in (
            "ops/relu/relu.cpp", "ops/relu/relu_cpu.cpp", "ops/relu/relu_cuda.cu", "ops/relu/relu.h",
            "ops/conv/conv.cpp", "comm/ring.cpp", "launcher/train_main.cpp", "tests/ops/relu_test.cpp",
            "tests/comm/deep/ring_test.cpp", "tests/models/conv_test.cpp", "tests/support/helper.cpp")}
        self.assertEqual(self.found(mirror.check, files), ["ops/conv/conv.cpp:1"])

    def test_preprocessor_conditionals_are_refused(self):
        scalar_math = "#pragma once\n#ifdef __CUDACC__\n#define HOST_DEVICE __host__\n#else\n#define HOST_DEVICE\n#endif\n"
        files = {
            "ops/elementwise/scalar_math.h": scalar_math,
            "ops/other.h": scalar_math,
            "runtime/guarded.h": "#ifndef GUARD\n#define GUARD\n#endif\n",
            "runtime/fine.h": "// About it.\n#pragma once\n// #if 0\nconst char* text = \"#if\";\n",
            "tests/runtime/a_test.cpp": "int x;\n  # if 1\n",
        }
        self.assertEqual(self.found(preprocessor.check, files),
                         ["ops/other.h:2", "ops/other.h:4", "ops/other.h:6", "runtime/guarded.h:1", "runtime/guarded.h:1",
                          "runtime/guarded.h:3", "tests/runtime/a_test.cpp:2"])

    def test_the_second_conditional_of_scalar_math_is_refused(self):
        twice = "#pragma once\n" + "#ifdef __CUDACC__\n#else\n#endif\n" * 2
        self.assertEqual(len(self.found(preprocessor.check, {"ops/elementwise/scalar_math.h": twice})), 6)

    def test_environment_is_read_in_one_file(self):
        call = "// getenv in a comment\nauto* home = std::getenv(\"HOME\");\n"
        files = {"launcher/environment.cpp": call, "comm/ring.cpp": call, "tests/comm/ring_test.cpp": call}
        self.assertEqual(self.found(environment.check, files), ["comm/ring.cpp:2", "tests/comm/ring_test.cpp:2"])

    def test_file_budgets(self):
        files = {"ops/a.h": lines(251, "//"), "ops/b.h": lines(250, "//"), "ops/a.cpp": lines(401, "//"),
                 "ops/b.cpp": lines(400, "//"), "tests/ops/a_test.cpp": lines(501, "//"),
                 "tests/ops/b_test.cpp": lines(500, "//")}
        self.assertEqual(self.found(budgets.check, files), ["ops/a.cpp:401", "ops/a.h:251", "tests/ops/a_test.cpp:501"])

    def test_function_budget_counts_from_the_signature_to_the_brace(self):
        files = {"ops/a.cpp": f"int fits(int x) {{\n{lines(58)}\n}}\n\nint long_one(\n    int x) {{\n{lines(58)}\n}}\n"}
        self.assertEqual(self.found(budgets.check, files), ["ops/a.cpp:62"])

    def test_links_of_the_documentation_lead_somewhere(self):
        files = {
            "runtime/tensor.h": "",
            "README.md": "[page](docs/page.md#the-same-bits-4), [none](docs/none.md), [web](https://example.org)\n"
                         "`runtime/tensor`, `runtime/tensor.h`, `build/release/bin`, `runtime/<name>.h`\n"
                         "`runtime/missing.h`\n",
            "docs/page.md": "## The same bits: 4\n[here](#the-same-bits-4)\n[there](#there)\n",
        }
        self.assertEqual(self.found(links.check, files), ["README.md:1", "README.md:3", "docs/page.md:3"])

    def test_every_operation_is_in_the_table(self):
        files = {
            "ops/CMakeLists.txt": "# add_op(comment)\nadd_op(relu)\nadd_op(re)\n",
            "docs/operations.md": f"| [relu]({'..'}/ops/relu/relu.h) | Rectified linear unit. |\n",
        }
        self.assertEqual(self.found(operations.check, files), ["ops/CMakeLists.txt:3"])

    def test_operations_say_what_they_do_with_bf16(self):
        files = {
            "ops/CMakeLists.txt": "add_op(relu)\n",
            "docs/operations.md": f"| [relu]({'..'}/ops/relu/relu.h) | Unit. | f32 | f32 only | 0 |\n",
            "ops/precision.cpp": """    {"relu", kF32Inside},
    case kF32Inside:
      return "f32 inside";
    case kRefused:
      break;
  }
  return "f32 only";
""",
        }
        self.assertEqual(self.found(operations.check, files), ["docs/operations.md:1"])
        files["docs/operations.md"] = files["docs/operations.md"].replace("f32 only", "f32 inside")
        self.assertEqual(self.found(operations.check, files), [])

    def test_reminders_and_private_paths_are_found(self):
        up = ".." + "/"
        files = {
            "ops/a.cpp": "// TO" + "DO: later\nint todo;\n",
            "docs/guide.md": f"see `/ho{'me'}/me/notes`, [here]({up}ops/a.cpp)\nand `{up}elsewhere/b.md`, {up}{up}c\n",
            "README.md": "read /usr/share/doc, s/work/play and build/home/x\n",
        }
        self.assertEqual(self.found(wording.check, files),
                         ["docs/guide.md:1", "docs/guide.md:2", "docs/guide.md:2", "ops/a.cpp:1"])


class FunctionsTest(unittest.TestCase):
    """budgets.functions() knows functions from other braces."""

    def names(self, code):
        return [name for _, _, name in budgets.functions(tree.bare_code(code))]

    def test_namespaces_classes_and_values_are_no_functions(self):
        self.assertEqual(self.names("""
            namespace lockstep::comm {
            struct Row { int a{1}; std::vector<int> b = {1, 2}; };
            enum class Kind : uint8_t { kA, kB };
            constexpr Row kRows[] = {{1}, {call(2)}};
            const auto kTable = make({1, 2});
            std::array<int, 2> pair{f(1), 2};
            const auto kLambda = [](int x) { return x; };
            }"""), [])

    def test_functions_of_every_form(self):
        code = """
            template <class T, class U = std::vector<int>>
            auto first(T x) -> decltype(x) { if (x) { return {x}; } for (;;) {} }
            class A final : public B {
             public:
              A(int x) : x_{x}, y_(x), z_{} { run(); }
              ~A() { }
              bool operator==(const A&) const = default;
              int second(Options options = {}) const noexcept override { return [&] { return x_; }(); }
             private:
              int x_{0};
            };
            int& A::third(struct stat* s) & { char c = '{'; const char* t = "}"; /* } */ return x_; }
            TEST(Suite, Name) { EXPECT_EQ(1'000, 1000); }"""
        self.assertEqual(self.names(code), ["first", "A", "~A", "second", "A::third", "TEST"])

    def test_a_member_initialiser_in_braces_does_not_hide_the_body(self):
        code = "A::A(int x)\n    : x_{x},\n      y_{x} {\n" + lines(60) + "\n}\nint next() {\n}\n"
        self.assertEqual(budgets.functions(code), [(1, 64, "A::A"), (65, 66, "next")])


if __name__ == "__main__":
    unittest.main()
