// BatchNorm over groups of a fixed number of samples: each group has its own
// statistics, the running ones are those of all groups of an update together
// and move once an update. However a batch is split between groups, results are
// the same. Used by the executor. Includes torch: see module.h.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "temper/model/executor/executor_steps.h"
#include "temper/model/module/module.h"

namespace temper::model {

// {8, 8, 8, 13} for 37 samples in groups of 8: what is left over belongs to the
// last.
std::vector<std::int64_t> group_sizes(std::int64_t samples, std::int64_t group);

class GroupedNorms {
 public:
  // `fuse`: kernels of our own compute what they take.
  GroupedNorms(std::int64_t group, bool fuse) : group_(group), fuse_(fuse) {}

  // Steps for every BatchNorm operator; they keep a pointer to this.
  StepMakers makers();

  // Around all slices of an update. An update that ends early is forgotten by
  // the next begin().
  void begin(const std::vector<NamedTensor>& buffers);
  void end();

 private:
  // Mean and squared distances of the values seen so far, a number a channel.
  struct Pool {
    at::Tensor mean;
    at::Tensor squares;
    double count = 0;

    void add(const Pool& other);
  };
  struct Layer {
    at::Tensor running_mean;
    at::Tensor running_var;
    double momentum = 0;
    Pool pool;
  };
  struct Call {
    int layer = 0;
    at::Tensor input, weight, bias, running_mean, running_var;
    double momentum = 0;
    double eps = 0;
  };

  NodeCall step_of(Arguments& arguments);
  at::Tensor normalise(const Call& call);
  // One group; mean and var, where defined, become its statistics.
  at::Tensor normalise_group(
      const Call& call,
      const at::Tensor& part,
      const at::Tensor& mean,
      const at::Tensor& var) const;
  void pool(const Call& call, const Pool& group);

  std::int64_t group_;
  bool fuse_;
  int layers_made_ = 0;
  bool open_ = false;
  std::map<c10::TensorImpl*, at::Tensor> buffers_; // the module's own
  std::vector<std::pair<at::Tensor, at::Tensor>> counters_; // and before
  std::map<int, Layer> layers_; // in the order of the graph
};

} // namespace temper::model
