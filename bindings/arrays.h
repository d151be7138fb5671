// Checked views of NumPy arrays: refuse, never cast. Each refusal says what came and what was wanted.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstring>
#include <string>
#include <vector>

#include "errors.h"

namespace ae::bindings {

namespace py = pybind11;

inline std::string shape_text(const py::array& array) {
  std::string text = "(";
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(array.shape(i));
  }
  return text + (array.ndim() == 1 ? ",)" : ")");
}

// A one-dimensional array of exactly T and `count` entries, copied out (any stride).
template <class T>
std::vector<T> vector_of(const py::handle& object, const char* what, py::ssize_t count,
                         const char* error = "ActionError") {
  const std::string wanted_count = count < 0 ? "M" : std::to_string(count);
  if (!py::isinstance<py::array>(object))
    raise(error, std::string(what) + ": " + py::str(py::type::of(object).attr("__name__")).cast<std::string>() +
                     ", want an array " + py::str(py::dtype::of<T>()).cast<std::string>() + "[" + wanted_count + "]");
  const auto array = py::reinterpret_borrow<py::array>(object);
  const std::string wanted = py::str(py::dtype::of<T>()).cast<std::string>();
  if (!array.dtype().is(py::dtype::of<T>()) && !array.dtype().equal(py::dtype::of<T>()))
    raise(error, std::string(what) + ": dtype " + py::str(array.dtype()).cast<std::string>() + ", want " + wanted);
  if (array.ndim() != 1 || (count >= 0 && array.shape(0) != count))
    raise(error, std::string(what) + ": shape " + shape_text(array) + ", want (" + wanted_count + ",)");
  std::vector<T> out(static_cast<size_t>(array.shape(0)));
  const auto* from = static_cast<const uint8_t*>(array.data());
  for (size_t i = 0; i < out.size(); ++i)
    std::memcpy(&out[i], from + static_cast<py::ssize_t>(i) * array.strides(0), sizeof(T));
  return out;
}

}  // namespace ae::bindings
