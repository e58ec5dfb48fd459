import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct CompletionTests {
    struct Case: CustomTestStringConvertible, Sendable {
        /// The typed line; `~` stands for the tool's home directory.
        var line: String
        var offers: [String]
        /// Whether these are all offers.
        var isAll = true

        var testDescription: String { self.line }
    }

    /// A build without PostgreSQL has no gateway that could answer.
    private static let ofGateway: [Case] = [
        Case(line: "kii-push-gateway ", offers: ["run", "fleet", "store", "inbox", "trace", "doctor"]),
        Case(line: "kii-push-gateway comp", offers: []),
        Case(line: "kii-push-gateway fleet d", offers: ["drain"]),
        Case(line: "kii-push-gateway run --gate", offers: ["--gateway"]),
        Case(line: "kii-push-gateway inbox list --state de", offers: ["dead"]),
        Case(line: "kii-push-gateway inbox list --color=n", offers: ["never"]),
        Case(line: "kii-push-gateway fleet add ~/pay", offers: ["pay load.json"]),
    ]

    #if Postgres
    static let cases = ofTools + ofGateway
    #else
    static let cases = ofTools
    #endif

    private static let ofTools: [Case] = [
        Case(line: "kii-push li", offers: ["listen"]),
        Case(line: "kii-push comp", offers: []),
        Case(line: "kii-push -p ", offers: ["default", "work"]),
        Case(line: "kii-push -p work tr", offers: ["trace"]),
        Case(line: "kii-push send user --wait=9m ", offers: []),
        Case(line: "kii-push inbox ", offers: ["list", "stats", "retry", "drop", "adopt"]),
        Case(line: "kii-push send t", offers: ["topic"]),
        Case(line: "kii-push sub --buck", offers: ["--bucket"]),
        Case(line: "kii-push explain --", offers: ["--json", "--keys", "--color"], isAll: false),
        Case(line: "kii-push explain --color ", offers: ["auto", "always", "never"]),
        Case(line: "kii-push explain --color=n", offers: ["never"]),
        Case(line: "kii-push register --site c", offers: ["cn3"]),
        Case(line: "kii-push inbox list --state de", offers: ["dead"]),
        Case(line: "kii-push help exit", offers: ["exit-codes"]),
        Case(line: "kii-push help inbox s", offers: ["stats"]),
        Case(line: "kii-push register -p ", offers: ["default", "work"]),
        Case(line: "kii-push register --profile w", offers: ["work"]),
        Case(line: "kii-push explain ~/pay", offers: ["pay load.json"]),
        Case(line: "kii-push explain --color never ~/pay", offers: ["pay load.json"]),
        Case(line: "kii-push send user me --data-file ~/pay", offers: ["pay load.json"]),
        Case(line: "kii-push replay ~/pay", offers: ["pay load.json"]),
        Case(line: "kii-push listen --record ~/pay", offers: ["pay load.json"]),
        Case(line: "kii-push config show -c ~/pay", offers: ["pay load.json"]),
        Case(line: "kii-push install-unit --directory ~/", offers: ["config/", "run/", "state/"]),
        Case(line: "kii-push listen --only d", offers: ["direct-push"]),
        Case(line: "kii-push send topic a --fixture wa", offers: ["wake"]),
        Case(line: "kii-push send user --wait --data-f", offers: ["--data-file"]),
        Case(line: "kii-push emulator --strict --temp", offers: ["--temporary"]),
        Case(line: "kii-push emulator --directory ~/", offers: ["config/", "run/", "state/"]),
        Case(line: "kii-push -p work emulator --temp", offers: ["--temporary"]),
        Case(line: "kii-push --profile=emulator emulator --color=n", offers: ["never"]),
        Case(line: "kii-push -p emulator tr", offers: ["trace"]),
        Case(line: "kii-push-emulator --temp", offers: ["--temporary"]),
        Case(line: "kii-push-emulator --color ", offers: ["auto", "always", "never"]),
        Case(line: "kii-push trace ", offers: ["1", "2"]),
        Case(line: "kii-push trace --profile work ", offers: ["1"]),
        Case(line: "kii-push inbox retry ", offers: ["2"]),
        Case(line: "kii-push trace --state-directory /nonexistent ", offers: []),
        Case(line: "kii-push send topic a", offers: []),
    ]

    private let tool: Tool

    init() throws {
        self.tool = try Tool()
        try self.tool.write("{}", to: "pay load.json")
        for (profile, count) in [("default", 2), ("work", 1)] {
            let directory = self.tool.home.path + "/state/kii-push/profiles/\(profile)"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Self.fillInbox(in: directory, count)
        }
    }

    /// Stores this many messages; the second is a dead letter.
    private static func fillInbox(in directory: String, _ count: Int) throws {
        let inbox = try Inbox(path: directory + "/inbox.sqlite")
        try inbox.transaction { transaction throws(InboxError) in
            let installation = try transaction.installation(id: "i")
            for number in 1...count {
                _ = try transaction.insert(
                    StoredMessage(
                        installation: installation, topic: "t", payload: Array("{}".utf8), receivedAt: .now(),
                        state: number == 2 ? .dead : .waiting, reason: number == 2 ? "no use" : nil))
            }
        }
    }

    @Test(arguments: cases) func bashOffers(example: Case) throws {
        // Bash also breaks words at '=', and passes the parts.
        let driver = #"""
            set -eu; source "$1"; line=$2
            [[ $line == *' ' ]] && last='' || last=${line##* }
            read -ra COMP_WORDS <<< "${line//=/ = }"
            [[ $line == *' ' ]] && COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            set +eu
            _kii_push
            ((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
            exit 0
            """#
        try self.check(example, try self.run(["bash", "-c", driver, "bash"], "bash", example))
    }

    @Test(arguments: cases) func fishOffers(example: Case) throws {
        let driver = "source $argv[1]; complete -C $argv[2] | string replace -r '\\t.*' ''; true"
        try self.check(example, try self.run(["fish", "--no-config", "-c", driver], "fish", example))
    }

    @Test(arguments: cases) func zshOffers(example: Case) throws {
        let driver = try self.tool.write(Self.zshDriver, to: "driver.zsh")
        let setup = try self.tool.write(Self.zshSetup, to: "setup.zsh")
        let offers = self.tool.home.path + "/offers"
        let environment = ["OFFERS": offers, "SETUP": setup, "TERM": "xterm"]
        let output = try self.run(["zsh", "-f", driver], "zsh", example, environment)
        #expect(output == "", "\(output)")
        let text = (try? String(contentsOfFile: offers, encoding: .utf8)) ?? ""
        try self.check(example, text)
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func theShellFindsNoFault(shell: String) throws {
        let words = [shell, "-n", Self.script(shell)]
        let check = try RunningTool(words, environment: self.tool.environment).waitForExit()
        #expect(check.exit == 0)
        #expect(check.output + check.error == "")
    }

    @Test func whatIsAskedNeverFails() throws {
        let broken = ["XDG_STATE_HOME": "/proc/nowhere", "HOME": "/proc/nowhere", "KII_PUSH_PROFILE": "../x"]
        let lines = [
            [], ["nonsense", ""], ["trace", "-p", ""], ["trace", "-p", "x", ""], ["inbox", "retry", ""], ["--", "--"],
            ["="],
        ]
        for line in lines {
            let result = try self.tool.start(["complete", "--"] + line, environment: broken).waitForExit()
            #expect(result.exit == 0)
            #expect(result.error == "")
            #expect((result.output == "") == !line.isEmpty, "\(line): \(result.output)")
        }
        #expect(try self.tool("complete", "--", "trace", "--pay").output == "--payload\tShow the payload as well.\n")
        #expect(try !self.tool("--help").output.contains("\n  complete "))
    }

    private func run(
        _ words: [String], _ shell: String, _ example: Case, _ more: [String: String] = [:]
    ) throws -> String {
        let directory = try Tool.executable.deletingLastPathComponent().path
        var environment = self.tool.environment.merging(more) { $1 }
        environment["PATH"] = directory + ":" + (environment["PATH"] ?? "")
        let line = example.line.replacing("~", with: self.tool.home.path)
        let result = try RunningTool(words + [Self.script(shell), line], environment: environment).waitForExit()
        #expect(result.exit == 0)
        #expect(result.error == "")
        return result.output
    }

    private static func script(_ shell: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Packaging/completions/kii-push.\(shell)").path
    }

    /// Shells differ in the parts of the word that they repeat: the directory, the option, the sign at its end.
    private func check(_ example: Case, _ output: String) throws {
        let offers = output.split(separator: "\n").map { line -> String in
            var text = String(line).replacing("\\", with: "")
            let home = self.tool.home.path + "/"
            if text.hasPrefix(home) { text.removeFirst(home.count) }
            if text.hasPrefix("--") { text = String(text.split(separator: "=").last ?? "") }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        let expected = Set(example.offers.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
        if example.isAll {
            #expect(Set(offers) == expected)
        } else {
            #expect(expected.isSubset(of: offers))
        }
    }

    /// Types the line into a zsh on a terminal of its own, and waits until that zsh ends.
    private static let zshDriver = #"""
        zmodload zsh/zpty
        export KII_SCRIPT=$1
        zpty shell zsh -f -i
        zpty -w shell 'source $SETUP'
        zpty -r shell text '*setup done*' || exit 1
        zpty -n -w shell "$2"$'\t'
        while zpty -r shell text; do :; done
        exit 0
        """#

    /// Writes the offers into a file, and exits after the last.
    private static let zshSetup = #"""
        PROMPT=
        unsetopt beep
        autoload -Uz compinit
        compinit -u -D
        source $KII_SCRIPT
        bindkey '^I' complete-word
        zstyle ':completion:*' insert-tab false
        finish() { exit 0 }
        comppostfuncs=(finish)
        compadd() {
            # With one of these it only tells which would fit.
            if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
                builtin compadd "$@"
                return
            fi
            local -a offered
            builtin compadd -A offered "$@"
            (($#offered)) && print -rl -- $offered >> $OFFERS
            builtin compadd "$@"
        }
        print setup\ done
        """#
}
