import Foundation
import KiiPushCore
import TestTraits
import Testing

/// A filter of `listen` only hides messages.
@Suite(.ownThreads) struct ListenFilterTests {
    private func numbers(_ result: Tool.Result) -> [String] {
        result.output.matches(of: /"custom":{"n":(\d+)}/).map { String($0.output.1) }
    }

    @Test func whatAFilterHidesTheNextRunReceivesInOrderAndForTheFirstTime() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts", "news")
        for (number, topic) in ["news", "alerts", "news", "alerts", "news"].enumerated() {
            try session.succeed("send", "topic", topic, "--data", #"{"n":\#(number + 1)}"#)
        }
        let filtered = try session.tool("listen", "--topic", "alerts", "-n2", "-t5m", "--json")
        #expect(filtered.exit == 0, "\(filtered.error)")
        #expect(self.numbers(filtered) == ["2", "4"])
        #expect(filtered.error.contains(/> [23] hidden by the filter wait in the inbox for the next run.\n/))
        let rest = try session.tool("listen", "-n3", "-t5m", "--json")
        #expect(rest.exit == 0, "\(rest.error)")
        #expect(self.numbers(rest) == ["1", "3", "5"])
        #expect(rest.output.matches(of: /"type":"message","id":\d,"attempt":1,/).count == 3, "\(rest.output)")
    }

    @Test func aWrongTopicIsWarnedAboutAndLosesNothing() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let listen = try session.tool.start(["listen", "--topic", "alrets"])
        let warning = listen.error(containing: "subscribe alrets\n")
        #expect(
            warning.contains(
                """
                warning: this profile is not subscribed to alrets, so nothing of it arrives
                         did you mean alerts? subscribe with: kii-push subscribe alrets

                """), "\(warning)")
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":1}"#)
        listen.stop()
        let next = try session.tool("listen", "-n1", "-t5m", "--json")
        #expect(self.numbers(next) == ["1"], "\(next.error)")
    }

    @Test func whatIsSetAsideSurvivesAKillAndIsNotHandedToTheSameRunAgain() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let listen = try session.ready(["listen", "--topic", "alerts"])
        for number in 1...3 { try session.succeed("send", "user", "me", "--data", #"{"n":\#(number)}"#) }
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":4}"#)
        #expect(listen.output(containing: "<-- newData").contains("n=4"))
        let waiting = try session.tool("inbox", "list", "--state", "waiting", "--json")
        #expect(waiting.output.matches(of: /"id":[123],/).count == 3, "\(waiting.output)")
        listen.signal(SIGKILL)
        listen.waitForDeath()
        let rest = try session.tool("listen", "-n3", "-t5m", "--json")
        #expect(self.numbers(rest) == ["1", "2", "3"], "\(rest.error)")
    }

    @Test func whoWatchesAFilteredListenSeesWhatItSetsAside() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let listen = try session.ready(["listen", "--topic", "alerts"])
        let watcher = try session.ready(["listen", "-n1"])
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        let result = watcher.waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.contains("<-- setAside       #1  "), "\(result.output)")
        #expect(result.output.contains("the filter hides it; it waits for the next run"))
        listen.stop()
    }

    @Test func meStandsForWhoeverReceives() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "--bucket", "user:me/notes")
        try session.succeed("send", "object", "user:me/notes", "--data", #"{"n":1}"#)
        try session.succeed("send", "user", "me", "--data", #"{"n":2}"#)
        let result = try session.tool("listen", "--bucket", "user:me/notes", "-n1", "-t5m")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.contains("--> push-to-app    bucket=user:"))
        #expect(!result.error.contains("not subscribed"))
        let wrong = try session.tool("listen", "--topic", "thing:me/lamp", "-n1", "-t5m")
        #expect(wrong.exit == 64)
        #expect(wrong.error.contains("'thing:me': this profile receives as a user"))
    }

    @Test func listenSaysAtItsStartWhereHiddenMessagesAreNotKept() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let first = try session.ready(["listen", "--in-memory", "--topic", "alerts"])
        let text = first.error(containing: "> Ready. ")
        let inMemory = "> Messages that the filter hides are done: an inbox in memory cannot keep them for later.\n"
        #expect(text.contains(inMemory), "\(text)")
        first.stop()
        let second = try session.ready(["listen"])
        let watcher = try session.ready(["listen", "--topic", "alerts"])
        let watched = watcher.error(containing: "> Ready. ")
        #expect(
            watched.contains("> Messages that the filter hides are not kept for later: that process handles them.\n"))
        watcher.signal(SIGTERM)
        #expect(watcher.waitForExit().exit == 0)
        second.stop()
    }
}
