// Raising the package's own exceptions from C++. Bindings are the only C++ that throws towards Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace ae::bindings {

[[noreturn]] inline void raise(const char* error_class, const std::string& message) {
  const pybind11::object type = pybind11::module_::import("agentenv_fast.errors").attr(error_class);
  PyErr_SetString(type.ptr(), message.c_str());
  throw pybind11::error_already_set();
}

}  // namespace ae::bindings
