// Stand-in: see README.md. The plain types of Mach's interfaces.
#pragma once

#include <stdint.h>

typedef int boolean_t;
typedef int integer_t;
typedef unsigned int natural_t;
typedef int kern_return_t;
typedef natural_t mach_port_t;
typedef natural_t mach_port_name_t;
typedef natural_t mach_msg_type_number_t;
typedef uintptr_t vm_address_t;
typedef uintptr_t vm_size_t;
typedef uint64_t mach_vm_address_t;
typedef uint64_t mach_vm_size_t;
typedef mach_port_t host_t;
typedef mach_port_t ipc_space_t;
typedef mach_port_t task_inspect_t;
typedef mach_port_t task_name_t;
typedef mach_port_t thread_act_t;
typedef thread_act_t* thread_act_array_t;
typedef mach_port_t vm_map_t;

#define KERN_SUCCESS 0
