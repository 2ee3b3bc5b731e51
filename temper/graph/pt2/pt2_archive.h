// The parts of a .pt2 archive: which model it holds and where its entries are;
// and what to say of archives that only look like one.
// Private to graph/pt2.
#pragma once

#include <string>

#include "temper/base/file/zip_file.h"
#include "temper/graph/pt2/pt2_json.h"

namespace temper::graph::pt2 {

// Where torch.export keeps texts that belong to a model.
constexpr const char* kExtraFolder = "extra/";

class Archive {
 public:
  // Unreadable, with what to do, when no model that temper reads is in it.
  explicit Archive(const ZipFile& zip);

  // The program's JSON.
  Json program() const;
  // {name: {path_name, is_param, use_pickle, tensor_meta}}; empty if there is
  // none. `folder` is "weights" or "constants".
  Json payload(const std::string& folder) const;
  const ZipFile::Entry* find(
      const std::string& folder,
      const std::string& path_name) const;

  // An extra file's text; null when there is none.
  const ZipFile::Entry* find_extra(const std::string& name) const;

  const ZipFile& zip() const {
    return zip_;
  }

 private:
  Json parse(const ZipFile::Entry& entry) const;

  const ZipFile& zip_;
  std::string root_; // "net/", or empty
  std::string model_; // "model" nearly always
};

} // namespace temper::graph::pt2
