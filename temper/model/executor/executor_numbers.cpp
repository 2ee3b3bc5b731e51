// The plain numbers of a graph: sizes of tensors, arithmetic on them, and the
// exporter's checks. Integers follow Python: division rounds down, the
// remainder has the divisor's sign.
#include <cmath>
#include <limits>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/executor/executor_errors.h"
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

using at::Scalar;
using Int = std::int64_t;

Number operand(Arguments& a, std::size_t index) {
  const auto& inputs = a.node().inputs;
  if (index >= inputs.size()) a.refuse(cat(index), "is absent");
  return a.number_of(inputs[index].value, inputs[index].name);
}

template <class Call>
StepMaker two(Call call) {
  return [call](Arguments& a) -> NodeCall {
    const auto out = static_cast<std::size_t>(a.number_output());
    return [call, x = operand(a, 0), z = operand(a, 1), out](Frame& f) {
      f.numbers[out] = call(x.get(f), z.get(f));
    };
  };
}

template <class Call>
StepMaker one(Call call) {
  return [call](Arguments& a) -> NodeCall {
    const auto out = static_cast<std::size_t>(a.number_output());
    return [call, x = operand(a, 0), out](Frame& f) {
      f.numbers[out] = call(x.get(f));
    };
  };
}

template <class Call>
StepMaker of_tensor(Call call) {
  return [call](Arguments& a) -> NodeCall {
    const auto out = static_cast<std::size_t>(a.number_output());
    const Number dim = a.number("dim", 0);
    return [call, x = a.tensor("self"), dim, out](Frame& f) {
      f.numbers[out] = Scalar(call(at_slot(f, x), dim.integer(f)));
    };
  };
}

bool both_whole(const Scalar& x, const Scalar& z) {
  return !x.isFloatingPoint() && !z.isFloatingPoint();
}

// Sizes come from files: what does not fit must not wrap around.
void check_fits(bool overflowed) {
  if (overflowed) throw std::overflow_error("a computed size does not fit");
}

Scalar add(const Scalar& x, const Scalar& z) {
  if (!both_whole(x, z)) return x.toDouble() + z.toDouble();
  Int sum = 0;
  check_fits(__builtin_add_overflow(x.toLong(), z.toLong(), &sum));
  return sum;
}

Scalar subtract(const Scalar& x, const Scalar& z) {
  if (!both_whole(x, z)) return x.toDouble() - z.toDouble();
  Int difference = 0;
  check_fits(__builtin_sub_overflow(x.toLong(), z.toLong(), &difference));
  return difference;
}

Scalar multiply(const Scalar& x, const Scalar& z) {
  if (!both_whole(x, z)) return x.toDouble() * z.toDouble();
  Int product = 0;
  check_fits(__builtin_mul_overflow(x.toLong(), z.toLong(), &product));
  return product;
}

void check_divisor(Int x, Int z) {
  if (z == 0) throw std::domain_error("division of a size by zero");
  check_fits(z == -1 && x == std::numeric_limits<Int>::min());
}

Scalar floor_divide(const Scalar& x, const Scalar& z) {
  if (!both_whole(x, z)) return std::floor(x.toDouble() / z.toDouble());
  const Int a = x.toLong();
  const Int b = z.toLong();
  check_divisor(a, b);
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

Scalar remainder(const Scalar& x, const Scalar& z) {
  if (!both_whole(x, z))
    return x.toDouble() -
        std::floor(x.toDouble() / z.toDouble()) * z.toDouble();
  const Int a = x.toLong();
  const Int b = z.toLong();
  check_divisor(a, b);
  return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
}

Scalar power(const Scalar& x, const Scalar& z) {
  if (!both_whole(x, z) || z.toLong() < 0)
    return std::pow(x.toDouble(), z.toDouble());
  Scalar result = Int{1};
  for (Int i = 0; i < z.toLong() && i < 64; ++i)
    result = multiply(result, x);
  return result;
}

int compare(const Scalar& x, const Scalar& z) {
  if (both_whole(x, z))
    return x.toLong() < z.toLong() ? -1 : x.toLong() > z.toLong() ? 1 : 0;
  return x.toDouble() < z.toDouble() ? -1 : x.toDouble() > z.toDouble() ? 1 : 0;
}

Scalar choose(const Scalar& x, const Scalar& z, int sign) {
  return compare(x, z) * sign >= 0 ? x : z;
}

template <class Round>
StepMaker rounded(Round round) {
  return one([round](const Scalar& x) -> Scalar {
    return x.isFloatingPoint() ? static_cast<Int>(round(x.toDouble()))
                               : x.toLong();
  });
}

// Checks that hold by what the graph declares, or that would refuse a model
// moved to another type.
NodeCall nothing(Arguments&) {
  return [](Frame&) {};
}

NodeCall assert_scalar(Arguments& a) {
  return [x = operand(a, 0), text = a.text("assert_msg")](Frame& f) {
    if (!x.get(f).toBool())
      throw std::runtime_error(text.empty() ? "an assertion is false" : text);
  };
}

NodeCall assert_tensor(Arguments& a) {
  return [x = a.tensor("self"), text = a.text("assert_msg")](Frame& f) {
    if (!at_slot(f, x).is_nonzero())
      throw std::runtime_error(text.empty() ? "an assertion is false" : text);
  };
}

} // namespace

const StepMakers& number_steps() {
  using S = const Scalar&;
  static const StepMakers table{
      {"_operator.add", two(add)},
      {"_operator.and_",
       two([](S x, S z) -> Scalar { return x.toBool() && z.toBool(); })},
      {"_operator.eq",
       two([](S x, S z) -> Scalar { return compare(x, z) == 0; })},
      {"_operator.floordiv", two(floor_divide)},
      {"_operator.ge",
       two([](S x, S z) -> Scalar { return compare(x, z) >= 0; })},
      {"_operator.gt",
       two([](S x, S z) -> Scalar { return compare(x, z) > 0; })},
      {"_operator.le",
       two([](S x, S z) -> Scalar { return compare(x, z) <= 0; })},
      {"_operator.lt",
       two([](S x, S z) -> Scalar { return compare(x, z) < 0; })},
      {"_operator.mod", two(remainder)},
      {"_operator.mul", two(multiply)},
      {"_operator.ne",
       two([](S x, S z) -> Scalar { return compare(x, z) != 0; })},
      {"_operator.neg", one([](S x) { return subtract(Int{0}, x); })},
      {"_operator.or_",
       two([](S x, S z) -> Scalar { return x.toBool() || z.toBool(); })},
      {"_operator.pos", one([](S x) { return x; })},
      {"_operator.pow", two(power)},
      {"_operator.sub", two(subtract)},
      {"_operator.truediv",
       two([](S x, S z) -> Scalar { return x.toDouble() / z.toDouble(); })},
      {"aten._assert_async.default", assert_tensor},
      {"aten._assert_async.msg", assert_tensor},
      {"aten._assert_scalar.default", assert_scalar},
      {"aten._assert_tensor_metadata.default", nothing},
      {"aten.sym_constrain_range.default", nothing},
      {"aten.sym_constrain_range_for_size.default", nothing},
      {"aten.sym_numel.default",
       of_tensor([](const at::Tensor& x, Int) { return x.numel(); })},
      {"aten.sym_size.int",
       of_tensor([](const at::Tensor& x, Int dim) { return x.size(dim); })},
      {"aten.sym_storage_offset.default",
       of_tensor([](const at::Tensor& x, Int) { return x.storage_offset(); })},
      {"aten.sym_stride.int",
       of_tensor([](const at::Tensor& x, Int dim) { return x.stride(dim); })},
      {"math.ceil", rounded([](double x) { return std::ceil(x); })},
      {"math.floor", rounded([](double x) { return std::floor(x); })},
      {"math.trunc", rounded([](double x) { return std::trunc(x); })},
      {"torch._sym_sqrt",
       one([](S x) -> Scalar { return std::sqrt(x.toDouble()); })},
      {"torch.sym_float", one([](S x) -> Scalar { return x.toDouble(); })},
      {"torch.sym_int", rounded([](double x) { return std::trunc(x); })},
      {"torch.sym_max", two([](S x, S z) { return choose(x, z, 1); })},
      {"torch.sym_min", two([](S x, S z) { return choose(x, z, -1); })},
      {"torch.sym_not", one([](S x) -> Scalar { return !x.toBool(); })},
  };
  return table;
}

} // namespace temper::model
