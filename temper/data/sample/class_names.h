// The classes of the named datasets, in the order of their labels.
#pragma once

#include <string>
#include <vector>

namespace temper::data {

const std::vector<std::string>& cifar10_classes();
const std::vector<std::string>& cifar100_classes(); // the fine labels
const std::vector<std::string>& mnist_classes();
const std::vector<std::string>& fashion_mnist_classes();

} // namespace temper::data
