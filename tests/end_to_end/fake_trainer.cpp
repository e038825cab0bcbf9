// A trainer that trains nothing: it speaks the worker protocol and scores a hyp by a smooth
// formula, so that whole runs take seconds. What goes wrong is asked for on its command line.
//
//   fake_trainer [--sleep MILLISECONDS] [--log FILE] [--crash-trial N] [--crash-always] [--crash-on
//   DEVICE] [--crash-repeats] [--noise] [--seen FILE] [--look PROGRAM]
//   [--rungs] [--pauses] [--full-at-pauses] [--full-at-pauses-of N] [--epochs FILE]
//   [--faults TRIAL=FAULT,…] [--chatter BYTES] [--needs FILE]
//   [--once] [--linger MS] [--stops-itself] [--runs-on] [--learns-late] [--late-trial N]
//   [--forgets] [--ends-early N]
//
// --crash-repeats crashes where a repeat is trained. --noise takes 1e-11 of the seed off the score.
// --log appends "PID TRIAL DEVICE OMP_NUM_THREADS" per training. --seen appends the trial, the
// device and the environment as JSON. --look asks PROGRAM (evolve) which device it sees as number 0
// of its slot's kind: the trainer says so when it is ready. --rungs reports at each rung what it
// has learnt so far, and waits for a word; a trial learns 0 to 99 hundredths of it, by its seed.
// --pauses does the same, and can be paused there; --full-at-pauses then has no room to be, of
// --full-at-pauses-of one trial has none; --crashes-at-pauses crashes there. --epochs appends
// "TRIAL EPOCH" for each epoch that a training took. --faults are those of fail(). --chatter logs
// so many bytes per training.
// --needs fails a trial with kind data while FILE is not there. --once trains one trial and exits,
// MS later, without looking at what it is told meanwhile. --stops-itself calls every result stopped
// and paused though nobody asked for that. --runs-on could pause, but waits at no rung: it reports
// all epochs and the result in one piece. --learns-late learns nothing before the last epoch,
// --late-trial in one trial. --learns-never learns nothing in so many trials after the first.
// --forgets cannot go on where it was paused: it crashes. --ends-early ends one trial by itself,
// with a result, after its second epoch.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

using nlohmann::json;

namespace {

struct Options {
  bool full_at_pauses = false, crashes_at_pauses = false;
  int full_at_pauses_of = -1;
  bool crash_always = false, crash_repeats = false, noise = false, rungs = false, pauses = false;
  bool runs_on = false, learns_late = false, once = false, stops_itself = false, forgets = false;
  int ends_early = -1;
  int sleep_ms = 0, linger_ms = 0, crash_trial = -1, late_trial = -1, chatter = 0;
  int learns_never = 0;
  std::string log, epochs, needs, seen, program, crash_on, faults;
};

Options read_options(int argc, char** argv) {
  const std::map<std::string, bool Options::*> flags = {
      {"--crash-always", &Options::crash_always},
      {"--crash-repeats", &Options::crash_repeats},
      {"--noise", &Options::noise},
      {"--rungs", &Options::rungs},
      {"--pauses", &Options::pauses},
      {"--full-at-pauses", &Options::full_at_pauses},
      {"--crashes-at-pauses", &Options::crashes_at_pauses},
      {"--runs-on", &Options::runs_on},
      {"--learns-late", &Options::learns_late},
      {"--once", &Options::once},
      {"--forgets", &Options::forgets},
      {"--stops-itself", &Options::stops_itself}};
  const std::map<std::string, int Options::*> numbers = {
      {"--sleep", &Options::sleep_ms},
      {"--linger", &Options::linger_ms},
      {"--crash-trial", &Options::crash_trial},
      {"--late-trial", &Options::late_trial},
      {"--learns-never", &Options::learns_never},
      {"--ends-early", &Options::ends_early},
      {"--full-at-pauses-of", &Options::full_at_pauses_of},
      {"--chatter", &Options::chatter}};
  const std::map<std::string, std::string Options::*> texts = {
      {"--log", &Options::log},      {"--epochs", &Options::epochs},
      {"--needs", &Options::needs},  {"--seen", &Options::seen},
      {"--look", &Options::program}, {"--crash-on", &Options::crash_on},
      {"--faults", &Options::faults}};
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (const auto flag = flags.find(option); flag != flags.end()) options.*flag->second = true;
    if (i + 1 == argc) break;
    if (const auto number = numbers.find(option); number != numbers.end())
      options.*number->second = std::stoi(argv[i + 1]);
    if (const auto text = texts.find(option); text != texts.end())
      options.*text->second = argv[i + 1];
  }
  if (options.pauses) options.rungs = true;
  return options;
}

/// Greatest (about 0.9) at little augmentation; the default start has about 0.5.
double score(const json& hyp) {
  double loss = 0;
  const std::pair<const char*, double> wanted[] = {{"hsv_s", 0.2},  {"hsv_v", 0.7},
                                                   {"scale", 0.1},  {"translate", 0.3},
                                                   {"mosaic", 0.3}, {"mixup", 0.4}};
  for (const auto& [name, best] : wanted) {
    const double d = hyp.value(name, best) - best;
    loss += d * d;
  }
  return 0.9 / (1 + loss);
}

json metrics(double f) {
  return {{"metrics/precision", f},    {"metrics/recall", f},   {"metrics/mAP_0.5", f},
          {"metrics/mAP_0.5:0.95", f}, {"val/box_loss", 1 - f}, {"val/obj_loss", 1 - f},
          {"val/cls_loss", 1 - f}};
}

/// What `program devices` lists first of the kind of the slot, in the environment that we have.
json first_device(const std::string& program) {
  const char* slot = std::getenv("EVOLVE_DEVICE");
  const std::string name = slot ? slot : "";
  std::string text;
  if (auto* pipe = popen((program + " devices --json").c_str(), "r")) {
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    pclose(pipe);
  }
  for (const auto& device : json::parse(text))
    if (device["device"] == name.substr(0, name.find(':')) + ":0") return device;
  return json::object();
}

json environment() {
  auto all = json::object();
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    all[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  return all;
}

void say(const json& message) {
  std::cout << message.dump() << std::endl;
}

/// What is learnt after an epoch of a trial that will reach a score: more than half of it at once.
double learnt(const Options& options, const json& train, double score, int epoch) {
  const bool late = options.learns_late || train["trial"] == options.late_trial;
  if (late && epoch < train["epochs"]) return 0;
  return score * (0.5 + 0.5 * epoch / train["epochs"].get<int>());
}

/// All epochs and the result of a trial as one text.
std::string whole_course(const Options& options, const json& train, double score) {
  std::string lines;
  const int epochs = train["epochs"];
  for (int epoch = train.value("start_epoch", 0) + 1; epoch <= epochs; ++epoch)
    lines += json{{"type", "epoch"},
                  {"trial", train["trial"]},
                  {"epoch", epoch},
                  {"metrics", metrics(learnt(options, train, score, epoch))}}
                 .dump() +
             "\n";
  return lines +
         json{{"type", "result"}, {"trial", train["trial"]}, {"metrics", metrics(score)}}.dump() +
         "\n";
}

/// Passes the rungs of a trial; the one where it was told to stop or to pause, and which of them.
std::optional<std::pair<int, std::string>> ended_at(const Options& options, const json& train,
                                                    double score) {
  for (const int rung : train["rungs"]) {
    say({{"type", "epoch"},
         {"trial", train["trial"]},
         {"epoch", rung},
         {"metrics", metrics(learnt(options, train, score, rung))}});
    std::string line;
    if (!std::getline(std::cin, line)) std::_Exit(0);
    const std::string told = json::parse(line)["type"];
    if (told != "continue") return std::pair(rung, told);
  }
  return std::nullopt;
}

/// Appends "TRIAL EPOCH" for each epoch that a training took.
void log_epochs(const std::string& file, const json& train, int last) {
  std::ostringstream lines;  // in one piece: others write there too
  for (int epoch = train.value("start_epoch", 0) + 1; epoch <= last; ++epoch)
    lines << train["trial"].get<int>() << ' ' << epoch << '\n';
  std::ofstream(file, std::ios::app) << lines.str();
}

/// The fault that a trial has: "2=abort,3=hang".
std::string fault_of(const std::string& faults, int trial) {
  std::istringstream list(faults);
  const auto start = std::to_string(trial) + "=";
  for (std::string one; std::getline(list, one, ',');)
    if (one.starts_with(start)) return one.substr(start.size());
  return "";
}

void fail(const std::string& fault, int trial) {
  if (fault == "abort") std::abort();
  if (fault == "kill") ::raise(SIGKILL);
  if (fault == "garbage") std::cout << "Epoch 2/3: loss 0.5" << std::endl;
  if (fault == "half") {
    std::cout << R"({"type":"result","trial":)" << std::flush;
    std::_Exit(0);
  }
  auto result = json{{"type", "result"}, {"trial", trial}, {"metrics", metrics(0.99)}};
  if (fault == "nan") result["metrics"]["metrics/recall"] = std::nan("");
  if (fault == "missing") result["metrics"].erase("metrics/recall");
  if (fault == "nan" || fault == "missing") say(result);
  if (fault == "oom" || fault == "diverged" || fault == "data" || fault == "device_lost")
    say({{"type", "error"}, {"trial", trial}, {"kind", fault}, {"message", "as told"}});
  if (fault == "full")
    say({{"type", "error"},
         {"trial", trial},
         {"kind", "other"},
         {"message", "[Errno 28] No space left on device"}});
  while (fault == "chatters") {
    say({{"type", "epoch"}, {"trial", trial}, {"epoch", 1}, {"metrics", metrics(0.99)}});
    ::usleep(100000);
  }
  if (!fault.empty()) ::pause();  // "hang", or until it is ended for what it said
}

/// Appends to the files that --log and --seen name.
void note(const Options& options, const json& mine, const json& train) {
  const int trial = train["trial"];
  const std::string device = train["device"];
  if (!options.log.empty()) {
    const char* threads = std::getenv("OMP_NUM_THREADS");
    std::ofstream(options.log, std::ios::app)
        << getpid() << ' ' << trial << ' ' << device << ' ' << (threads ? threads : "-") << '\n';
  }
  if (!options.seen.empty()) {  // in one piece: others write there too
    const json sight = {{"trial", trial},
                        {"device", device},
                        {"pid", getpid()},
                        {"seed", train["seed"]},
                        {"uuid", mine.value("uuid", json())},
                        {"environment", environment()}};
    std::ofstream(options.seen, std::ios::app) << sight.dump() + "\n";
  }
}

/// Goes as far as it may towards the score, and says how it ended.
void finish(const Options& options, const json& train, double reached) {
  const int trial = train["trial"];
  if (trial >= 1 && trial <= options.learns_never) reached = 0;
  const bool ends_early = options.ends_early == trial;
  const auto end = options.rungs && !ends_early ? ended_at(options, train, reached) : std::nullopt;
  const int last = end ? end->first : ends_early ? 2 : train["epochs"].get<int>();
  const auto result = metrics(end ? learnt(options, train, reached, last) : reached);
  if (options.crashes_at_pauses && end && end->second == "pause") std::abort();
  const bool full = options.full_at_pauses || options.full_at_pauses_of == trial;
  if (full && end && end->second == "pause")
    return say({{"type", "error"},
                {"trial", trial},
                {"kind", "other"},
                {"message", "[Errno 28] No space left on device"}});
  if (!options.epochs.empty()) log_epochs(options.epochs, train, last);
  if (!end) say({{"type", "epoch"}, {"trial", trial}, {"epoch", last}, {"metrics", result}});
  say({{"type", "result"},
       {"trial", trial},
       {"metrics", result},
       {"stopped", options.stops_itself || (end && end->second == "stop")},
       {"paused", options.stops_itself || (end && end->second == "pause")}});
  if (!options.once) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(options.linger_ms));
  std::exit(0);
}

/// One training, or what goes wrong with it.
void answer(const Options& options, const json& mine, const json& train) {
  const int trial = train["trial"];
  note(options, mine, train);
  std::this_thread::sleep_for(std::chrono::milliseconds(options.sleep_ms));
  if (options.chatter > 0)
    std::cerr << std::string(static_cast<std::size_t>(options.chatter), '.') << std::endl;
  const bool repeat = train["dir"].get<std::string>().ends_with("/repeat");
  if (options.crash_always || (options.crash_repeats && repeat) || trial == options.crash_trial ||
      train["device"] == options.crash_on ||
      (options.forgets && train.value("start_epoch", 0) > 0)) {
    std::cerr << "simulated crash of trial " << trial << std::endl;
    std::_Exit(7);
  }
  if (!options.needs.empty() && !std::ifstream(options.needs)) {
    say({{"type", "error"},
         {"trial", trial},
         {"kind", "data"},
         {"message", options.needs + " is gone"}});
    return;
  }
  fail(fault_of(options.faults, trial), trial);
  double reached = score(train["hyp"]) - (options.noise ? 1e-11 * train["seed"].get<double>() : 0);
  const auto seed = train["seed"].get<std::uint64_t>();
  if (options.rungs) reached *= static_cast<double>(seed % 100) / 100;
  if (options.runs_on) {
    std::cout << whole_course(options, train, reached) << std::flush;
  } else {
    finish(options, train, reached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  json ready = {{"type", "ready"}, {"protocol", 1}, {"device", "cpu:0"}};
  const auto mine = options.program.empty() ? json::object() : first_device(options.program);
  for (const auto* key : {"uuid", "pci"})
    if (mine.contains(key)) ready[key] = mine[key];
  if (options.pauses || options.runs_on) ready["can_pause"] = true;
  say(ready);
  for (std::string line; std::getline(std::cin, line);) {
    const auto message = json::parse(line);
    if (message["type"] == "shutdown") return 0;
    if (message["type"] == "train") answer(options, mine, message);
  }
}
