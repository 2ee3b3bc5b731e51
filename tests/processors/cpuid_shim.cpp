// Shows a program another processor than the one it runs on: preloaded, it
// answers the CPUID instruction itself, so that every library below (oneDNN,
// OpenBLAS, ATen, Highway) picks the code it would pick there, and that code
// runs at full speed. It can only hide what this processor has.
//
//   TEMPER_PROCESSOR=zen3 LD_PRELOAD=.../libcpuid_shim.so program
//
// Linux lets a process ask for a fault at each CPUID (arch_prctl), where the
// processor or the virtual machine can do so; Intel's since Ivy Bridge can.
// What the C library chose for memcpy and the like was chosen before.
// Without that ability, with an unknown name, or where there are too few
// instructions to hide, the program ends with 77: skipped.
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace {

struct Registers {
  std::uint32_t a, b, c, d;
};

// The features of leaf 1 (ECX), leaf 7 (EBX, ECX, EDX) and leaf 7.1 (EAX) that
// stay visible, beside those that are everywhere.
struct Processor {
  const char* name;
  const char* vendor; // twelve letters
  std::uint32_t signature; // family, model and stepping, as leaf 1 has them
  bool fma; // AVX, AVX2, FMA and F16C
  bool avx512; // F, DQ, CD, BW and VL
};

constexpr Processor kProcessors[] = {
    {"nehalem", "GenuineIntel", 0x000106A5, false, false},
    {"haswell", "GenuineIntel", 0x000306F2, true, false},
    {"zen3", "AuthenticAMD", 0x00A00F11, true, false},
    {"skylakex", "GenuineIntel", 0x00050654, true, true},
};

constexpr std::uint32_t bit(int index) {
  return std::uint32_t{1} << index;
}

// Leaf 1, ECX.
constexpr std::uint32_t kFma = bit(12) | bit(28) | bit(29); // FMA, AVX, F16C
// Leaf 7, EBX: AVX2 with BMI1 and BMI2.
constexpr std::uint32_t kAvx2 = bit(3) | bit(5) | bit(8);
constexpr std::uint32_t kAvx512 =
    bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
constexpr std::uint32_t kNewer512 = bit(21) | bit(26) | bit(27); // IFMA, ER, PF
constexpr std::uint32_t kShaAndAdx = bit(29) | bit(19);
// Leaf 7, ECX: VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ.
constexpr std::uint32_t kNewerVectors =
    bit(1) | bit(6) | bit(8) | bit(9) | bit(10) | bit(11) | bit(12) | bit(14);
// Leaf 7, EDX: AMX's three, FP16, and two of the Xeon Phi.
constexpr std::uint32_t kTiles =
    bit(22) | bit(24) | bit(25) | bit(23) | bit(2) | bit(3) | bit(8);

const Processor* shown = nullptr;
struct sigaction before {};

long set_cpuid(bool allowed) {
  constexpr int kSetCpuid = 0x1012; // ARCH_SET_CPUID
  return ::syscall(SYS_arch_prctl, kSetCpuid, allowed ? 1L : 0L);
}

Registers cpuid(std::uint32_t leaf, std::uint32_t part) {
  Registers got{};
  __asm__ volatile("cpuid"
                   : "=a"(got.a), "=b"(got.b), "=c"(got.c), "=d"(got.d)
                   : "0"(leaf), "2"(part));
  return got;
}

void put_vendor(Registers& got) {
  std::memcpy(&got.b, shown->vendor, 4);
  std::memcpy(&got.d, shown->vendor + 4, 4);
  std::memcpy(&got.c, shown->vendor + 8, 4);
}

void hide_features(Registers& got, std::uint32_t part) {
  if (part == 1) {
    got = {};
    return;
  }
  if (part > 1) return;
  got.a = 0; // no parts but this one
  got.b &= ~(kNewer512 | kShaAndAdx);
  if (!shown->avx512) got.b &= ~kAvx512;
  if (!shown->fma) got.b &= ~kAvx2;
  got.c &= ~kNewerVectors;
  got.d &= ~kTiles;
}

Registers answer(std::uint32_t leaf, std::uint32_t part) {
  set_cpuid(true);
  Registers got = cpuid(leaf, part);
  set_cpuid(false);
  constexpr std::uint32_t kFeatures = 7;
  constexpr std::uint32_t kFirstOfTiles = 0x1D;
  constexpr std::uint32_t kLastOfTiles = 0x1E;
  constexpr std::uint32_t kExtended = 0x80000000;
  if (leaf == 0 || leaf == kExtended) put_vendor(got);
  if (leaf == 1) {
    got.a = shown->signature;
    if (!shown->fma) got.c &= ~kFma;
  }
  if (leaf == kFeatures) hide_features(got, part);
  if (leaf >= kFirstOfTiles && leaf <= kLastOfTiles) got = {};
  return got;
}

void forward(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
    return;
  }
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
    return;
  }
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(signal, &plain, nullptr); // and again, for good
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  // A jump to nowhere faults with the address it jumped to.
  const bool elsewhere =
      info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR;
  if (elsewhere || code[0] != 0x0F || code[1] != 0xA2) {
    forward(signal, info, context);
    return;
  }
  const Registers got = answer(
      static_cast<std::uint32_t>(registers[REG_RAX]),
      static_cast<std::uint32_t>(registers[REG_RCX]));
  registers[REG_RAX] = got.a;
  registers[REG_RBX] = got.b;
  registers[REG_RCX] = got.c;
  registers[REG_RDX] = got.d;
  registers[REG_RIP] += 2;
}

[[noreturn]] void skip(const char* why) {
  constexpr int kSkipped = 77;
  [[maybe_unused]] auto written = ::write(2, why, std::strlen(why));
  written = ::write(2, "\n", 1);
  ::_exit(kSkipped);
}

// It comes before every other library, the C library's own start included:
// getenv() knows nothing yet.
const char* wanted(char** environment) {
  constexpr char kVariable[] = "TEMPER_PROCESSOR=";
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (std::strncmp(*environment, kVariable, sizeof kVariable - 1) == 0)
      return *environment + sizeof kVariable - 1;
  return nullptr;
}

__attribute__((constructor)) void begin(int, char**, char** environment) {
  const char* name = wanted(environment);
  if (name == nullptr) return;
  for (const Processor& each : kProcessors)
    if (std::strcmp(each.name, name) == 0) shown = &each;
  if (shown == nullptr) skip("cpuid_shim: TEMPER_PROCESSOR is not known");
  const std::uint32_t there = cpuid(7, 0).b;
  if (shown->avx512 && (there & kAvx512) != kAvx512)
    skip("cpuid_shim: this processor has no AVX-512 to show");
  if (shown->fma && (there & kAvx2) != kAvx2)
    skip("cpuid_shim: this processor has no AVX2 to show");
  struct sigaction ours {};
  ours.sa_sigaction = &on_fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  ::sigaction(SIGSEGV, &ours, &before);
  if (set_cpuid(false) != 0)
    skip("cpuid_shim: CPUID cannot be intercepted here");
}

} // namespace
