// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/arguments.hpp"
#include "ctl/client.hpp"
#include "ctl/command.hpp"
#include "ctl/terminal.hpp"
#include "ctl/verbs.hpp"
#include "ctl/words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

namespace rdmad::ctl {

namespace {

constexpr char footer[] =
    "Each verb takes --socket=PATH; bind, unbind and verify take --root=DIR.\n"
    "Exit codes: 0 fine, 1 failed, 2 wrong usage; status UNIT: 3 not active;\n"
    "prepare: 4 inhibited, 5 not safe to remove; inhibit: that of COMMAND,\n"
    "125 not inhibited, 126 or 127 COMMAND cannot be run.\n"
    "See rdmactl(1).";

using Verb = std::function<Answer<int>()>;

/// The values of the command line, and the verb that it names.
struct CommandLine {
    Common common = {};
    std::optional<std::string> about = {};
    std::vector<std::string> files = {};
    BindOptions bind = {};
    std::string unit = {};
    bool is_all = false;
    std::string device = {};
    bool poll_ports = false;
    bool is_dry = false;
    WaitOptions wait = {};
    PrepareOptions prepare = {};
    InhibitOptions inhibit = {};
    Verb verb = {};
};

CLI::App* add_verb(CLI::App& app, CommandLine& line, const char* name, const char* what, Verb verb)
{
    auto* added = app.add_subcommand(name, what)->group("Verbs");
    added->add_flag("--json", line.common.json, "Print JSON");
    added->callback([&line, verb = std::move(verb)] { line.verb = verb; });
    return added;
}

void add_questions(CLI::App& app, CommandLine& line)
{
    auto* list = add_verb(app, line, "list", "Show devices and ports",
                          [&line] { return ctl::list(line.common); });
    auto* status = add_verb(app, line, "status", "Show the state of devices and bound units",
                            [&line] { return ctl::status(line.common, line.about); });
    status->add_option("WHAT", line.about,
                       "A device, DEVICE/PORT, a node or port GUID, or a bound unit");
    auto* bindings = add_verb(app, line, "bindings", "Show the files that bind units",
                              [&line] { return ctl::bindings(line.common); });
    for (auto* verb : {list, bindings})
        verb->add_flag_callback(
            "--no-legend", [&line] { line.common.has_legend = false; }, "Print no headings");
}

/// Adds an option. Lists may be given in parts.
void add_key(CLI::App& bind, const BindKey& key, std::optional<std::string>& value)
{
    auto* option = bind.add_option(key.option, value, key.help)->option_text("...");
    if (is_match(key))
        option->join(' ');
}

void add_bind(CLI::App& app, CommandLine& line)
{
    auto* bind = add_verb(app, line, "bind", "Tie a unit to ports",
                          [&line] { return ctl::bind(line.common, line.bind); });
    bind->add_option("UNIT", line.bind.request.unit, "The unit; .service may be left out")
        ->required()
        ->option_text(" ");
    for (size_t i = 0; i < bind_keys().size(); i++)
        add_key(*bind, bind_keys()[i], line.bind.request.values[i]);
    bind->add_flag("--runtime", line.bind.runtime, "Until the next boot");
}

void add_unbind(CLI::App& app, CommandLine& line)
{
    auto* unbind = add_verb(
        app, line, "unbind", "Undo bind; the unit keeps running", [&line]() -> Answer<int> {
            if (line.is_all != line.unit.empty())
                return complaint(Complaint::Kind::usage, "unbind takes a UNIT or --all");
            return line.is_all ? ctl::unbind_all(line.common) : ctl::unbind(line.common, line.unit);
        });
    unbind->add_option("UNIT", line.unit, "The unit; .service may be left out")->option_text(" ");
    unbind->add_flag("--all", line.is_all, "Delete all files that bind wrote");
}

const std::map<std::string, WaitGoal> goals = {{"ready", WaitGoal::ready},
                                               {"active", WaitGoal::active},
                                               {"present", WaitGoal::present},
                                               {"absent", WaitGoal::absent}};

std::string goal_refusal(const std::string& word)
{
    return goals.contains(word)
               ? ""
               : "unknown goal '" + word + "': use active, ready, present or absent";
}

std::string seconds_refusal(const std::string& word)
{
    double seconds = 0;
    return CLI::detail::lexical_cast(word, seconds) ? ""
                                                    : "'" + word + "' is not a number of seconds";
}

void add_wait(CLI::App& app, CommandLine& line)
{
    auto* wait = add_verb(app, line, "wait", "Wait until devices or ports are as they should be",
                          [&line] { return ctl::wait(line.common, line.wait); });
    wait->add_option("WHAT", line.wait.targets,
                     "A device (all of its ports), DEVICE/PORT or a GUID")
        ->required()
        ->option_text("...");
    wait->add_option_function<std::string>(
            "--for", [&line](const std::string& word) { line.wait.goal = goals.at(word); },
            "active (default), ready, present or absent")
        ->check(goal_refusal, "")
        ->option_text("GOAL");
    wait->add_option("--timeout", line.wait.timeout, "Seconds (default 90); 0: for ever")
        ->check(seconds_refusal, "")
        ->option_text("SECONDS");
}

void add_prepare(CLI::App& app, CommandLine& line)
{
    auto* prepare = add_verb(app, line, "prepare", "Prepare a device for its removal",
                             [&line] { return ctl::prepare(line.common, line.prepare); });
    prepare->add_option("DEVICE", line.prepare.device, "Its name, or a GUID")
        ->required()
        ->option_text(" ");
    prepare->add_flag("--ignore-inhibitors", line.prepare.ignores_inhibitors,
                      "Go on although somebody objects");
    prepare->add_flag("--remove", line.prepare.removes, "Then remove the PCI device");
    auto* inhibit =
        add_verb(app, line, "inhibit", "Keep devices from being prepared while a command runs",
                 [&line] { return ctl::inhibit(line.common, line.inhibit); });
    inhibit->add_option("--device", line.inhibit.device, "Its name, or a GUID; default: any")
        ->option_text("DEVICE");
    inhibit->add_option("--who", line.inhibit.who, "Who objects; default: the command")
        ->option_text("NAME");
    inhibit->add_option("--why", line.inhibit.why, "Why, for people")->option_text("TEXT");
    inhibit->add_option("--mode", line.inhibit.mode, "block (default) or delay")
        ->check([](const std::string& word) {
            return word == "block" || word == "delay"
                       ? ""
                       : "unknown mode '" + word + "': use block or delay";
        })
        ->option_text("MODE");
    // for the help: split_arguments() takes it
    inhibit->add_option("COMMAND", line.inhibit.command,
                        "What runs meanwhile, after --; without one: who objects now");
}

void add_others(CLI::App& app, CommandLine& line)
{
    auto* monitor = add_verb(app, line, "monitor", "Show what happens, until you stop it",
                             [&line] { return ctl::monitor(line.common, line.poll_ports); });
    monitor->add_flag("--poll-ports", line.poll_ports, "See within a second what ports do");
    auto* release =
        add_verb(app, line, "release", "End the hold of a device that came back too often",
                 [&line] { return ctl::release(line.common, line.device); });
    auto* accept = add_verb(app, line, "accept", "Say that a device is rightly in place of another",
                            [&line] { return ctl::accept(line.common, line.device); });
    auto* resume = add_verb(app, line, "resume", "Undo prepare",
                            [&line] { return ctl::resume(line.common, line.device); });
    for (auto* verb : {release, accept, resume})
        verb->add_option("DEVICE", line.device, "Its name, or a GUID")
            ->required()
            ->option_text(" ");
    auto* recover =
        add_verb(app, line, "recover", "Put back targets in the kernel whose device is ready",
                 [&line] { return ctl::recover(line.common, line.is_dry); });
    recover->add_flag("--dry-run", line.is_dry, "Only show them");
    add_verb(app, line, "reload", "Have rdmad read the .binding files again",
             [&line] { return ctl::reload(line.common); });
    auto* verify = add_verb(app, line, "verify", "Check .binding and .link files",
                            [&line] { return ctl::verify(line.common, line.files); });
    verify->add_option("FILE", line.files, "Files (default: those that rdmad reads)");
}

void add_all(CLI::App& app, CommandLine& line)
{
    app.set_help_flag("-h,--help", "Print this help");
    app.set_version_flag("--version", "rdmactl " RDMAD_VERSION, "Print the version");
    app.get_formatter()->label("SUBCOMMAND", "VERB");
    app.footer(footer);
    app.require_subcommand(1);
    app.fallthrough();
    line.common.socket = default_socket;
    app.add_option("--socket", line.common.socket, "Where rdmad listens")
        ->envname("RDMAD_SOCKET")
        ->option_text("PATH");
    app.add_flag("--json", line.common.json, "Print JSON");
    app.add_option("--root", line.common.root, "Bind, unbind or verify in an image")
        ->option_text("DIR");
    add_questions(app, line);
    add_bind(app, line);
    add_unbind(app, line);
    add_wait(app, line);
    add_prepare(app, line);
    add_others(app, line);
}

/// Returns what may have been meant; empty if nothing is near.
std::string hint_for(const CLI::App& app, const std::string& word)
{
    std::vector<std::string> verbs;
    for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(verb->get_name());
    const auto near = nearby(word, verbs);
    return near.empty() ? "" : "did you mean " + join(near, " or ") + "? ";
}

/// Returns true if the verb is about files, which an image has as well.
bool takes_root(const std::string& verb)
{
    return verb == "bind" || verb == "unbind" || verb == "verify";
}

int complain_of_usage(const CLI::App& app, const CLI::ParseError& error)
{
    if (error.get_exit_code() == 0)
        return app.exit(error);
    const auto words = app.remaining();
    if (app.get_subcommands().empty() && words.empty() && error.get_name() == "RequiredError") {
        fputs(app.help().c_str(), stderr);
        return exit_usage;
    }
    if (app.get_subcommands().empty() && !words.empty()) {
        warn("unknown verb '" + words.front() + "'; " + hint_for(app, words.front()) +
             "see rdmactl --help");
        return exit_usage;
    }
    warn(std::string(error.what()) + "; see rdmactl --help");
    return exit_usage;
}

int run(const CommandLine& line)
{
    const auto code = line.verb();
    if (code)
        return *code;
    const bool is_usage = code.error().kind == Complaint::Kind::usage;
    warn(code.error().text + (is_usage ? "; see rdmactl --help" : ""));
    return is_usage ? exit_usage : exit_failed;
}

/// Occupies what is closed of standard input, output and error: what is opened later would get
/// their numbers, and what is printed. To print there still fails.
void occupy_standard_files()
{
    int fd = -1;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

} // namespace

} // namespace rdmad::ctl

int main(int argc, char** argv)
{
    // whoever reads may go at any time: a write then fails
    rdmad::ctl::ignore_signal(SIGPIPE);
    // whoever started this may ignore it, and then nothing tells how a command ended
    (void)signal(SIGCHLD, SIG_DFL);
    rdmad::ctl::occupy_standard_files();
    rdmad::ctl::CommandLine line;
    CLI::App app("Ties services to RDMA devices: shows and steers rdmad.", "rdmactl");
    rdmad::ctl::add_all(app, line);
    auto [own, command] = rdmad::ctl::split_arguments(app, {argv + std::min(argc, 1), argv + argc});
    if (const auto option = rdmad::ctl::option_without_value(own)) {
        rdmad::ctl::warn("there is no value behind " + *option + "; see rdmactl --help");
        return rdmad::ctl::exit_usage;
    }
    line.inhibit.command = std::move(command);
    try {
        // takes the last one first
        std::reverse(own.begin(), own.end());
        app.parse(std::move(own));
    } catch (const CLI::ParseError& error) {
        return rdmad::ctl::complain_of_usage(app, error);
    }
    line.common.is_socket_given = app.count("--socket") > 0;
    if (!line.common.root.empty() &&
        !rdmad::ctl::takes_root(app.get_subcommands().front()->get_name())) {
        rdmad::ctl::warn("--root is for bind, unbind and verify; see rdmactl --help");
        return rdmad::ctl::exit_usage;
    }
    return rdmad::ctl::run(line);
}
