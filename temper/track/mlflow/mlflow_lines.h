// The text of MLflow's file store: numbers, lines of metrics, values of YAML.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace temper::track {

// The shortest text that reads back as this number: Python's repr in essence.
std::string python_number(double value);

// Whole lines at the end of a file, with one write: never half a line, and no
// empty file when the disk is full. Unavailable then.
void append_lines(const std::filesystem::path& file, const std::string& lines);
// The lines in at most the last 256 KiB of a file.
std::set<std::string> last_lines(const std::filesystem::path& file);

// "name: 'it''s'" -> "it's", of our own files and MLflow's.
std::string yaml_value(const std::string& yaml, const std::string& key);

} // namespace temper::track
