// The config as text: the resolved config.toml of a run, `temper help config`,
// and docs/configuration.md.
#pragma once

#include <string>

#include "temper/config/config.h"

namespace temper::config {

// Every key with its value: enough to start the same run again.
std::string to_toml(const Config& config);
// The keys whose value is not the default; empty: all are.
std::string changed_toml(const Config& config);
// One key: what it is, what it takes, its default. Error when there is none,
// with the nearest.
std::string key_text(const std::string& key);
// Keys, defaults and help, in columns.
std::string help_text();
// The same as a Markdown page.
std::string reference_markdown();

} // namespace temper::config
