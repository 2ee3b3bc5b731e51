#include "temper/data/sample/class_names.h"

#include <sstream>

namespace temper::data {
namespace {

std::vector<std::string> words(const char* text) {
  std::vector<std::string> names;
  std::istringstream in{std::string(text)};
  for (std::string name; in >> name;)
    names.push_back(name);
  return names;
}

} // namespace

const std::vector<std::string>& cifar10_classes() {
  static const auto names =
      words("airplane automobile bird cat deer dog frog horse ship truck");
  return names;
}

const std::vector<std::string>& cifar100_classes() {
  static const auto names = words(
      "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle "
      "bowl boy bridge bus butterfly camel can castle caterpillar cattle "
      "chair chimpanzee clock cloud cockroach couch crab crocodile cup "
      "dinosaur dolphin elephant flatfish forest fox girl hamster house "
      "kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man "
      "maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid "
      "otter palm_tree pear pickup_truck pine_tree plain plate poppy "
      "porcupine possum rabbit raccoon ray road rocket rose sea seal shark "
      "shrew skunk skyscraper snail snake spider squirrel streetcar "
      "sunflower sweet_pepper table tank telephone television tiger tractor "
      "train trout tulip turtle wardrobe whale willow_tree wolf woman worm");
  return names;
}

const std::vector<std::string>& mnist_classes() {
  static const auto names = words("0 1 2 3 4 5 6 7 8 9");
  return names;
}

const std::vector<std::string>& fashion_mnist_classes() {
  static const auto names = words(
      "t-shirt trouser pullover dress coat sandal shirt sneaker bag "
      "ankle-boot");
  return names;
}

} // namespace temper::data
