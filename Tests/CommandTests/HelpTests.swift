import Foundation
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct HelpTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    static let commands: [[String]] = [
        ["register"], ["subscribe"], ["unsubscribe"], ["send", "topic"],
        ["send", "user"], ["send", "object"], ["send", "fixtures"], ["listen"], ["run"], ["trace"], ["replay"],
        ["explain"], ["doctor"], ["subscriptions"], ["config", "show"],
        ["inbox", "list"], ["inbox", "stats"], ["inbox", "retry"], ["inbox", "drop"],
        ["help"], ["install-unit"],
    ]

    @Test(arguments: commands)
    func everyCommandShowsExamplesBeforeItsOptions(command: [String]) throws {
        let result = try self.tool.start(command + ["--help"]).waitForExit()
        #expect(result.exit == 0)
        #expect(result.error == "")
        let examples = try #require(result.output.range(of: "\n\nExamples:\n  # "))
        let usage = try #require(result.output.range(of: "\n\nUsage: kii-push \(command.joined(separator: " "))"))
        #expect(examples.upperBound < usage.lowerBound)
        #expect(result.output.contains("\n  kii-push \(command.joined(separator: " "))"))
        #expect(result.output.contains("\nExit codes:\n  0 "))
        #expect(result.output.split(separator: "\n").filter { $0.count > 80 && !$0.hasPrefix("  kii-push") } == [])
    }

    @Test(arguments: commands)
    func helpComesUnderThreeNames(command: [String]) throws {
        let long = try self.tool.start(command + ["--help"]).waitForExit().output
        #expect(try self.tool.start(command + ["-h"]).waitForExit().output == long)
        #expect(try self.tool.start(["help"] + command).waitForExit().output == long)
    }

    @Test func sendTopicHasTheOptionsThatPeopleUse() throws {
        let help = try self.tool("send", "topic", "--help").output
        #expect(help.contains("\n  --message FILE "))
        #expect(help.matches(of: /\n  (-\w, )?--/).count < 35, "\(help)")
    }

    @Test func withoutACommandItShowsTheHelpBelowHeadings() throws {
        let result = try self.tool()
        #expect(result.exit == 0)
        #expect(result.output == (try self.tool("--help").output))
        let headings = ["Get ready:", "Subscriptions:", "Receive and send:", "Find out:", "Help:"]
        let places = headings.compactMap { result.output.range(of: "\n\n\($0)\n")?.lowerBound }
        #expect(places.count == headings.count && places == places.sorted())
        // Every command is in exactly one group.
        let tool = CommandDescription(KiiPushCommand.self)
        #expect(tool.configuration.groups.flatMap(\.names).sorted() == tool.subcommands.map(\.name).sorted())
    }

    @Test func helpWinsOverWhateverElseIsWrong() throws {
        let result = try self.tool("explain", "--bogus", "a", "b", "--help")
        #expect(result.exit == 0)
        #expect(result.output.hasPrefix("Says what a push payload means, why"))
    }

    @Test func toolNamesEveryCommand() throws {
        let result = try self.tool("--help")
        #expect(result.exit == 0)
        let head = "Receives, sends and looks into Kii-style push messages on Linux.\n\nExamples:\n"
        #expect(result.output.hasPrefix(head))
        for command in Self.commands {
            #expect(result.output.contains("\n  \(command[0]) "))
        }
    }

    @Test(arguments: HelpTopic.all.map(\.name) + ["scopes", "environment", "exit-codes", "files", "json"])
    func topicsHaveAPageEach(topic: String) throws {
        let result = try self.tool("help", topic)
        #expect(result.exit == 0)
        #expect(result.output.count > 200)
        #expect(result.output.split(separator: "\n").filter { $0.count > 90 } == [])
    }

    @Test func thePageOfFilesNamesWhatConfigurationMaySayOfRun() throws {
        let page = try self.tool("help", "files").output
        for member in RunSettings.members { #expect(page.contains("\"\(member)\"")) }
        #expect(!page.contains("\"stdin\""))
    }

    @Test func noTopicStandsBeforeACommand() throws {
        #expect(try self.tool("help", "config").output == self.tool("config", "--help").output)
        for command in CommandDescription(KiiPushCommand.self).selfAndDescendants {
            let page = try HelpPage(Array(command.words.dropFirst()), of: CommandDescription(KiiPushCommand.self))
            guard case .command(let found) = page else {
                Issue.record("a topic stands before \(command.path)")
                continue
            }
            #expect(found.words == command.words)
        }
    }

    @Test func anUnknownTopicNamesTheTopicsAndTheNearest() throws {
        let result = try self.tool("help", "exitcodes")
        #expect(result.exit == 64)
        #expect(result.output == "")
        let message = "there is no command or topic 'exitcodes'; did you mean 'exit-codes'?"
        #expect(result.error.hasPrefix("kii-push: \(message)\n"))
        for topic in HelpTopic.all { #expect(result.error.contains(topic.name)) }
        #expect(try self.tool("help", "nothing").error.hasPrefix("kii-push: there is no command or topic 'nothing'\n"))
        let below = try self.tool("help", "inbox", "lst").error
        #expect(below.hasPrefix("kii-push: there is no command or topic 'inbox lst'; did you mean 'inbox list'?\n"))
    }

    @Test func theTreeHasEveryCommandOnALineOfItsOwn() throws {
        let result = try self.tool("help", "--tree")
        #expect(result.exit == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        let all = CommandDescription(KiiPushCommand.self).selfAndDescendants
        #expect(lines.count == all.count)
        for (line, command) in zip(lines, all) {
            let indent = String(repeating: "  ", count: command.words.count - 1)
            #expect(line.hasPrefix("\(indent)\(command.name) "))
            #expect(line.hasSuffix("  \(command.configuration.abstract)"))
        }
        #expect(try self.tool("help", "inbox", "--tree").output.hasPrefix("inbox    Shows"))
        #expect(try self.tool("help", "files", "--tree").exit == 64)
    }

    @Test func versionIsOneLine() throws {
        let result = try self.tool("--version")
        #expect(result.exit == 0)
        #expect(result.output.wholeMatch(of: /kii-push \d+\.\d+\.\d+\n/) != nil)
        #expect(result.error == "")
    }
}
