// CMake wants a file to compile beside the header.
