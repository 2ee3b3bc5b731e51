// Direct calls of the layers that most networks are made of. Each gives the
// same bits as the boxed call; a test compares them all.
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

template <class Call>
StepMaker unary(Call call) {
  return [call](Arguments& a) -> NodeCall {
    return [call, x = a.tensor("self"), y = a.output()](Frame& f) {
      at_slot(f, y) = call(at_slot(f, x));
    };
  };
}

template <class Call>
StepMaker binary(const char* right, Call call) {
  return [right, call](Arguments& a) -> NodeCall {
    return
        [call, x = a.tensor("self"), z = a.tensor(right), y = a.output()](
            Frame& f) { at_slot(f, y) = call(at_slot(f, x), at_slot(f, z)); };
  };
}

// add and sub: the right side may be scaled.
template <class Call>
StepMaker scaled_pair(Call call) {
  return [call](Arguments& a) -> NodeCall {
    return [call,
            x = a.tensor("self"),
            z = a.tensor("other"),
            alpha = a.number("alpha"),
            y = a.output()](Frame& f) {
      at_slot(f, y) = call(at_slot(f, x), at_slot(f, z), alpha.get(f));
    };
  };
}

template <class Call>
StepMaker clamped(Call call) {
  return [call](Arguments& a) -> NodeCall {
    return [call,
            x = a.tensor("self"),
            low = a.number("min_val"),
            high = a.number("max_val"),
            y = a.output()](Frame& f) {
      at_slot(f, y) = call(at_slot(f, x), low.get(f), high.get(f));
    };
  };
}

template <class Call>
StepMaker along(Call call) {
  return [call](Arguments& a) -> NodeCall {
    if (a.given("dtype")) return {};
    return
        [call, x = a.tensor("self"), dim = a.number("dim"), y = a.output()](
            Frame& f) { at_slot(f, y) = call(at_slot(f, x), dim.integer(f)); };
  };
}

NodeCall conv2d(Arguments& a) {
  return [x = a.tensor("input"),
          weight = a.tensor("weight"),
          bias = a.optional_tensor("bias"),
          stride = a.ints("stride"),
          padding = a.ints("padding"),
          dilation = a.ints("dilation"),
          groups = a.number("groups"),
          y = a.output()](Frame& f) {
    at::DimVector s, p, d;
    at_slot(f, y) = at::conv2d(
        at_slot(f, x),
        at_slot(f, weight),
        at_slot(f, bias),
        stride.get(f, s),
        padding.get(f, p),
        dilation.get(f, d),
        groups.integer(f));
  };
}

NodeCall direct_batch_norm(Arguments& a) {
  return [x = a.tensor("input"),
          weight = a.optional_tensor("weight"),
          bias = a.optional_tensor("bias"),
          mean = a.optional_tensor("running_mean"),
          var = a.optional_tensor("running_var"),
          training = a.boolean("training"),
          momentum = a.number("momentum"),
          eps = a.number("eps"),
          cudnn = a.boolean("cudnn_enabled"),
          y = a.output()](Frame& f) {
    if (training) check_values_a_channel(at_slot(f, x));
    at_slot(f, y) = at::batch_norm(
        at_slot(f, x),
        at_slot(f, weight),
        at_slot(f, bias),
        at_slot(f, mean),
        at_slot(f, var),
        training,
        momentum.real(f),
        eps.real(f),
        cudnn);
  };
}

NodeCall linear(Arguments& a) {
  return [x = a.tensor("input"),
          weight = a.tensor("weight"),
          bias = a.optional_tensor("bias"),
          y = a.output()](Frame& f) {
    at_slot(f, y) =
        at::linear(at_slot(f, x), at_slot(f, weight), at_slot(f, bias));
  };
}

NodeCall layer_norm(Arguments& a) {
  return [x = a.tensor("input"),
          shape = a.ints("normalized_shape"),
          weight = a.optional_tensor("weight"),
          bias = a.optional_tensor("bias"),
          eps = a.number("eps"),
          cudnn = a.boolean("cudnn_enable"),
          y = a.output()](Frame& f) {
    at::DimVector s;
    at_slot(f, y) = at::layer_norm(
        at_slot(f, x),
        shape.get(f, s),
        at_slot(f, weight),
        at_slot(f, bias),
        eps.real(f),
        cudnn);
  };
}

NodeCall dropout(Arguments& a) {
  return [x = a.tensor("input"),
          p = a.number("p"),
          train = a.boolean("train"),
          y = a.output()](Frame& f) {
    at_slot(f, y) = at::dropout(at_slot(f, x), p.real(f), train);
  };
}

NodeCall embedding(Arguments& a) {
  return [weight = a.tensor("weight"),
          indices = a.tensor("indices"),
          padding = a.number("padding_idx"),
          by_frequency = a.boolean("scale_grad_by_freq"),
          sparse = a.boolean("sparse"),
          y = a.output()](Frame& f) {
    at_slot(f, y) = at::embedding(
        at_slot(f, weight),
        at_slot(f, indices),
        padding.integer(f),
        by_frequency,
        sparse);
  };
}

NodeCall gelu(Arguments& a) {
  return [x = a.tensor("self"), how = a.text("approximate"), y = a.output()](
             Frame& f) { at_slot(f, y) = at::gelu(at_slot(f, x), how); };
}

NodeCall max_pool2d(Arguments& a) {
  return [x = a.tensor("self"),
          kernel = a.ints("kernel_size"),
          stride = a.ints("stride"),
          padding = a.ints("padding"),
          dilation = a.ints("dilation"),
          ceil = a.boolean("ceil_mode"),
          y = a.output()](Frame& f) {
    at::DimVector k, s, p, d;
    at_slot(f, y) = at::max_pool2d(
        at_slot(f, x),
        kernel.get(f, k),
        stride.get(f, s),
        padding.get(f, p),
        dilation.get(f, d),
        ceil);
  };
}

NodeCall avg_pool2d(Arguments& a) {
  if (a.given("divisor_override")) return {};
  return [x = a.tensor("self"),
          kernel = a.ints("kernel_size"),
          stride = a.ints("stride"),
          padding = a.ints("padding"),
          ceil = a.boolean("ceil_mode"),
          count_padding = a.boolean("count_include_pad"),
          y = a.output()](Frame& f) {
    at::DimVector k, s, p;
    at_slot(f, y) = at::avg_pool2d(
        at_slot(f, x),
        kernel.get(f, k),
        stride.get(f, s),
        padding.get(f, p),
        ceil,
        count_padding);
  };
}

NodeCall adaptive_avg_pool2d(Arguments& a) {
  return [x = a.tensor("self"), size = a.ints("output_size"), y = a.output()](
             Frame& f) {
    at::DimVector s;
    at_slot(f, y) = at::adaptive_avg_pool2d(at_slot(f, x), size.get(f, s));
  };
}

} // namespace

const StepMakers& direct_layers() {
  using T = const at::Tensor&;
  using M = at::Tensor&;
  using S = const at::Scalar&;
  static const StepMakers table{
      {"aten.adaptive_avg_pool2d.default", adaptive_avg_pool2d},
      {"aten.add.Tensor",
       scaled_pair([](T x, T z, S alpha) { return at::add(x, z, alpha); })},
      {"aten.add_.Tensor",
       scaled_pair([](M x, T z, S alpha) { return x.add_(z, alpha); })},
      {"aten.avg_pool2d.default", avg_pool2d},
      {"aten.batch_norm.default", direct_batch_norm},
      {"aten.bmm.default",
       binary("mat2", [](T x, T z) { return at::bmm(x, z); })},
      {"aten.conv2d.default", conv2d},
      {"aten.div.Tensor",
       binary("other", [](T x, T z) { return at::div(x, z); })},
      {"aten.dropout.default", dropout},
      {"aten.embedding.default", embedding},
      {"aten.gelu.default", gelu},
      {"aten.hardswish.default", unary([](T x) { return at::hardswish(x); })},
      {"aten.hardswish_.default", unary([](M x) { return at::hardswish_(x); })},
      {"aten.hardtanh.default",
       clamped([](T x, S low, S high) { return at::hardtanh(x, low, high); })},
      {"aten.hardtanh_.default",
       clamped([](M x, S low, S high) { return at::hardtanh_(x, low, high); })},
      {"aten.layer_norm.default", layer_norm},
      {"aten.linear.default", linear},
      {"aten.log_softmax.int",
       along([](T x, std::int64_t dim) { return at::log_softmax(x, dim); })},
      {"aten.matmul.default",
       binary("other", [](T x, T z) { return at::matmul(x, z); })},
      {"aten.max_pool2d.default", max_pool2d},
      {"aten.mul.Tensor",
       binary("other", [](T x, T z) { return at::mul(x, z); })},
      {"aten.relu.default", unary([](T x) { return at::relu(x); })},
      {"aten.relu_.default", unary([](M x) { return at::relu_(x); })},
      {"aten.sigmoid.default", unary([](T x) { return at::sigmoid(x); })},
      {"aten.silu.default", unary([](T x) { return at::silu(x); })},
      {"aten.silu_.default", unary([](M x) { return at::silu_(x); })},
      {"aten.softmax.int",
       along([](T x, std::int64_t dim) { return at::softmax(x, dim); })},
      {"aten.sub.Tensor",
       scaled_pair([](T x, T z, S alpha) { return at::sub(x, z, alpha); })},
      {"aten.tanh.default", unary([](T x) { return at::tanh(x); })},
  };
  return table;
}

} // namespace temper::model
