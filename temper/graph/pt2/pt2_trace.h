// The notes of torch.export about a node, in the user's own terms: the module
// it belongs to, and the line of Python it comes from.
// Private to graph/pt2.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace temper::graph::pt2 {

// "features.3.conv.1", the innermost of "key,path,type;key,path,type"; empty
// for the model itself.
std::string module_of(std::string_view nn_module_stack);

// "net.py:27": of a Python stack the innermost line that is not PyTorch's own;
// torchvision's only when there is no other. Empty when all are PyTorch's.
std::string source_of(std::string_view stack_trace);

// The reverse, for nodes that were never exported. Reading them again gives the
// same module and source.
std::string module_stack(const std::string& module);
std::string stack_trace(const std::string& source);

} // namespace temper::graph::pt2
