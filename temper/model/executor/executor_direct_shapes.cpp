// Direct calls of what moves numbers about without computing, and of means.
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

template <class Call>
StepMaker sized(const char* name, Call call) {
  return [name, call](Arguments& a) -> NodeCall {
    return [call, x = a.tensor("self"), size = a.ints(name), y = a.output()](
               Frame& f) {
      at::DimVector scratch;
      at_slot(f, y) = call(at_slot(f, x), size.get(f, scratch));
    };
  };
}

template <class Call>
StepMaker two_dims(const char* first, const char* second, Call call) {
  return [first, second, call](Arguments& a) -> NodeCall {
    return [call,
            x = a.tensor("self"),
            one = a.number(first),
            two = a.number(second),
            y = a.output()](Frame& f) {
      at_slot(f, y) = call(at_slot(f, x), one.integer(f), two.integer(f));
    };
  };
}

NodeCall unsqueeze(Arguments& a) {
  return
      [x = a.tensor("self"), dim = a.number("dim"), y = a.output()](Frame& f) {
        at_slot(f, y) = at_slot(f, x).unsqueeze(dim.integer(f));
      };
}

NodeCall expand(Arguments& a) {
  if (a.boolean("implicit")) return {};
  return
      [x = a.tensor("self"), size = a.ints("size"), y = a.output()](Frame& f) {
        at::DimVector scratch;
        at_slot(f, y) = at_slot(f, x).expand(size.get(f, scratch));
      };
}

NodeCall mean(Arguments& a) {
  if (a.given("dtype") || !a.given("dim")) return {};
  return [x = a.tensor("self"),
          dim = a.ints("dim"),
          keep = a.boolean("keepdim"),
          y = a.output()](Frame& f) {
    at::DimVector scratch;
    at_slot(f, y) = at::mean(at_slot(f, x), dim.get(f, scratch), keep);
  };
}

NodeCall concatenate(Arguments& a) {
  return [parts = a.tensors("tensors"), dim = a.number("dim"), y = a.output()](
             Frame& f) {
    std::vector<at::Tensor> tensors;
    tensors.reserve(parts.size());
    for (const int part : parts)
      tensors.push_back(at_slot(f, part));
    at_slot(f, y) = at::cat(tensors, dim.integer(f));
  };
}

NodeCall chunk(Arguments& a) {
  return [x = a.tensor("self"),
          chunks = a.number("chunks"),
          dim = a.number("dim"),
          outputs = a.list_output()](Frame& f) {
    auto parts = at::chunk(at_slot(f, x), chunks.integer(f), dim.integer(f));
    TORCH_CHECK(
        parts.size() == outputs.size(),
        "chunk gave ",
        parts.size(),
        " parts where the graph has ",
        outputs.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
      at_slot(f, outputs[i]) = std::move(parts[i]);
  };
}

} // namespace

const StepMakers& direct_shapes() {
  using T = const at::Tensor&;
  using I = std::int64_t;
  static const StepMakers table{
      {"aten.cat.default", concatenate},
      {"aten.chunk.default", chunk},
      {"aten.expand.default", expand},
      {"aten.flatten.using_ints",
       two_dims(
           "start_dim",
           "end_dim",
           [](T x, I start, I end) { return at::flatten(x, start, end); })},
      {"aten.mean.dim", mean},
      {"aten.permute.default",
       sized("dims", [](T x, at::IntArrayRef d) { return x.permute(d); })},
      {"aten.reshape.default",
       sized("shape", [](T x, at::IntArrayRef s) { return x.reshape(s); })},
      {"aten.select.int",
       two_dims(
           "dim", "index", [](T x, I dim, I i) { return x.select(dim, i); })},
      {"aten.transpose.int",
       two_dims(
           "dim0",
           "dim1",
           [](T x, I one, I two) { return x.transpose(one, two); })},
      {"aten.unsqueeze.default", unsqueeze},
      // An exported view is one of a contiguous tensor. With its channels last
      // the same elements may need a copy, which is what reshape makes then.
      {"aten.view.default",
       sized("size", [](T x, at::IntArrayRef s) { return x.reshape(s); })},
  };
  return table;
}

} // namespace temper::model
