// What the platform is, and its NVIDIA GPUs. The CPU and the memory have tests
// of their own.
#include "temper/machine/linux/linux_facts.h"

#include <gtest/gtest.h>

#include "tests/machine/fake_root.h"

namespace temper::machine {
namespace {

TEST(LinuxPlatform, SystemAndKernelHaveTheirNames) {
  FakeRoot root;
  root.write(
      "/etc/os-release",
      "NAME=\"Debian GNU/Linux\"\n"
      "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  root.write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  root.write("/sys/class/dmi/id/product_name", "PowerEdge R740\n");
  const Platform platform = linux_platform(root.path());
  EXPECT_EQ(platform.os, "linux");
  EXPECT_EQ(platform.version, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(platform.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(platform.model, "PowerEdge R740");
  EXPECT_EQ(platform.container, "");
  EXPECT_EQ(platform.vm, "");
  EXPECT_FALSE(platform.rosetta);
}

TEST(LinuxPlatform, OsReleaseMayBeUnquotedOrElsewhere) {
  FakeRoot root;
  root.write("/usr/lib/os-release", "NAME=Alpine\nVERSION='3.19'\n");
  EXPECT_EQ(linux_platform(root.path()).version, "Alpine 3.19");
  root.write("/etc/os-release", "PRETTY_NAME=\"");
  EXPECT_EQ(linux_platform(root.path()).version, "\"");
  root.write("/etc/os-release", "PRETTY_NAME=\nNAMEX=1\nPRETTY_NAMEX=2");
  EXPECT_EQ(linux_platform(root.path()).version, "Alpine 3.19");
}

TEST(LinuxPlatform, ABoardWithoutDmiIsNamedByItsDeviceTree) {
  FakeRoot root;
  root.write(
      "/sys/firmware/devicetree/base/model",
      std::string_view("Raspberry Pi 5 Model B Rev 1.0\0", 31));
  EXPECT_EQ(
      linux_platform(root.path()).model, "Raspberry Pi 5 Model B Rev 1.0");
}

TEST(LinuxPlatform, EachContainerLeavesItsMark) {
  const auto container = [](const char* file, std::string_view text) {
    FakeRoot root;
    root.write(file, text);
    return linux_platform(root.path()).container;
  };
  EXPECT_EQ(container("/.dockerenv", ""), "docker");
  EXPECT_EQ(container("/run/.containerenv", ""), "podman");
  EXPECT_EQ(container("/.singularity.d/runscript", ""), "singularity");
  EXPECT_EQ(
      container(
          "/proc/1/environ",
          std::string_view("PATH=/bin\0container=lxc\0", 24)),
      "lxc");
  EXPECT_EQ(container("/proc/1/environ", "mycontainer=lxc"), "")
      << "another variable";
  EXPECT_EQ(
      container("/run/systemd/container", "systemd-nspawn\n"),
      "systemd-nspawn");
  EXPECT_EQ(container("/proc/1/cgroup", "4:memory:/docker/4f2a\n"), "docker");
  EXPECT_EQ(container("/proc/1/cgroup", "4:memory:/lxc/web\n"), "lxc");
  EXPECT_EQ(
      container("/proc/self/cgroup", "0::/user.slice/libpod-4f.scope\n"),
      "podman");
  EXPECT_EQ(container("/proc/self/cgroup", "0::/user.slice\n"), "");
}

TEST(LinuxPlatform, APodIsKubernetesWhateverRunsIt) {
  FakeRoot root;
  root.write("/.dockerenv", "");
  root.write("/proc/self/cgroup", "0::/kubepods.slice/pod1\n");
  EXPECT_EQ(linux_platform(root.path()).container, "kubernetes");
  FakeRoot namespaced;
  namespaced.write("/proc/self/cgroup", "0::/\n");
  namespaced.write(
      "/run/secrets/kubernetes.io/serviceaccount/namespace", "default");
  EXPECT_EQ(linux_platform(namespaced.path()).container, "kubernetes");
}

std::string vm(const char* cpuinfo, const char* vendor, const char* product) {
  FakeRoot root;
  root.write("/proc/cpuinfo", cpuinfo);
  root.write("/sys/class/dmi/id/sys_vendor", vendor);
  root.write("/sys/class/dmi/id/product_name", product);
  return linux_platform(root.path()).vm;
}

TEST(LinuxPlatform, AGuestIsToldByItsFlagAndNamedByItsBoard) {
  const char* guest = "flags : fpu hypervisor avx\n";
  EXPECT_EQ(vm(guest, "QEMU", "Standard PC"), "kvm");
  EXPECT_EQ(vm(guest, "VMware, Inc.", "VMware Virtual Platform"), "vmware");
  EXPECT_EQ(vm(guest, "innotek GmbH", "VirtualBox"), "virtualbox");
  EXPECT_EQ(vm(guest, "Microsoft Corporation", "Virtual Machine"), "hyper-v");
  EXPECT_EQ(vm(guest, "Amazon EC2", "m5.large"), "aws");
  EXPECT_EQ(vm(guest, "", ""), "unknown");
}

TEST(LinuxPlatform, AHostIsNoGuest) {
  const char* host = "flags : fpu avx\n";
  EXPECT_EQ(vm(host, "Microsoft Corporation", "Surface Laptop"), "");
  EXPECT_EQ(vm(host, "Amazon EC2", "m5.metal"), "");
  EXPECT_EQ(vm("flags : nohypervisor\n", "QEMU", ""), "");
}

TEST(LinuxPlatform, OnArmTheBoardAloneTells) {
  const char* arm = "Features : fp asimd\n";
  EXPECT_EQ(vm(arm, "Amazon EC2", "c7g.large"), "aws");
  EXPECT_EQ(vm(arm, "Amazon EC2", "c7g.metal"), "");
  EXPECT_EQ(
      vm(arm, "Apple Inc.", "Apple Virtualization Generic Platform"), "apple");
  EXPECT_EQ(vm(arm, "GIGABYTE", "R152-P30"), "");
}

TEST(LinuxPlatform, TheKernelOfWindowsNamesItself) {
  FakeRoot root;
  root.write(
      "/proc/sys/kernel/osrelease", "5.15.133.1-microsoft-standard-WSL2\n");
  EXPECT_EQ(linux_platform(root.path()).vm, "wsl");
}

TEST(LinuxPlatform, NothingReadableIsNothingClaimed) {
  const FakeRoot empty;
  const Platform platform = linux_platform(empty.path());
  EXPECT_EQ(platform.os, "linux");
  EXPECT_EQ(platform.version, "");
  EXPECT_EQ(platform.kernel, "");
  EXPECT_EQ(platform.model, "");
  EXPECT_EQ(platform.container, "");
  EXPECT_EQ(platform.vm, "");
}

TEST(LinuxPlatform, BinaryNamesAreMadeFitToShow) {
  FakeRoot root;
  root.write(
      "/sys/class/dmi/id/product_name", std::string_view("a\x01\x1b[31mb", 8));
  EXPECT_EQ(linux_platform(root.path()).model, "a[31mb");
  root.write("/sys/class/dmi/id/product_name", std::string(100'000, 'x'));
  EXPECT_EQ(linux_platform(root.path()).model.size(), 200U);
}

TEST(LinuxNvidia, TheDriverNamesItsGpusInBusOrder) {
  FakeRoot root;
  root.write(
      "/proc/driver/nvidia/gpus/0000:41:00.0/information",
      "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 203\n");
  root.write(
      "/proc/driver/nvidia/gpus/0000:01:00.0/information",
      "Model: \t\t NVIDIA GeForce RTX 3090\n");
  const auto gpus = linux_nvidia_gpus(root.path());
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].vendor, "nvidia");
  EXPECT_EQ(gpus[0].model, "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(gpus[1].model, "NVIDIA A100-SXM4-40GB");
}

TEST(LinuxNvidia, WithoutADriverThereAreNone) {
  const FakeRoot root;
  EXPECT_TRUE(linux_nvidia_gpus(root.path()).empty());
}

} // namespace
} // namespace temper::machine
