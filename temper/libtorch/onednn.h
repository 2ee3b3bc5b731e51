// Settings of oneDNN, LibTorch's library of convolutions, which must be made
// before it computes anything. It is found by name at run time: a LibTorch that
// hides its own copy is left alone. Used by whoever makes a model. No torch.
#pragma once

namespace temper::libtorch {

// Keeps oneDNN 2 (LibTorch 1.13) from Intel's tile instructions (AMX): its half
// precision convolutions end the process there with an illegal instruction. Has
// no effect after the first convolution, and none where the user chose with
// ONEDNN_MAX_CPU_ISA. Cheap; any thread may call.
void keep_onednn_from_tiles();

} // namespace temper::libtorch
