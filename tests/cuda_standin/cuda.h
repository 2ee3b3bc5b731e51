// CUDA's driver interface: included by LibTorch's headers, needed by nobody.
#pragma once
