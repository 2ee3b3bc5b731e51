#include "temper/doctor/python_report.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "marked_report.h"
#include "temper/base/text.h"
#include "temper/doctor/python_script.h"
#include "tests/base/process/alive.h"
#include "tests/emulator.h"
#include "tests/temp_folder.h"

namespace temper::doctor {
namespace {

namespace fs = std::filesystem;
using End = ProcessResult::End;
using std::chrono::milliseconds;

// A recorded Mac: arm64 conda Python with a universal numpy.
constexpr const char* kMacPackages = R"({
  "interpreter": "/opt/miniforge3/bin/python3", "version": "3.11.9",
  "implementation": "CPython", "architecture": "arm64",
  "architectures": ["arm64"], "translated": false, "bits": 64,
  "prefix": "/opt/miniforge3", "virtual_environment": "",
  "conda": "/opt/miniforge3",
  "packages": [
    {"name": "torch", "version": "2.6.0", "location": "/opt/x/torch",
     "binary": "/opt/x/torch/lib/libtorch_cpu.dylib",
     "architectures": ["arm64"]},
    {"name": "numpy", "version": "2.1.0", "location": "/opt/x/numpy",
     "binary": "/opt/x/numpy/_core/_multiarray_umath.so",
     "architectures": ["arm64", "x86_64"]}]})";

constexpr const char* kMacTorch = R"({
  "step": "done", "imported": true, "version": "2.6.0", "threads": 8,
  "cuda": {"built": false, "available": false},
  "mps": {"built": true, "available": true, "usable": true,
          "float64": false}})";

// A folder with one shell script that plays the interpreter.
class FakePython : public testing::Test {
 protected:
  std::string script(const std::string& body) {
    const auto path = folder_ / "python3";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  // Answers --version, then prints a text for each part.
  std::string python(const std::string& packages, const std::string& torch) {
    return script(
        cat("case \"$*\" in\n--version) echo 'Python 3.11.9' ;;\n",
            "*packages) ",
            packages,
            " ;;\n*torch) ",
            torch,
            " ;;\nesac"));
  }

  std::string print(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return cat("cat '", path.string(), "'");
  }

  // Both parts of the recorded Mac, but for what a test replaces.
  std::string mac_packages() {
    return print("packages.txt", marked(kMacPackages));
  }

  PythonLimits limits_{
      .version = milliseconds{2'000},
      .packages = milliseconds{2'000},
      .torch = milliseconds{2'000}};
  tests::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

using PythonReportTest = FakePython;

TEST_F(PythonReportTest, AMissingInterpreterIsReportedWithTheReason) {
  if (tests::emulated()) GTEST_SKIP() << "the emulator hides it";
  const auto report = inspect_python("/no/such/python");
  EXPECT_FALSE(report.run.ok());
  EXPECT_EQ(report.run.end, End::not_started);
  EXPECT_EQ(report.run.error, "No such file or directory");
  EXPECT_EQ(report.executable, "/no/such/python");
}

TEST_F(PythonReportTest, WithoutANamePython3InThePathIsMeant) {
  const auto path = python(mac_packages(), print("t", marked(kMacTorch)));
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", cat(folder_.string(), ":", before).c_str(), 1);
  const auto report = inspect_python("", limits_);
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(report.asked, "");
  EXPECT_EQ(report.executable, "python3");
  EXPECT_TRUE(report.run.ok()) << report.run.error;
  EXPECT_EQ(report.interpreter, "/opt/miniforge3/bin/python3");
}

TEST_F(PythonReportTest, AFileThatCannotBeExecutedIsReported) {
  if (tests::emulated()) GTEST_SKIP() << "the emulator hides it";
  const auto path = script("echo Python 3.11.9");
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_EQ(inspect_python(path, limits_).run.error, "Permission denied");
  EXPECT_EQ(
      inspect_python(folder_.string(), limits_).run.error, "Permission denied");
}

TEST_F(PythonReportTest, AProgramThatIsNotPythonIsNeverGivenTheScript) {
  const auto touched = folder_ / "touched";
  const auto path = script(
      cat("[ \"$1\" = --version ] && { echo 'shell 5.2'; exit; }\n: > '",
          touched.string(),
          "'"));
  const auto report = inspect_python(path, limits_);
  EXPECT_TRUE(contains(report.run.error, "does not answer to --version"));
  EXPECT_FALSE(fs::exists(touched));
}

TEST_F(PythonReportTest, APythonTooOldForTheScriptIsReported) {
  const auto path = script("echo Python 2.7.18 >&2");
  const auto report = inspect_python(path, limits_);
  EXPECT_TRUE(contains(report.run.error, "Python 2.7 is too old"))
      << report.run.error;
}

TEST_F(PythonReportTest, AnExitCodeComesWithTheLastLineOfTheError) {
  const auto path = python(
      "printf 'Traceback\\nImportError: no \\033[31mos\\377\\n' >&2; exit 1",
      "");
  const auto report = inspect_python(path, limits_);
  EXPECT_EQ(report.run.end, End::exited);
  EXPECT_EQ(report.run.code, 1);
  EXPECT_EQ(report.run.error, "exit code 1: ImportError: no  [31mos ");
}

TEST_F(PythonReportTest, GarbageAndTruncatedReportsAreErrors) {
  const auto error = [&](const std::string& output) {
    return inspect_python(python(print("p", output), ""), limits_).run.error;
  };
  EXPECT_TRUE(contains(error("hello"), "no report"));
  EXPECT_TRUE(contains(error(""), "no report"));
  const auto whole = marked(kMacPackages);
  EXPECT_TRUE(contains(error(whole.substr(0, 300)), "no report"));
  EXPECT_TRUE(contains(error(marked("{\"version\": ")), "not valid JSON"));
  EXPECT_TRUE(contains(error(marked("{\"bits\": NaN}")), "not valid JSON"));
  EXPECT_TRUE(contains(error(marked("\xff\xfe")), "not valid JSON"));
}

TEST_F(PythonReportTest, AFloodOfOutputIsCutOff) {
  const auto path = python("head -c 100000000 /dev/zero", "");
  const auto report = inspect_python(path, limits_);
  EXPECT_EQ(report.run.end, End::too_much_output);
  EXPECT_TRUE(contains(report.run.error, "more than 1.0 MiB of output"));
}

TEST_F(PythonReportTest, ASleeperAndItsChildrenAreEnded) {
  const auto pid = folder_ / "pid";
  const auto path =
      python(cat("sleep 60 & echo $! > '", pid.string(), "'; wait"), "");
  limits_.packages = milliseconds{300};
  const auto report = inspect_python(path, limits_);
  EXPECT_EQ(report.run.end, End::timed_out);
  EXPECT_TRUE(contains(report.run.error, "no end within"));
  std::int64_t number = 0;
  std::ifstream(pid) >> number;
  ASSERT_GT(number, 0);
  EXPECT_FALSE(tests::alive(number));
}

TEST_F(PythonReportTest, ARecordedMacIsReadInFull) {
  const auto path = python(
      cat("echo 'some package says hello'; ", mac_packages(), "; echo bye"),
      print("torch.txt", marked("{\"step\": \"mps\"}") + marked(kMacTorch)));
  const auto report = inspect_python(path, limits_);
  ASSERT_TRUE(report.run.ok()) << report.run.error;
  EXPECT_EQ(report.version, "3.11.9");
  EXPECT_EQ(report.implementation, "CPython");
  EXPECT_EQ(report.architecture, "arm64");
  EXPECT_EQ(report.bits, 64);
  EXPECT_EQ(report.conda, "/opt/miniforge3");
  EXPECT_EQ(report.virtual_environment, "");
  ASSERT_NE(report.package("numpy"), nullptr);
  EXPECT_EQ(
      report.package("numpy")->architectures,
      (std::vector<std::string>{"arm64", "x86_64"}));
  EXPECT_EQ(report.package("keras"), nullptr);
  ASSERT_TRUE(report.torch.run.ok()) << report.torch.run.error;
  EXPECT_TRUE(report.torch.imported);
  EXPECT_EQ(report.torch.version, "2.6.0");
  EXPECT_EQ(report.torch.threads, 8);
  EXPECT_TRUE(report.torch.mps.usable);
  EXPECT_FALSE(report.torch.mps.float64);
  EXPECT_FALSE(report.torch.cuda.built);
}

TEST_F(PythonReportTest, ACrashingTorchStillLeavesTheVersions) {
  const auto path = python(
      mac_packages(),
      cat(print("t", marked(R"({"step": "import", "imported": false})")),
          "; kill -SEGV $$"));
  const auto report = inspect_python(path, limits_);
  EXPECT_TRUE(report.run.ok());
  EXPECT_EQ(report.package("torch")->version, "2.6.0");
  EXPECT_EQ(report.torch.run.end, End::signalled);
  EXPECT_EQ(report.torch.run.code, SIGSEGV);
  EXPECT_EQ(report.torch.step, "import");
}

TEST_F(PythonReportTest, AHangingDeviceTrialLeavesWhatWasKnown) {
  limits_.torch = milliseconds{300};
  const auto path = python(
      mac_packages(),
      cat(print(
              "t",
              marked(R"({"step": "mps", "imported": true, "version": "2.6.0",
                  "mps": {"built": true, "available": true}})")),
          "; sleep 60"));
  const auto report = inspect_python(path, limits_);
  EXPECT_EQ(report.torch.run.end, End::timed_out);
  EXPECT_EQ(report.torch.step, "mps");
  EXPECT_TRUE(report.torch.imported);
  EXPECT_TRUE(report.torch.mps.available);
  EXPECT_FALSE(report.torch.mps.usable);
}

TEST_F(PythonReportTest, TorchIsNotTriedWhereItIsNotInstalled) {
  const auto touched = folder_ / "touched";
  const auto path = python(
      print("p", marked(R"({"version": "3.9.1", "packages": []})")),
      cat(": > '", touched.string(), "'"));
  const auto report = inspect_python(path, limits_);
  EXPECT_TRUE(report.run.ok());
  EXPECT_FALSE(report.torch.run.made);
  EXPECT_FALSE(fs::exists(touched));
}

TEST_F(PythonReportTest, AProgramThatEchoesTheScriptReportsNothing) {
  const auto report = inspect_python(python("cat", "cat"), limits_);
  EXPECT_TRUE(contains(report.run.error, "no report")) << report.run.error;
}

TEST_F(PythonReportTest, ARealPythonIsReadWithoutRunningTheFolderItIsIn) {
  const std::string real = "/usr/bin/python3";
  if (!fs::exists(real)) GTEST_SKIP() << "no " << real << " here";
  const auto before = fs::current_path();
  std::ofstream(folder_ / "json.py") << "raise SystemExit(9)\n";
  fs::current_path(folder_);
  const auto report = inspect_python(real);
  fs::current_path(before);
  ASSERT_TRUE(report.run.ok()) << report.run.error;
  EXPECT_EQ(report.implementation, "CPython");
  EXPECT_GE(*parse_version(report.version), (Version{3, 6, 0}));
  EXPECT_EQ(
      report.architectures, (std::vector<std::string>{report.architecture}));
  EXPECT_FALSE(report.translated);
  EXPECT_FALSE(fs::exists(folder_ / "__pycache__"));
}

TEST_F(PythonReportTest, APythonWithoutMetadataSupportFindsVersionsByName) {
  if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "no python3 here";
  // Python 3.6 and 3.7 lack importlib.metadata; here it is hidden.
  const auto site = folder_ / "site";
  fs::create_directories(site / "tf_keras-2.16.0.dist-info");
  fs::create_directories(site / "keras_core-0.1.7.dist-info");
  std::ofstream(site / "numpy-1.24.2-py3.11.egg-info") << "";
  std::ofstream(site / "sitecustomize.py")
      << "import sys\nsys.modules['importlib.metadata'] = None\n";
  const auto report = inspect_python(script(
      cat("PYTHONPATH='", site.string(), "' exec /usr/bin/python3 \"$@\"")));
  ASSERT_TRUE(report.run.ok()) << report.run.error;
  ASSERT_NE(report.package("tf-keras"), nullptr);
  EXPECT_EQ(report.package("tf-keras")->version, "2.16.0");
  ASSERT_NE(report.package("numpy"), nullptr);
  EXPECT_EQ(report.package("numpy")->version, "1.24.2");
  EXPECT_EQ(report.package("keras"), nullptr);
}

// A torch of our own making, beside a real interpreter: the second part of the
// script is run for what it is.
TEST_F(PythonReportTest, TheScriptTriesTorchStepByStep) {
  if (!fs::exists("/usr/bin/python3")) GTEST_SKIP() << "no python3 here";
  const auto torch = folder_ / "site" / "torch";
  fs::create_directories(torch / "lib");
  fs::create_directories(folder_ / "site" / "torch-2.6.0.dist-info");
  std::ofstream(folder_ / "site" / "torch-2.6.0.dist-info" / "METADATA")
      << "Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0\n";
  // A universal Mach-O header: two entries of 20 bytes.
  std::string fat("\xca\xfe\xba\xbe\0\0\0\2", 8);
  fat += std::string("\x01\0\0\x07", 4) + std::string(16, '\0');
  fat += std::string("\x01\0\0\x0c", 4) + std::string(16, '\0');
  std::ofstream(torch / "lib" / "libtorch_cpu.dylib", std::ios::binary) << fat;
  std::ofstream(torch / "__init__.py") << R"(
print("noise on import")
__version__ = "2.6.0+fake"
def get_num_threads(): return 3
class version: cuda = None
class cuda:
    is_available = staticmethod(lambda: False)
class backends:
    class mps:
        is_built = staticmethod(lambda: True)
        is_available = staticmethod(lambda: True)
def ones(*shape, **more):
    raise RuntimeError("Tried to allocate 256 bytes on shared pool\nmore")
)";
  const auto wrapper = script(
      cat("PYTHONPATH='",
          (folder_ / "site").string(),
          "' exec /usr/bin/python3 \"$@\""));
  const auto report = inspect_python(wrapper);
  ASSERT_TRUE(report.run.ok()) << report.run.error;
  ASSERT_NE(report.package("torch"), nullptr);
  EXPECT_EQ(report.package("torch")->version, "2.6.0");
  EXPECT_EQ(
      report.package("torch")->architectures,
      (std::vector<std::string>{"arm64", "x86_64"}));
  ASSERT_TRUE(report.torch.run.ok()) << report.torch.run.error;
  EXPECT_EQ(report.torch.step, "done");
  EXPECT_EQ(report.torch.version, "2.6.0+fake");
  EXPECT_EQ(report.torch.threads, 3);
  EXPECT_TRUE(report.torch.mps.available);
  EXPECT_FALSE(report.torch.mps.usable);
  EXPECT_EQ(
      report.torch.mps.error,
      "RuntimeError: Tried to allocate 256 bytes on shared pool");

  std::ofstream(torch / "__init__.py") << "import os; os.abort()\n";
  const auto crashed = inspect_python(wrapper);
  EXPECT_EQ(crashed.torch.run.end, End::signalled);
  EXPECT_EQ(crashed.torch.run.code, SIGABRT);
  EXPECT_EQ(crashed.torch.step, "import");
  EXPECT_EQ(crashed.package("torch")->version, "2.6.0");

  std::ofstream(torch / "__init__.py") << "raise OSError('no libomp\\nx')\n";
  const auto failed = inspect_python(wrapper);
  EXPECT_TRUE(failed.torch.run.ok());
  EXPECT_FALSE(failed.torch.imported);
  EXPECT_EQ(failed.torch.error, "OSError: no libomp");
}

} // namespace
} // namespace temper::doctor
