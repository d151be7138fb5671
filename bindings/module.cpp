// agentenv_fast.native._core: a table of contents. Nothing is computed here.
#include <pybind11/pybind11.h>

namespace ae::bindings {
void bind_build_info(pybind11::module_& module);  // build_info
void bind_suite(pybind11::module_& module);   // Program, Bank, Vocabulary, BoundCodec
void bind_engine(pybind11::module_& module);  // Engine, threads
void bind_xla(pybind11::module_& module);     // XLA handlers and their registry of suites
void bind_rewards(pybind11::module_& module);  // text scores
#if defined(AE_WITH_SOURCE)
void bind_source(pybind11::module_& module);  // compile_source, ground_source
#endif
#if defined(AE_WITH_GENERATORS)
void bind_generators(pybind11::module_& module);  // generate, family_words
#endif
}  // namespace ae::bindings

PYBIND11_MODULE(_core, module) {
  module.doc() = "The native core of agentenv_fast; use it through agentenv_fast.make, load and suite.";
  ae::bindings::bind_build_info(module);
  ae::bindings::bind_suite(module);
  ae::bindings::bind_engine(module);
  ae::bindings::bind_xla(module);
  ae::bindings::bind_rewards(module);
#if defined(AE_WITH_SOURCE)
  ae::bindings::bind_source(module);
#endif
#if defined(AE_WITH_GENERATORS)
  ae::bindings::bind_generators(module);
#endif
}
