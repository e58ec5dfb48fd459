import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct ReceivingTests {
    @Test func losesNoPushThatWasSentBeforeTheFirstListen() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        #expect(try session.succeed("subscribe", "alerts") == "subscribed alerts\n")
        #expect(try session.succeed("subscribe", "alerts") == "subscribed alerts (it was already)\n")
        #expect(try session.succeed("subscriptions") == "alerts\n")
        for number in 1...3 {
            let line = try session.succeed("send", "topic", "alerts", "--data", #"{"n":\#(number)}"#)
            let pattern = #/sent (\S+) to topic alerts, 1 receiver\n  http://127\.0\.0\.1:\d+/__kii/ui#message/(\S+)\n/#
            let match = try #require(line.wholeMatch(of: pattern))
            #expect(match.output.1 == match.output.2)
        }
        let result = try session.tool("listen", "-n", "3", "-t", "5m")
        #expect(result.exit == 0)
        #expect(result.output.matches(of: /--> push-to-user {3}topic=alerts .* B {2}#\d+\n {17}n=[123]\n/).count == 3)
        #expect(result.output.matches(of: /<-- newData {8}#\d+ {2}[\d.]+ m?s\n/).count == 3)
    }

    @Test func saysThatItIsReadyBeforeItShowsWhatWaited() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        for number in 1...2 { try session.succeed("send", "user", "me", "--data", #"{"n":\#(number)}"#) }
        // The failed messages stay in the inbox.
        let failing = try session.tool("listen", "-n1", "-t5m", "--complete-as", "failed")
        #expect(failing.exit == 0, "\(failing.error)")
        let tool = try Tool.executable.path
        let shell = ["/bin/sh", "-c", "exec \"\(tool)\" listen -n2 -t 5m 2>&1"]
        let result = try RunningTool(shell, environment: session.tool.environment).waitForExit()
        #expect(result.exit == 0, "\(result.output)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("> Ready. ") == true, "\(result.output)")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(result.output)")
    }

    @Test func saysWhatIsWaitedForAmidAHandler() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let gate = session.tool.home.path + "/gate"
        let script = try session.tool.write(
            "#!/bin/sh\nwhile [ ! -e '\(gate)' ]; do sleep 0.05; done\n", to: "wait.sh", mode: 0o700)
        for words in [["listen", "--exec", script], ["run", "--exec", script]] {
            try? FileManager.default.removeItem(atPath: gate)
            try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
            let listen = try session.ready(words)
            if words[0] == "listen" { _ = listen.output(containing: "-->") }
            listen.waitUntil { try session.tool("inbox", "list", "--state", "running").output.contains("#") }
            listen.signal(SIGINT)
            let text = listen.error(containing: "nothing is lost.\n")
            #expect(text.contains(/> Waiting for the answer to #\d, \d+ s at most; \^C again ends it/), "\(text)")
            try session.tool.write("", to: "gate")
            #expect(listen.waitForExit().exit == 130)
        }
    }

    @Test func takesUpNoMoreMessagesThanItWasAskedFor() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        for number in 1...5 { try session.succeed("send", "topic", "alerts", "--data", #"{"n":\#(number)}"#) }
        for number in 1...5 {
            let result = try session.tool("listen", "-n1", "-t5m", "--json")
            #expect(result.exit == 0)
            #expect(result.output.matches(of: /"type":"message"/).count == 1)
            #expect(result.output.contains(#""attempt":1,"#))
            #expect(result.output.contains(#""custom":{"n":\#(number)}"#))
        }
    }

    @Test func showsAllThreeKinds() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "user:me/todo", "--bucket", "user:me/notes")
        let user = try session.whoami("user")
        try session.succeed("send", "topic", "user:me/todo", "--data", "-", input: #"{"msg":"topic"}"#)
        try session.succeed("send", "user", "me", "--data", #"{"msg":"direct"}"#, "--type", "NEWS")
        let file = try session.tool.write(#"{"title":"milk"}"#, to: "note.json")
        try session.succeed("send", "object", "user:me/notes", "--data-file", file)
        let result = try session.tool("listen", "-n", "3", "-t", "5m")
        #expect(result.exit == 0)
        #expect(result.output.contains("--> push-to-user   topic=user:\(user)/todo "))
        #expect(result.output.contains("--> direct-push    from=admin "))
        #expect(result.output.contains(#" NEWS msg="direct""#))
        #expect(result.output.contains("--> push-to-app    bucket=user:\(user)/notes "))
        #expect(result.output.contains(" DATA_OBJECT_CREATED object="))
    }

    /// The former one has taken its installations along.
    @Test func whatAppleGetsIsAskedForInANewEmulatorToo() throws {
        let session = try EmulatorSession()
        try session.succeed("register", "--payload", "apns")
        try session.restart()
        try session.succeed("register")
        #expect(try session.whoami("payloads") == "apns")
    }

    @Test func receivesWhatAppleGetsIfItIsAskedFor() throws {
        let session = try EmulatorSession()
        try session.succeed("register", "--payload", "apns")
        #expect(try session.whoami("payloads") == "apns")
        let alert = ["--alert", "Dinner is ready", "--title", "Kitchen", "--badge", "2", "--sound", "default"]
        for words in [alert + ["--category", "meal"], ["--wake"]] {
            let sent = try session.tool.start(["send", "user", "me", "--data", #"{"n":1}"#] + words).waitForExit()
            #expect(sent.exit == 0, "\(sent.error)")
        }
        try session.succeed("send", "user", "me", "--alert", "alone", "--badge=-1")
        #expect(try session.tool("send", "user", "me").exit == 64)
        // The message has no APNs section, so the receiver does not get it.
        try session.succeed("send", "user", "me", "--data", #"{"n":2}"#)
        let result = try session.tool("listen", "-n3", "-t5m", "--json")
        #expect(result.exit == 0)
        #expect(result.output.contains(#""aps":{"alert":{"body":"alone"},"badge":-1}"#))
        let aps =
            #""aps":{"alert":{"title":"Kitchen","body":"Dinner is ready"},"badge":2,"sound":"default","category":"meal"}"#
        #expect(result.output.contains(aps))
        #expect(result.output.contains(#""aps":{"content-available":1}"#))
        // Another `register` changes nothing unless it names another format.
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"n":3}"#, "--alert", "Supper")
        #expect(try session.tool("listen", "-n1", "-t5m", "--json").output.contains(#""body":"Supper""#))
        try session.succeed("register", "--payload", "mqtt")
        try session.succeed("send", "user", "me", "--data", #"{"n":4}"#, "--alert", "Tea")
        let plain = try session.tool("listen", "-n1", "-t5m", "--json").output
        #expect(plain.contains(#""custom":{"n":4}"#))
        #expect(!plain.contains("Tea"))
    }

    @Test func saysThatNobodySeesAnAlertThatIsNotReceived() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        for words in [["--alert", "Dinner"], ["--data", #"{"n":1}"#, "--title", "Kitchen"], ["--fixture", "alert"]] {
            let sent = try session.tool.start(["send", "user", "me"] + words).waitForExit()
            #expect(sent.exit == 0, "\(sent.error)")
            #expect(sent.error.contains("nobody will see the alert"), "\(words): \(sent.error)")
            #expect(sent.error.contains("kii-push register --payload apns"), "\(words): \(sent.error)")
        }
        #expect(try session.tool("send", "user", "me", "--data", #"{"n":1}"#).error == "")
        try session.succeed("register", "--payload", "apns")
        #expect(try session.tool("send", "user", "me", "--alert", "Dinner").error == "")
    }

    @Test func triesAgainWhatFailed() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let failed = try session.tool("listen", "-n1", "-t5m", "--complete-as", "failed")
        #expect(failed.exit == 0)
        #expect(failed.output.contains("attempt 1, retry in 1.0 s"))
        let done = try session.tool("listen", "-n1", "-t5m", "--complete-as", "noData")
        #expect(done.exit == 0)
        #expect(done.output.contains("  attempt 2\n"))
        #expect(done.output.contains("<-- noData"))
        // The answered message does not come again: the next one is the first to arrive.
        try session.succeed("send", "user", "me", "--data", #"{"msg":"next"}"#)
        let next = try session.tool("listen", "-n1", "-t5m")
        #expect(next.exit == 0)
        #expect(next.output.contains(#"msg="next""#))
        #expect(!next.output.contains(#"msg="hi""#))
    }

    @Test func endsWhenItsTimeIsOver() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        var result = Tool.Result(exit: 69, output: "", error: "")
        // The time starts with the connection, which on a busy machine may take longer than the shortest of these
        // limits.
        for time in ["1s", "20s", "5m"] where result.exit == 69 {
            result = try session.tool("listen", "-n1", "-t", time)
        }
        #expect(result.exit == 124)
        #expect(result.output == "")
        #expect(result.error.hasSuffix("time ran out with 0 of 1 messages\n"))
    }

    @Test func receivesNothingBesideAnotherReceiver() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let user = try session.whoami("user")
        let first = try session.tool.start(["listen"])
        let ready = /> Ready. mqtts:\S+, QoS 1, session resumed {3}\^C to quit\n  Installation \S{8}…, MQTT 3.1.1. .*\n/
        #expect(first.error(containing: "Times are UTC.\n").wholeMatch(of: ready) != nil)
        let second = try session.tool("register", "--anew")
        #expect(second.exit == 75)
        let words =
            "kii-push: process \(first.processID) receives as this profile, and the cloud lets one receiver connect "
            + "at a time\n"
        #expect(second.error.hasPrefix(words), "\(second.error)")
        let third = try session.tool("listen", "--complete-as", "failed")
        #expect(third.exit == 75)
        #expect(
            third.error
                == "kii-push: another process receives, and its handler answers\n"
                + "          stop it first, or only watch it: leave out --complete-as, --exec and --forward-to\n")
        #expect(try session.whoami("user") == user)
        try session.succeed("subscribe", "alerts")
        try session.succeed("send", "topic", "alerts", "--data", #"{"n":1}"#)
        #expect(first.output(containing: "<-- newData").contains("n=1"))
        first.stop()
    }

    @Test func refusesAnInboxOfANewerVersionAndLeavesItAlone() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let path = session.tool.home.path + "/state/kii-push/profiles/default/inbox.sqlite"
        var bytes = try Data(contentsOf: URL(filePath: path))
        // The user version of a SQLite file, at byte 60, big-endian.
        bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
        try bytes.write(to: URL(filePath: path))
        let result = try session.tool("listen", "-t5m")
        #expect(result.exit == 78)
        #expect(
            result.error.contains(
                "\(path) was written by a newer version (format 99); use that version, or another state directory"))
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }

    @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(0))])
    func endsGracefullyOnASignal(number: Int32, status: Int32) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let listener = try session.tool.start(["listen"])
        #expect(listener.error(containing: "> Ready.").hasPrefix("> Ready. "))
        listener.signal(number)
        #expect(listener.waitForExit().exit == status)
        #expect(session.stop(number).exit == status)
    }

    @Test func saysWhyNoConnectionCameAbout() throws {
        let session = try EmulatorSession(keepsState: true)
        try session.succeed("register")
        let file = session.tool.home.path + "/run/kii-push/emulator.json"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(session.stop().exit == 0)
        // As after a crash: the file names a running process (here the test's own), but nobody listens.
        let own = try #require(ProcessIdentity(of: getpid()))
        let stale = text.replacing(/"pid": *\d+/, with: "\"pid\": \(own.processID)")
            .replacing(/"startTime": *\d+/, with: "\"startTime\": \(own.startTime)")
        try session.tool.write(stale, to: "run/kii-push/emulator.json")
        var result = Tool.Result(exit: 0, output: "", error: "")
        // A connection attempt takes a moment, and on a busy machine longer than the shortest of these limits.
        for time in ["500ms", "20s", "5m"] where !result.error.contains("  !  offline        ") {
            result = try session.tool("listen", "-n1", "-t", time)
        }
        #expect(result.exit == 69)
        #expect(result.output == "")
        #expect(result.error.contains("  !  offline        "))
        #expect(result.error.contains("\nkii-push: no connection came about in time: "))
    }

    @Test func findsAnEmulatorThatWasRestartedOnOtherPorts() throws {
        let session = try EmulatorSession(keepsState: true)
        try session.succeed("register")
        let listen = try session.ready(["listen"])
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        #expect(listen.output(containing: "<-- newData").contains("n=1"))
        let before = try session.runtimeFile()
        // The emulator prefers its previous ports, so this names other free ports.
        let ports = try ["--port", "--mqtt-port", "--mqtts-port"].flatMap { option in
            let socket = try Loopback.bound()
            close(socket.descriptor)
            return [option, "\(socket.port)"]
        }
        try session.restart(options: ports)
        #expect(try session.runtimeFile()["baseURL"] != before["baseURL"])
        try session.succeed("send", "user", "me", "--data", #"{"n":2}"#)
        #expect(listen.output(containing: "n=2").contains("n=2"))
        listen.signal(SIGINT)
        let result = listen.waitForExit()
        #expect(result.exit == 130, "\(result.error)")
        #expect(result.error.contains("> The emulator listens elsewhere now: http://127.0.0.1:"))
    }

    @Test func endsWithoutAWordWhenNobodyReadsAnyMore() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let tool = try Tool.executable.path
        let shell = ["/bin/sh", "-c", "(\"\(tool)\" listen -q -t 5m; echo $? >\"$HOME/status\") | true"]
        let result = try RunningTool(shell, environment: session.tool.environment).waitForExit()
        let status = try String(contentsOf: session.tool.home.appending(path: "status"), encoding: .utf8)
        #expect(status == "0\n")
        #expect(result.error == "")
        // A message that nobody could read counts as not received.
        #expect(try session.tool("listen", "-n1", "-t5m").output.contains(#"msg="hi""#))
    }
}
