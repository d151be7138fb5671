// Front ends hand over whatever a file says: any Source is grounded and emitted or refused with a message, and what is
// emitted decodes, plays, fits the bounds that its header states, and comes out the same twice.
#include "play.h"
#include "random_source.h"

using namespace ae;

namespace {

// The bound in the header counts each movable once. A text that lists one container twice may need more, and then says
// so through the overflow bits.
bool lists(const logic::Source& source) {
  for (const logic::TextProgram& text : source.programs)
    for (const logic::Instruction& code : text.code)
      if (code.op == logic::Op::kList) return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Reader reader(data, std::min<size_t>(size, 64));
  const logic::Source source = fuzz::RandomSource(data, size).make();
  std::vector<uint8_t> game;
  try {
    game = logic::emit(logic::ground(source, fuzz::kSmall));
  } catch (const logic::CompileError& error) {
    fuzz::promise(!error.message.empty(), "a refusal says why");
    return 0;
  }
  fuzz::promise(game == logic::emit(logic::ground(source, fuzz::kSmall)), "compiling twice gives the same bytes");
  fuzz::Arena arena(game.data(), game.size(), reader);
  arena.reset();
  arena.play();
  arena.check_hashes();
  fuzz::promise(!arena.overflowed() || lists(source), "observations fit the bounds in the header");
  return 0;
}
