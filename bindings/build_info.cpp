// How this core was built, for `agentenv-fast doctor`: facts of the compiler, nothing measured.
#include <pybind11/pybind11.h>

#include <string>

namespace ae::bindings {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " + std::string(__clang_version__);
#elif defined(__GNUC__)
  return "gcc " + std::string(__VERSION__);
#else
  return "unknown";
#endif
}

// The instruction set that every function of this build may use.
const char* baseline() {
#if defined(__AVX512F__)
  return "avx512f";
#elif defined(__AVX2__)
  return "avx2";
#elif defined(__SSE2__)
  return "sse2 (portable)";
#elif defined(__ARM_NEON)
  return "neon (portable)";
#else
  return "scalar";
#endif
}

}  // namespace

void bind_build_info(pybind11::module_& module) {
  module.def(
      "build_info",
      [] {
        pybind11::dict out;
        out["compiler"] = compiler();
        out["simd"] = baseline();
#if defined(NDEBUG)
        out["build"] = "release";
#else
        out["build"] = "debug";
#endif
        return out;
      },
      "Compiler, baseline instruction set and kind of build.");
}

}  // namespace ae::bindings
