import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import kii_push

/// What is made from the description of the commands: manual pages, `help --json`, completion scripts.
@Suite(.ownThreads) struct ManualTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    /// A command as it is declared, which is what the parser goes by.
    private struct Declared {
        var words: [String]
        var options: [ArgumentDefinition]
        var positionals: [ArgumentDefinition]

        static let all = Declared.below(KiiPushCommand.self, [])

        private static func below(_ type: any ParsableCommand.Type, _ parents: [String]) -> [Declared] {
            let words = parents + [type.configuration.commandName]
            let arguments = type.init().boundArguments().map(\.definition)
            let own = Declared(
                words: words,
                options: arguments.filter { $0.long != nil },
                positionals: arguments.filter { $0.long == nil }
            )
            return [own] + type.configuration.subcommands.flatMap { Declared.below($0, words) }
        }

        var isHidden: Bool { self.words == ["kii-push", "complete"] }
    }

    private func pages() throws -> [String: String] {
        let directory = self.tool.home.appending(path: "man")
        let result = try self.tool("help", "--man", directory.path)
        #expect(result.exit == 0)
        #expect(result.output + result.error == "")
        return try FileManager.default.contentsOfDirectory(atPath: directory.path).reduce(into: [:]) { pages, name in
            pages[name] = try String(contentsOf: directory.appending(path: name), encoding: .utf8)
        }
    }

    @Test func thereIsAPageForEveryCommandWithEveryOption() throws {
        var pages = try self.pages()
        #expect(pages.removeValue(forKey: "kii-push.json.5") != nil)
        for command in Declared.all where !command.isHidden {
            let name = command.words.joined(separator: "-") + ".1"
            let found = pages.removeValue(forKey: name)
            let page = try #require(found, "\(name)")
            for argument in command.options + command.positionals {
                let label = argument.label.replacing("-", with: "\\-")
                #expect(page.contains("\n.TP\n\\fB\(label)\\fR\n"), "\(name): \(argument.label)")
            }
            let examples = try #require(page.range(of: "\n.SH \"EXAMPLES\"\n"))
            let options = try #require(page.range(of: "\n.SH \"OPTIONS\"\n"))
            #expect(examples.upperBound < options.lowerBound)
        }
        #expect(pages.keys.sorted() == [])
    }

    @Test func thePagesRenderWithoutAWarning() throws {
        let environment = ["MANWIDTH": "80", "LC_ALL": "C.UTF-8"].merging(self.tool.environment) { $1 }
        for name in try self.pages().keys {
            let path = self.tool.home.path + "/man/\(name)"
            let groff = try RunningTool(["groff", "-ww", "-man", "-Tutf8", path], environment: environment)
                .waitForExit()
            #expect(groff.error == "", "\(name)")
            #expect(groff.output != "")
            let man = try RunningTool(["man", "--warnings", "-l", path], environment: environment).waitForExit()
            #expect(man.exit == 0)
            #expect(man.error == "", "\(name)")
            let title = name.split(separator: ".").dropLast().joined(separator: ".").uppercased()
            #expect(man.output.contains("\(title)(\(name.suffix(1)))"), "\(name)")
        }
    }

    @Test func theFirstPageHoldsWhatBelongsToNoCommand() throws {
        let page = try #require(try self.pages()["kii-push.1"])
        for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "SCOPES", "SEE ALSO"] {
            #expect(page.contains("\n.SH \"\(section)\"\n"), "\(section)")
        }
        for code in ExitStatus.allCases { #expect(page.contains("\n\\fB\(code.rawValue)\\fR\n")) }
        for variable in EnvironmentVariable.allCases { #expect(page.contains("\n\\fB\(variable.name)\\fR\n")) }
    }

    @Test func pagesThatCannotBeWrittenAreAnError() throws {
        let result = try self.tool("help", "--man", "/proc/nowhere")
        #expect(result.exit == 73)
        #expect(result.error.hasPrefix("kii-push: cannot make the directory /proc/nowhere: "))
        #expect(try self.tool("help", "--man", "/tmp", "explain").exit == 64)
    }

    @Test func programsGetEveryCommandWithEveryOption() throws {
        let result = try self.tool("help", "--json")
        #expect(result.error == "")
        let root = try JSONValue(parsing: result.output)
        #expect(root["v"]?.int64 == 1)
        #expect(root["type"]?.string == "help")
        #expect(root["version"]?.string == KiiPushCommand.configuration.version)
        var found: [String: JSONValue] = [:]
        func visit(_ command: JSONValue) throws {
            found[try #require(command["path"]?.string)] = command
            for next in try #require(command["commands"]?.array) { try visit(next) }
        }
        try visit(root)
        for command in Declared.all where !command.isHidden {
            let path = command.words.joined(separator: " ")
            let described = found.removeValue(forKey: path)
            let object = try #require(described, "\(path)")
            let names = Set((object["options"]?.array ?? []).flatMap { $0["names"]?.array ?? [] }.compactMap(\.string))
            #expect(names.isSuperset(of: command.options.flatMap(\.names)), "\(path)")
            let values = (object["arguments"]?.array ?? []).compactMap { $0["value"]?.string }
            #expect(values == command.positionals.compactMap(\.valueName), "\(path)")
        }
        #expect(found.keys.sorted() == [])
    }

    @Test func programsGetValuesDefaultsAndExitCodes() throws {
        let object = try JSONValue(parsing: self.tool("help", "--json", "explain").output)
        let options = try #require(object["options"]?.array)
        let color = try #require(options.first { $0["names"]?.array?.first?.string == "--color" })
        #expect(color["default"]?.string == "auto")
        #expect(color["values"]?.array?.compactMap(\.string) == ["auto", "always", "never"])
        #expect(object["exit_codes"]?.array?.compactMap { $0["code"]?.int64 } == [0, 64, 65, 66])
        #expect(object["arguments"]?.array?.first?["completes"]?.string == "file")
        let topic = try JSONValue(parsing: self.tool("help", "--json", "json").output)
        #expect(topic["text"]?.string?.contains("exit_codes (code, category, meaning)") == true)
    }

    @Test(arguments: CompletionCommand.Shell.allCases)
    func everyCommandAndOptionIsInTheScript(shell: CompletionCommand.Shell) throws {
        let script = try self.tool("completion", shell.rawValue).output
        for command in Declared.all {
            let path = command.words.joined(separator: " ")
            let start: String
            switch shell {
            case .bash: start = "'\(path)') _kii_push_words "
            case .zsh: start = "\n_kii-push_\((["main"] + command.words.dropFirst()).joined(separator: "_"))() {\n"
            case .fish: start = "complete -c kii-push -n '__kii_push_at \(path)' "
            }
            #expect(script.contains(start) == !command.isHidden, "\(path)")
            guard !command.isHidden else { continue }
            let own = script.components(separatedBy: start).dropFirst().map { part in
                part.components(separatedBy: shell == .zsh ? "\n}\n" : "\n")[0]
            }.joined(separator: "\n")
            for option in command.options {
                let name = shell == .fish ? "-l \(option.long ?? "") " : "--\(option.long ?? "")"
                #expect(own.contains(name), "\(path) \(name)")
            }
        }
    }
}
