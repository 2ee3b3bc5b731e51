// The listing of a folder of class folders, in torchvision's order: classes by
// name, in each the directories by path and their files by name. Used by
// folder_source.cpp.
// Private to data/source.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "temper/data/format/name_list.h"

namespace temper::data {

struct FolderListing {
  std::vector<std::string> classes;
  // Where the files of each class begin; one more, where the last ends.
  std::vector<std::int64_t> begins;
  NameList files; // relative to the folder of their class
  // Files in class folders that are no images by their names: how many of each
  // ending (".gif", ".txt", "" for none). They are not used.
  std::map<std::string, std::int64_t> ignored;
  // Sentences about classes without images, images outside of classes and files
  // that are not used.
  std::vector<std::string> notes;
};

// Directories in `root`, sorted, without hidden ones; links are followed.
// Error when it cannot be listed.
std::vector<std::string> subfolders(const std::string& root);

// Has a name that torchvision's ImageFolder takes for an image, or a PBM's.
bool has_image_name(const std::string& name);

// One directory is open at a time. Error when there are no classes, no images
// at all, a directory that cannot be read, or a loop of links.
FolderListing list_class_folders(const std::string& root);

} // namespace temper::data
