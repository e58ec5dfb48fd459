import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import kii_push

/// The manual page, which is written by hand, has what the program has.
@Suite(.ownThreads) struct ManualTests {
    #if Postgres
    private static let names = ["kii-push.1", "kii-push-fleet.1"]
    #else
    private static let names = ["kii-push.1"]
    #endif

    private static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Packaging/\(name)").path
    }

    private let page: String

    init() throws {
        self.page = try Self.names.map { try String(contentsOfFile: Self.path($0), encoding: .utf8) }.joined()
            .replacing("\\-", with: "-")
    }

    /// The part below a heading, up to the next one.
    private func part(_ heading: String) throws -> String {
        let parts = self.page.components(separatedBy: "\n\(heading)").dropFirst()
            .map { $0.components(separatedBy: "\n.S")[0] }
        return try #require(parts.isEmpty ? nil : parts.joined(separator: "\n"), "\(heading)")
    }

    @Test func everyCommandWithEveryOptionIsOnThePage() throws {
        var common = try self.part(".SH \"COMMON OPTIONS\"")
        #if Postgres
        common += try self.part(".SH OPTIONS")
        #endif
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
        for variable in EnvironmentVariable.allCases {
            #expect(variables.contains("\n\\fB\(variable.name)\\fR\n"), "\(variable.name)")
        }
        let topics = try self.part(".SS \"kii-push help")
        for topic in HelpTopic.all { #expect(topics.contains(topic.name), "\(topic.name)") }
    }

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
