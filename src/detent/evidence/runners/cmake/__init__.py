"""C and C++: ctest, for projects of CMake."""
