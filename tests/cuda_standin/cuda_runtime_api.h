// The part of CUDA's runtime interface that LibTorch's headers and temper's
// calls need, declared as CUDA documents it, so that they compile without CUDA.
#pragma once

#include <cstddef>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600
};

enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};

enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0 };

enum cudaMemcpyKind { cudaMemcpyDefault = 4 };

struct CUstream_st;
using cudaStream_t = CUstream_st*;

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes);
cudaError_t cudaGetLastError();
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamIsCapturing(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
cudaError_t cudaMemcpyAsync(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream);
