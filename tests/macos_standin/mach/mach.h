// Stand-in: see README.md.
#pragma once

#include "mach/mach_host.h"
#include "mach/mach_types.h"
#include "mach/task_info.h"

extern "C" {
extern mach_port_t mach_task_self_;
#define mach_task_self() mach_task_self_

mach_port_t mach_host_self(void);
kern_return_t host_page_size(host_t host, vm_size_t* out_page_size);
kern_return_t mach_port_deallocate(ipc_space_t task, mach_port_name_t name);
kern_return_t task_info(
    task_name_t target_task,
    task_flavor_t flavor,
    task_info_t task_info_out,
    mach_msg_type_number_t* task_info_out_count);
kern_return_t task_threads(
    task_inspect_t target_task,
    thread_act_array_t* threads,
    mach_msg_type_number_t* count);
kern_return_t
vm_deallocate(vm_map_t target_task, vm_address_t address, vm_size_t size);
}
