// The cards of a fake driver, as an environment variable describes them.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace fake {

/// "name=Arc A770,bus=3,lost" has name, bus, and lost with an empty text.
using Card = std::map<std::string, std::string>;

inline std::vector<std::string> split(const std::string& text, char sign) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, sign);) parts.push_back(part);
  return parts;
}

/// What a variable says; of "@FILE" what the file says now.
inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value ? value : "";
  if (text.starts_with("@")) std::getline(std::ifstream(text.substr(1)), text);
  return text;
}

/// Cards are separated by semicolons.
inline std::vector<Card> cards(const char* name) {
  std::vector<Card> all;
  for (const auto& text : split(variable(name), ';')) {
    Card card;
    for (const auto& item : split(text, ',')) {
      const auto sign = item.find('=');
      card[item.substr(0, sign)] = sign == item.npos ? "" : item.substr(sign + 1);
    }
    all.push_back(card);
  }
  return all;
}

inline int number(const Card& card, const std::string& key, int absent = 0) {
  const auto found = card.find(key);
  return found == card.end() ? absent : std::stoi(found->second);
}

/// GiB that living processes hold: each has a file by its number in the folder "held".
inline int held(const Card& card) {
  int gib = 0;
  if (!card.contains("held")) return gib;
  for (const auto& file : std::filesystem::directory_iterator(card.at("held"))) {
    int its = 0;
    if (::kill(std::stoi(file.path().filename()), 0) == 0) std::ifstream(file.path()) >> its;
    gib += its;
  }
  return gib;
}

/// This process survives SIGKILL as one does that is stuck in its driver: until a tracer that stops
/// it at its end is gone.
inline void get_stuck() {
  const auto process = ::getpid();
  const auto tracer = ::fork();
  if (tracer == 0) {
    ::alarm(60);
    ::usleep(50'000);  // allowed to by then
    ::ptrace(PTRACE_SEIZE, process, nullptr, PTRACE_O_TRACEEXIT);
    while (true) ::pause();
  }
  ::prctl(PR_SET_PTRACER, tracer);
  while (true) ::pause();
}

/// Does what a bad driver does when it starts.
inline void misbehave(const std::string& how) {
  if (how == "crash") std::abort();
  if (how == "exit") ::_exit(0);
  while (how == "hang") ::pause();
  if (how == "stuck") get_stuck();
  if (how == "print") std::puts("a driver that prints");
}

}  // namespace fake
