#include "fake_kernel.h"

#include <ifaddrs.h>
#include <libproc.h>
#include <mach/mach.h>
#include <net/if.h>
#include <notify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysctl.h>

#include <algorithm>
#include <cstring>

using temper::fake::kernel;

namespace temper::fake {

Kernel& kernel() {
  static Kernel one;
  return one;
}

} // namespace temper::fake

extern "C" {

mach_port_t mach_task_self_ = 7;

int sysctlbyname(
    const char* name,
    void* old_value,
    size_t* old_size,
    void*,
    size_t) {
  const auto found = kernel().sysctl.find(name);
  if (found == kernel().sysctl.end()) return -1;
  const std::string& bytes = found->second;
  if (old_value != nullptr) {
    if (*old_size < bytes.size()) return -1;
    std::memcpy(old_value, bytes.data(), bytes.size());
  }
  *old_size = bytes.size();
  return 0;
}

mach_port_t mach_host_self(void) {
  kernel().host_references++;
  return 8;
}
kern_return_t mach_port_deallocate(ipc_space_t, mach_port_name_t name) {
  if (name == 8) kernel().host_references--;
  return KERN_SUCCESS;
}
kern_return_t host_page_size(host_t, vm_size_t* size) {
  *size = 16384;
  return KERN_SUCCESS;
}
kern_return_t host_statistics64(
    host_t,
    host_flavor_t,
    host_info64_t out,
    mach_msg_type_number_t* count) {
  if (*count != HOST_VM_INFO64_COUNT) return 4;
  vm_statistics64_data_t counts = {};
  counts.free_count = 1;
  counts.active_count = 2;
  counts.inactive_count = 3;
  counts.wire_count = 4;
  counts.speculative_count = 5;
  counts.compressor_page_count = 6;
  counts.purgeable_count = 7;
  counts.external_page_count = 8;
  std::memcpy(out, &counts, sizeof counts);
  return KERN_SUCCESS;
}
kern_return_t host_processor_info(
    host_t,
    processor_flavor_t,
    natural_t* cores,
    processor_info_array_t* info,
    mach_msg_type_number_t* count) {
  kernel().mapped_arrays++;
  *cores = 2;
  *count = 2 * CPU_STATE_MAX;
  *info = new integer_t[8]{10, 20, 70, 1, 30, 40, 50, 2};
  return KERN_SUCCESS;
}
kern_return_t vm_deallocate(vm_map_t, vm_address_t address, vm_size_t size) {
  if (size != 8 * sizeof(integer_t)) return 4;
  delete[] reinterpret_cast<integer_t*>(address);
  kernel().mapped_arrays--;
  return KERN_SUCCESS;
}
kern_return_t task_info(
    task_name_t,
    task_flavor_t,
    task_info_t out,
    mach_msg_type_number_t* count) {
  task_vm_info_data_t info = {};
  info.phys_footprint = 500;
  info.ledger_phys_footprint_peak = 900;
  if (kernel().old_task_info) *count -= 2;
  std::memcpy(out, &info, *count * sizeof(natural_t));
  return KERN_SUCCESS;
}

uint32_t notify_register_check(const char*, int* token) {
  kernel().notify_tokens++;
  *token = 3;
  return NOTIFY_STATUS_OK;
}
uint32_t notify_get_state(int, uint64_t* state) {
  *state = kernel().thermal;
  return NOTIFY_STATUS_OK;
}
uint32_t notify_cancel(int) {
  kernel().notify_tokens--;
  return NOTIFY_STATUS_OK;
}

// As the true one: as many as fit, and no word of those that did not.
int proc_pidinfo(int, int, uint64_t, void* buffer, int size) {
  const int one = static_cast<int>(sizeof(proc_fdinfo));
  const int listed = std::min(size / one, kernel().open_files);
  std::memset(buffer, 1, static_cast<std::size_t>(listed * one));
  return listed * one;
}

int statfs(const char* path, struct statfs* info) {
  if (std::strcmp(path, "/Volumes/Data") != 0) return -1;
  info->f_bsize = 4096;
  info->f_blocks = 5000000000;
  info->f_bfree = 70;
  info->f_bavail = 60;
  std::strcpy(info->f_fstypename, "apfs");
  return 0;
}

// en0's Internet address, its link with the counters, and a link without.
int getifaddrs(ifaddrs** list) noexcept {
  static char name[] = "en0";
  static sockaddr internet = {};
  static sockaddr link = {};
  static if_data data = {};
  static ifaddrs entries[3] = {};
  internet.sa_family = AF_INET;
  link.sa_family = AF_LINK;
  data.ifi_ibytes = 4000000000;
  data.ifi_obytes = 17;
  for (ifaddrs& entry : entries) {
    entry.ifa_name = name;
  }
  entries[0].ifa_addr = &internet;
  entries[0].ifa_next = &entries[1];
  entries[1].ifa_addr = &link;
  entries[1].ifa_data = &data;
  entries[1].ifa_next = &entries[2];
  *list = entries;
  kernel().interface_lists++;
  return 0;
}
void freeifaddrs(ifaddrs*) noexcept {
  kernel().interface_lists--;
}

} // extern "C"
