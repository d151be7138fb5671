#include "logic/typed.h"

#include <algorithm>
#include <string>

namespace ae::logic {
namespace {

constexpr size_t kLongestCommand = 4096;

// Lower case, single blanks, no blanks at the ends. Too long or with a NUL: empty, which nothing matches.
std::string normalised(std::string_view text) {
  std::string out;
  if (text.size() > kLongestCommand || text.find('\0') != std::string_view::npos) return out;
  for (const char raw : text) {
    const bool blank = raw == ' ' || raw == '\t' || raw == '\n' || raw == '\r';
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out.push_back(blank ? ' ' : (raw >= 'A' && raw <= 'Z' ? static_cast<char>(raw - 'A' + 'a') : raw));
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool blank(std::string_view text) {
  return text.size() <= kLongestCommand && text.find_first_not_of(" \t\n\r") == std::string_view::npos;
}

// What Python's str.strip() drops, in UTF-8.
constexpr std::string_view kBlanks[] = {
    " ",        "\t",       "\n",     "\v",     "\f",     "\r",     "\x1c",   "\x1d",   "\x1e",   "\x1f",
    "\xc2\x85", "\xc2\xa0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007",   "\u2008",   "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
std::string_view stripped(std::string_view text) {
  for (bool more = true; more && !text.empty();) {
    more = false;
    for (const std::string_view blank : kBlanks) {
      if (text.starts_with(blank)) text.remove_prefix(blank.size()), more = true;
      if (text.ends_with(blank)) text.remove_suffix(blank.size()), more = true;
    }
  }
  return text;
}

Typed exactly(const Program& program, const World& world, std::string_view text) {
  Typed out;
  out.kind = Typed::kInvalid;
  const std::string_view wanted = stripped(text);
  for_each_admissible(SerialGroup{}, program, world, [&](uint32_t, const Slot& slot) {
    if (program.command(slot.command) != wanted) return;
    out.kind = Typed::kAction;
    out.id = slot_action(program, world, slot);
  });
  return out;
}

// The admissible action whose command reads like `wanted`, kNone32 if there is none.
uint32_t admissible_action(const Program& program, const World& world, const std::string& wanted) {
  uint32_t found = kNone32;
  for_each_admissible(SerialGroup{}, program, world, [&](uint32_t, const Slot& slot) {
    const std::string_view command = program.command(slot.command);
    if (found == kNone32 && command.size() == wanted.size() && normalised(command) == wanted)
      found = slot_action(program, world, slot);
  });
  return found;
}

}  // namespace

Typed parse_typed(const Program& program, const RowHeader& /*row*/, const World& world, std::string_view text) {
  Typed out;
  if (program.string(program.header->family) == "alfworld") return exactly(program, world, text);
  const std::string wanted = normalised(text);
  const bool textworld = program.string(program.header->family) == "textworld";
  if (wanted.empty() && (!textworld || !blank(text))) return out;
  const uint32_t action = admissible_action(program, world, wanted);
  if (action != kNone32) {
    out.kind = Typed::kAction;
    out.id = action;
    return out;
  }
  if (!textworld) return out;
  return refuse_textworld(program, world, wanted,
                          [&](const std::string& t) { return admissible_action(program, world, t); });
}

}  // namespace ae::logic
