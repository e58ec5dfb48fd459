import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

/// The manual pages, which are written by hand, have what the programs have.
@Suite(.ownThreads) struct ManualTests {
    private static let names = ["kii-push.1", "kii-push-emulator.1", "kii-push-gateway.1"]

    private static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Packaging/\(name)").path
    }

    private static func page(_ name: String) throws -> String {
        try String(contentsOfFile: self.path(name), encoding: .utf8).replacing("\\-", with: "-")
    }

    private let page: String

    init() throws {
        self.page = try Self.page("kii-push.1")
    }

    /// The part below a heading, up to the next one.
    private func part(_ heading: String) throws -> String {
        let parts = self.page.components(separatedBy: "\n\(heading)").dropFirst()
            .map { $0.components(separatedBy: "\n.S")[0] }
        return try #require(parts.isEmpty ? nil : parts.joined(separator: "\n"), "\(heading)")
    }

    @Test func everyCommandWithEveryOptionIsOnThePage() throws {
        let common = try self.part(".SH \"COMMON OPTIONS\"")
        let ofTopic = try self.part(".SS \"kii-push send topic ")
        let ofListen = try self.part(".SS \"kii-push listen\"")
        for command in CommandDescription(KiiPushCommand.self).withAllBelow where !command.isGroup {
            let own = try self.part(".SS \"\(command.path)")
            for option in command.options {
                let label = "\n" + option.names.map { "\\fB\($0)\\fR" }.joined(separator: ", ")
                let places =
                    [own, common] + (command.path == "kii-push send user" ? [ofTopic] : [])
                    + (command.path == "kii-push replay" ? [ofListen] : [])
                #expect(places.contains { $0.contains(label) }, "\(command.path): \(option.label)")
            }
            for positional in command.positionals {
                #expect(
                    own.prefix { $0 != "\n" }.contains(positional.valueName ?? ""),
                    "\(command.path): \(positional.label)")
            }
        }
    }

    @Test func thePageNamesNothingThatIsNotThere() throws {
        let all = CommandDescription(KiiPushCommand.self).withAllBelow
        let names = Set(all.flatMap { $0.options.flatMap(\.names) })
        for match in self.page.matches(of: /\n\\fB(-[^\n]*)/) {
            for name in match.output.1.matches(of: /(--?[A-Za-z-]+)/) {
                #expect(names.contains(String(name.output.1)), "\(name.output.1)")
            }
        }
        let paths = all.map(\.path)
        for match in self.page.matches(of: /\n\.SS "(kii-push[a-z -]*[a-z])/) {
            #expect(paths.contains(String(match.output.1)), "\(match.output.1)")
        }
    }

    @Test func everyExitCodeVariableAndTopicIsOnThePage() throws {
        let codes = try self.part(".SH \"EXIT STATUS\"")
        for code in ExitStatus.allCases { #expect(codes.contains("\n\\fB\(code.rawValue)\\fR\n"), "\(code)") }
        let variables = try self.part(".SH ENVIRONMENT")
        for variable in EnvironmentVariable.allCases where !EnvironmentVariable.ofGateways.contains(variable) {
            #expect(variables.contains("\n\\fB\(variable.name)\\fR\n"), "\(variable.name)")
        }
        let topics = try self.part(".SS \"kii-push help")
        for topic in HelpTopic.all { #expect(topics.contains(topic.name), "\(topic.name)") }
    }

    /// The names of options on the help pages of a program's commands.
    private func options(_ program: String, _ commands: [[String]]) throws -> Set<String> {
        let tool = try Tool(program)
        return try commands.reduce(into: []) { names, words in
            let help = try tool.start(words + ["--help"]).waitForExit().output
            for match in help.matches(of: /\n  (?:-\w, )?(--[a-z-]+)/) { names.insert(String(match.output.1)) }
        }
    }

    private static func optionsOfPage(_ program: String) throws -> Set<String> {
        let lines = try self.page("\(program).1").split(separator: "\n").filter { $0.hasPrefix("\\fB-") }
        return Set(lines.flatMap { $0.matches(of: /\\fB(--[a-z-]+)/).map { String($0.output.1) } })
    }

    @Test func thePageOfTheEmulatorHasItsOptions() throws {
        #expect(try self.options("kii-push-emulator", [[]]) == Self.optionsOfPage("kii-push-emulator"))
    }

    #if Postgres
    @Test func thePageOfTheGatewayHasItsCommandsAndTheirOptions() throws {
        let commands = [
            ["run"], ["fleet", "status"], ["fleet", "list"], ["fleet", "add"], ["fleet", "remove"], ["fleet", "drain"],
            ["store", "init"], ["store", "check"], ["inbox", "list"], ["inbox", "stats"],
            ["inbox", "retry"], ["inbox", "drop"], ["trace"], ["doctor"],
        ]
        let page = try Self.page("kii-push-gateway.1")
        for words in commands { #expect(page.contains(".SS \"kii-push-gateway \(words.joined(separator: " "))")) }
        #expect(
            try self.options("kii-push-gateway", [[]] + commands).union(["--version"])
                == Self.optionsOfPage("kii-push-gateway"))
    }
    #endif

    @Test(arguments: names) func thePageRendersWithoutAWarning(name: String) throws {
        let environment = ["MANWIDTH": "80", "LC_ALL": "C.UTF-8"].merging(try Tool().environment) { $1 }
        let path = Self.path(name)
        let groff = try RunningTool(["groff", "-ww", "-man", "-Tutf8", path], environment: environment).waitForExit()
        #expect(groff.error == "")
        #expect(groff.output != "")
        let man = try RunningTool(["man", "--warnings", "-l", path], environment: environment).waitForExit()
        #expect(man.exit == 0)
        #expect(man.error == "")
        let title = name.dropLast(2).uppercased()
        #expect(man.output.contains("\(title)(1)"))
    }
}
