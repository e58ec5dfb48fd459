import Foundation
import Glibc
import TestTraits
import Testing

@Suite(.ownThreads) struct RunWordsTests {
    @Test func aSecondOneIsToldWhoReceivesAlsoWhereItsMetricsSocketIsTaken() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let words = ["run", "--exec", "true", "--metrics-socket", session.tool.home.path + "/m.sock"]
        let first = try session.ready(words)
        let second = try session.tool.start(words).waitForExit()
        #expect(second.exit == 75)
        let text = "kii-push: process \(first.processID) receives as this profile"
        #expect(second.error.hasPrefix(text), "\(second.error)")
        first.stop()
    }

    @Test func whoWatchesAReloadIsNotToldThatItHasEnded() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let run = try session.ready(["run", "--exec", "true"])
        let watcher = try session.ready(["listen"])
        run.signal(SIGHUP)
        let text = watcher.error(containing: "> It receives again.")
        #expect(text.contains("> It does not receive any more; waiting 15 s for it, or another, to begin anew.\n"))
        #expect(text.contains("> It receives again. 'kii-push inbox list' has what came meanwhile.\n"), "\(text)")
        #expect(!text.contains("has ended"))
        watcher.signal(SIGTERM)
        #expect(watcher.waitForExit().exit == 0)
        run.stop()
    }

    @Test func aSecondSignalHasAnExitCodeOfItsOwnThatHelpNames() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let script = try session.tool.write("#!/bin/sh\nexec sleep 60\n", to: "slow.sh", mode: 0o700)
        let run = try session.ready(["run", "--exec", script])
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        run.waitUntil { try session.tool("inbox", "list", "--state", "running").output.contains("#1") }
        run.signal(SIGTERM)
        let text = run.error(containing: "nothing is lost.\n")
        #expect(text.contains("> Waiting for the answer to #1, 10 s at most;"), "\(text)")
        run.signal(SIGTERM)
        run.waitForDeath()
        #expect(try session.tool("run", "--help").output.contains("\n  143  Ended at once by a second SIGTERM."))
        #expect(try session.tool("help", "exit-codes").output.contains("143"))
    }
}
