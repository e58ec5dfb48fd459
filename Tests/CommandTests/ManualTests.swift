import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

/// The manual pages are written by hand; they must match the programs.
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

    private func part(_ heading: String) throws -> String { try Self.part(heading, of: self.page) }

    /// The part of a page below a heading, up to the next heading.
    private static func part(_ heading: String, of page: String) throws -> String {
        let parts = page.components(separatedBy: "\n\(heading)").dropFirst()
            .map { $0.components(separatedBy: "\n.S")[0] }
        return try #require(parts.isEmpty ? nil : parts.joined(separator: "\n"), "\(heading)")
    }

    @Test func everyCommandWithEveryOptionIsOnThePage() throws {
        let common = try self.part(".SH \"COMMON OPTIONS\"")
        let ofTopic = try self.part(".SS \"kii-push send topic ")
        let ofListen = try self.part(".SS \"kii-push listen\"")
        for command in CommandDescription(KiiPushCommand.self).selfAndDescendants where !command.isGroup {
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
        let all = CommandDescription(KiiPushCommand.self).selfAndDescendants
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

    /// The help page of each command of a program, keyed by the command's words.
    private static func helpPages(_ program: String, _ words: [String] = []) throws -> [[String]: String] {
        let help = try Tool(program).start(words + ["--help"]).waitForExit().output
        guard let list = help.components(separatedBy: "\nCommands:\n").dropFirst().first else { return [words: help] }
        let names = list.components(separatedBy: "\n\n")[0].matches(of: /(?:^|\n)  ([a-z-]+)/)
        return try names.reduce(into: [:]) { pages, match in
            pages.merge(try self.helpPages(program, words + [String(match.output.1)])) { $1 }
        }
    }

    private static func options(onHelp help: String) -> Set<String> {
        Set(help.matches(of: /\n  (?:-\w, )?(--[a-z-]+)/).map { String($0.output.1) })
    }

    private static func variables(onHelp help: String) -> Set<String> {
        let list = help.components(separatedBy: "\nEnvironment:\n").dropFirst().first ?? ""
        let lines = list.components(separatedBy: "\n\n")[0].split(separator: "\n").filter { !$0.hasPrefix("   ") }
        return Set(lines.compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    private static func options(of text: String) -> Set<String> {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("\\fB-") }
        return Set(lines.flatMap { $0.matches(of: /\\fB(--[a-z-]+)/).map { String($0.output.1) } })
    }

    private static func variables(of page: String) throws -> Set<String> {
        Set(try self.part(".SH ENVIRONMENT", of: page).matches(of: /\n\\fB([A-Z_]+)/).map { String($0.output.1) })
    }

    @Test func thePageOfTheEmulatorHasItsOptionsAndVariables() throws {
        let page = try Self.page("kii-push-emulator.1")
        let help = try #require(try Self.helpPages("kii-push-emulator")[[]])
        #expect(Self.options(of: page) == Self.options(onHelp: help))
        #expect(try Self.variables(of: page) == Self.variables(onHelp: help))
    }

    #if Postgres
    @Test func thePageOfTheGatewayHasItsCommandsWithTheirOptionsAndVariables() throws {
        let page = try Self.page("kii-push-gateway.1")
        let help = try Self.helpPages("kii-push-gateway")
        let headings = page.matches(of: /\n\.SS "kii-push-gateway ([a-z -]*[a-z])/).map { String($0.output.1) }
        #expect(headings.sorted() == help.keys.map { $0.joined(separator: " ") }.sorted())
        let common = Self.options(of: try Self.part(".SH \"COMMON OPTIONS\"", of: page))
        for (words, text) in help {
            let command = words.joined(separator: " ")
            let own = Self.options(of: try Self.part(".SS \"kii-push-gateway \(command)", of: page))
            // For options that two commands share, the manual describes them with only one command.
            let shared: Set<String> = command == "inbox drop" ? ["--all"] : []
            #expect(own.union(shared) == Self.options(onHelp: text).subtracting(common), "\(command)")
        }
        let all = try Tool("kii-push-gateway")("--help").output
        let onAnyPage = help.values.reduce(Self.options(onHelp: all)) { $0.union(Self.options(onHelp: $1)) }
        #expect(common.isSubset(of: onAnyPage))
        #expect(
            try Self.variables(of: page) == help.values.reduce(into: []) { $0.formUnion(Self.variables(onHelp: $1)) })
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
