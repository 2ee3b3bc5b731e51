#include <map>

#include "temper/base/file/zip_writer.h"
#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/graph/pt2/pt2_archive.h"
#include "temper/graph/pt2/pt2_graph.h"
#include "temper/graph/pt2/pt2_values.h"

// The same entries in the same places as torch.export.save writes.
namespace temper::graph {
namespace pt2 {
namespace {

constexpr const char* kModel = "model";

std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Parameters and lasting buffers in one folder, the rest in the other; names
// that share their bytes share a file.
class WeightsWriter {
 public:
  WeightsWriter(
      ZipWriter& zip,
      std::string folder,
      std::string prefix,
      bool values = true)
      : zip_(zip),
        folder_(std::move(folder)),
        prefix_(std::move(prefix)),
        values_(values) {}

  void add(const Input& input, const TensorData& data, TensorMeta meta) {
    // Nobody else's bytes have the same address; no bytes have no address.
    auto [place, fresh] =
        files_.try_emplace({data.bytes.get(), data.byte_count}, "");
    if (fresh || data.bytes == nullptr) {
      place->second = cat(prefix_, count_++);
      if (values_)
        zip_.add(
            cat(folder_, place->second), data.bytes.get(), data.byte_count);
    }
    meta.strides = contiguous_strides(meta.sizes);
    meta.storage_offset = 0;
    meta.requires_grad = input.kind == InputKind::kParameter && input.trainable;
    const Json about{
        {"path_name", place->second},
        {"is_param", input.kind == InputKind::kParameter},
        {"use_pickle", false},
        {"tensor_meta", write_meta(meta)}};
    config_ +=
        cat(config_.empty() ? "" : ",", text(input.target), ":", text(about));
  }

  std::string config() const {
    return cat("{\"config\":{", config_, "}}");
  }

 private:
  ZipWriter& zip_;
  std::string folder_;
  std::string prefix_;
  bool values_; // false: only which there are, and which of them are one
  std::map<std::pair<const std::byte*, std::size_t>, std::string> files_;
  int count_ = 0;
  // Python's state dict has the order of this text.
  std::string config_;
};

void write(
    const Program& program,
    const std::filesystem::path& path,
    const ExtraFiles& extra,
    bool values) {
  ZipWriter zip(path);
  const std::string root = cat(path.stem().string(), "/");
  const std::string weights_folder = root + "data/weights/";
  const std::string constants_folder = root + "data/constants/";
  WeightsWriter weights(zip, weights_folder, "weight_", values);
  WeightsWriter constants(zip, constants_folder, "tensor_");
  for (const Input& input : program.graph.inputs) {
    if (input.kind == InputKind::kUser) continue;
    const bool apart = input.kind == InputKind::kConstant || !input.persistent;
    (apart ? constants : weights)
        .add(
            input,
            program.weights.at(input.target),
            program.graph.meta(input.value));
  }
  zip.add(weights_folder + "model_weights_config.json", weights.config());
  zip.add(constants_folder + "model_constants_config.json", constants.config());
  zip.add(
      cat(root, "models/", kModel, ".json"), text(write_graph(program.graph)));
  // Python wants the entry; without examples it is empty.
  zip.add(cat(root, "data/sample_inputs/", kModel, ".pt"), "");
  zip.add(root + "archive_format", "pt2");
  zip.add(root + "archive_version", "0");
  zip.add(root + "byteorder", "little");
  zip.add(root + ".data/version", "6\n");
  for (const auto& [name, content] : extra)
    zip.add(cat(root, kExtraFolder, name), content);
  zip.commit();
}

} // namespace
} // namespace pt2

void write_pt2(
    const Program& program,
    const std::filesystem::path& path,
    const ExtraFiles& extra) {
  validate(program);
  pt2::write(program, path, extra, true);
}

void write_pt2_without_weights(
    const Program& program,
    const std::filesystem::path& path) {
  validate(program);
  pt2::write(program, path, {}, false);
}

} // namespace temper::graph
