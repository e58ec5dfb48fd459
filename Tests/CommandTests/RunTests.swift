import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct RunTests {
    @Test func startsAProgramForEachMessageAndTakesItsExitStatus() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let script = "read -r payload; [[ $payload == *hi* ]] && exit 10; exit 65"
        let run = try session.ready(["run", "--exec", "bash", "-v", "--", "-c", script])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- noData").contains("<-- noData"))
        try session.succeed("send", "user", "me", "--data", #"{"msg":"no"}"#)
        #expect(run.output(containing: "<-- dead").contains("rejected: the program refused it (exit status 65)"))
        run.signal(SIGTERM)
        let result = run.waitForExit()
        #expect(result.exit == 0)
        #expect(result.error.matches(of: /program: process \d+ ended with exit status 10\n/).count == 1)
    }

    @Test func keepsAProgramThatSpeaksTheProtocolRunning() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let journal = session.tool.home.appending(path: "journal").path
        let program = productsDirectory.appending(path: "ActivatedAgent").path
        let command = [
            "/usr/bin/env", "KII_APP_ID=app", "KII_APP_KEY=key", "KII_BASE_URL=http://127.0.0.1:1/api", program,
            journal,
        ]
        let run = try session.tool.start(
            ["run", "--activate", command[0], "-v", "--grace", "5m", "--"] + command.dropFirst())
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        for number in 1...3 { try session.succeed("send", "user", "me", "--data", #"{"n":\#(number)}"#) }
        let lines = run.output(containing: "<-- newData        #3 ")
        #expect(lines.matches(of: /<-- newData {8}#[123]\b/).count == 3)
        run.signal(SIGTERM)
        let result = run.waitForExit()
        #expect(result.exit == 0)
        #expect(result.error.matches(of: /program: started as process \d+\n/).count == 1)
        #expect(result.error.matches(of: /program: process \d+ ended with exit status 0\n/).count == 1)
        #expect(try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n").count == 3)
    }

    @Test func showsAlertsAndStartsTheProgramWhenTheUserOpensOne() async throws {
        let session = try EmulatorSession()
        try session.succeed("register", "--payload", "apns")
        let desktop = try await Desktop(in: session.tool.home.path)
        let daemon = try await desktop.startDaemon()
        let journal = session.tool.home.appending(path: "journal").path
        let program = productsDirectory.appending(path: "OpeningAgent").path
        let run = try session.tool.start(
            ["run", "--activate", program, "--present", "--", journal],
            environment: ["DBUS_SESSION_BUS_ADDRESS": desktop.address])
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        try session.succeed("send", "user", "me", "--title", "Dinner", "--alert", "It is ready")
        let notification = try await daemon.nextNotification()
        #expect(notification.name == "OpeningAgent")
        #expect(notification.title == "Dinner")
        #expect(!FileManager.default.fileExists(atPath: journal))
        try await daemon.order("invoke \(notification.id) default")
        #expect(run.output(containing: "<-- newData").contains("<-- newData"))
        #expect(
            try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n") == [
                "didFinishLaunching(options)", "reception (inactive, open)", "openedFromNotification(It is ready)",
            ])
        run.stop()
    }

    /// The badge number belongs to the agent. The process that shows alerts counts; the handler's program reads and
    /// sets the number.
    @Test func theBadgeIsOneNumberWhereverAMessageIsHandled() async throws {
        let session = try EmulatorSession()
        try session.succeed("register", "--payload", "apns")
        let desktop = try await Desktop(in: session.tool.home.path)
        let daemon = try await desktop.startDaemon()
        let (journal, badges) = ("\(session.tool.home.path)/journal", "\(session.tool.home.path)/badges")
        let program = productsDirectory.appending(path: "OpeningAgent").path
        func start() throws -> RunningTool {
            let run = try session.tool.start(
                ["run", "--activate", program, "--present", "--", journal, badges],
                environment: ["DBUS_SESSION_BUS_ADDRESS": desktop.address])
            #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
            return run
        }
        func sees(_ lines: Set<String>, _ run: RunningTool) throws {
            var seen: Set<String> = []
            run.waitUntil {
                let text = try String(contentsOfFile: badges, encoding: .utf8)
                seen = Set(text.split(separator: "\n").map { String($0) })
                return seen == lines
            }
            #expect(seen == lines)
            try FileManager.default.removeItem(atPath: badges)
        }
        let first = try start()
        // The push with a badge starts the program, which reads the number first.
        try session.succeed("send", "user", "me", "--wake", "--badge", "7")
        #expect(first.output(containing: "<-- newData        #1 ").contains("#1 "))
        try sees(["launch 7", "now 7", "reception 7"], first)
        // A push without a badge removes the number, although no program runs. The number is still gone when the user
        // opens the notification.
        try session.succeed("send", "user", "me", "--title", "Dinner", "--alert", "It is ready")
        let notification = try await daemon.nextNotification()
        try sees(["now 0"], first)
        try await daemon.order("invoke \(notification.id) default")
        #expect(try await daemon.next("close") == "\(notification.id)")
        #expect(first.output(containing: "<-- newData        #2 ").contains("#2 "))
        try sees(["action 0"], first)
        // The next program finds the number that this program sets.
        try session.succeed("send", "user", "me", "--wake", "--badge", "3", "--data", #"{"do":"setBadge"}"#)
        #expect(first.output(containing: "<-- newData        #3 ").contains("#3 "))
        try sees(["now 3", "reception 3", "now 5"], first)
        first.stop()
        // A message without `aps` does not change the number.
        try session.succeed("register", "--payload", "mqtt")
        let second = try start()
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(second.output(containing: "<-- newData        #4 ").contains("#4 "))
        try sees(["launch 5", "now 5", "reception 5"], second)
        second.stop()
    }

    @Test func aProgramDoesNotGetTheSecretsOfTheTool() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        // The environment may hold the secrets too, because they are the emulator's own.
        let key = try #require(try session.runtimeFile()["appKey"]?.string)
        let secrets = ["KII_PUSH_APP_KEY": key, "KII_PUSH_PASSWORD": "secret", "CREDENTIALS_DIRECTORY": "/nowhere"]
        let run = try session.tool.start(
            ["run", "--activate", "bash", "--", "-c", #"env > "$HOME/environment"; exit 10"#], environment: secrets)
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.output(containing: "<-- noData").contains("<-- noData"))
        let environment = try String(contentsOfFile: session.tool.home.path + "/environment", encoding: .utf8)
        #expect(environment.contains("KII_PUSH_LAUNCH_FD="))
        for name in secrets.keys { #expect(!environment.contains("\(name)=")) }
        run.stop()
    }

    @Test(arguments: ["/nowhere/program", "no-such-program", "/etc/passwd", "/tmp"])
    func receivesNothingForAProgramThatIsNotThere(program: String) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let result = try session.tool("run", "--activate", program)
        #expect(result.exit == 66)
        #expect(result.error.contains("there is no program '\(program)'"))
    }

    @Test func saysWhyAProgramCannotBeStarted() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let program = session.tool.home.appending(path: "program")
        try Data("#!/bin/sh\n".utf8).write(to: program)
        #expect(chmod(program.path, 0o700) == 0)
        let run = try session.ready(["run", "--activate", program.path])
        try FileManager.default.removeItem(at: program)
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let line =
            "cannot start \(program.path): No such file or directory; name it with its whole path, or install it"
        #expect(run.output(containing: "<-- failed").contains("threw: \(line); attempt 1, retry in 1.0 s"))
        #expect(run.error(containing: "warning: program: \(line)").contains(line))
        run.stop()
    }

    @Test func losesNothingWhenItIsKilledAndEndsWhatItLeft() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let hanging = try session.ready(["run", "--activate", "sleep", "-v", "--", "1000"])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        let line = hanging.error(containing: "program: started as process ")
        let left = try #require(line.firstMatch(of: /started as process (\d+)/)?.1)
        hanging.signal(SIGKILL)
        hanging.waitForDeath()
        let next = try session.tool.start(["run", "--exec", "bash", "-v", "--", "-c", "exit 10"])
        #expect(next.output(containing: "<-- noData").contains("<-- noData"))
        next.signal(SIGTERM)
        let result = next.waitForExit()
        #expect(result.exit == 0)
        #expect(result.error.contains("program: process \(left), which an earlier run has left, is ended"))
    }

    @Test(arguments: [["--exec", "true"], ["--activate", "true"], ["--forward-to", "1"]])
    func endsWhatMoreCommandsThanItRunsItselfHaveLeft(next: [String]) throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        for topic in ["one", "two"] { try session.succeed("subscribe", topic) }
        let script = #"echo "began $KII_PUSH_TOPIC $$"; exec sleep 1000"#
        let hanging = try session.ready(["run", "--shell", "--exec", script, "--jobs", "2", "-v"])
        for topic in ["one", "two"] { try session.succeed("send", "topic", topic, "--data", #"{"msg":"hi"}"#) }
        let directory = session.tool.home.path + "/state/kii-push/profiles/default"
        let left = ["one", "two"].compactMap { topic in
            hanging.error(containing: "began \(topic)").split(separator: "\n")
                .first { $0.hasPrefix("began \(topic) ") }?.split(separator: " ").last
        }
        // The tool logs this line after it has stored the process; the command does not wait for that.
        for processID in left { _ = hanging.error(containing: "started as process \(processID)\n") }
        #expect(left.count == 2)
        hanging.signal(SIGKILL)
        hanging.waitForDeath()
        let run = try session.tool.start(["run", "-v"] + next)
        for processID in left {
            let text = "process \(processID), which an earlier run has left, is ended"
            #expect(run.error(containing: text).contains(text))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(!files.contains("activated-2"))
        run.stop()
    }

    @Test func leavesTheProgramsOfOneThatReceivesAlone() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let script = #"echo began; until [[ -e $HOME/end ]]; do sleep 0.05; done"#
        let run = try session.ready(["run", "--exec", "bash", "--", "-c", script])
        try session.succeed("send", "user", "me", "--data", #"{"msg":"hi"}"#)
        #expect(run.error(containing: "began").contains("began"))
        for words in [["--exec", "true"], ["--forward-to", "1"]] {
            #expect(try session.tool.start(["run"] + words).waitForExit().exit == 75)
        }
        try session.tool.write("", to: "end")
        #expect(run.output(containing: "<-- ").contains("<-- newData        #1  exec bash  exit 0"))
        run.stop()
    }

    @Test func receivesOnWhenNobodyReadsItsOutputAnyMore() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        // The shell becomes the tool, and the reader of its output ends at once.
        let script = #"exec "$0" run --exec true 2>&1 > >(exec true)"#
        let run = try RunningTool(
            ["/bin/bash", "-c", script, try Tool.executable.path], environment: session.tool.environment)
        #expect(run.output(containing: "> Ready. ").contains("> Ready. "))
        for number in 1...2 {
            let sent = try session.tool("send", "user", "me", "--data", #"{"n":1}"#, "--wait", "9m")
            #expect(sent.exit == 0, "\(sent.error)")
            #expect(sent.output.contains("newData by profile default  #\(number)  "))
        }
        _ = session.stop()
        #expect(run.output(containing: "  offline").contains("  offline"))
        run.signal(SIGTERM)
        let result = run.waitForExit()
        #expect(result.exit == 0)
        #expect(result.output.matches(of: /nobody reads the output any more/).count == 1)
    }

    @Test func aSignalEndsItWhileItRegisters() throws {
        let tool = try Tool()
        let listener = try tool.configureSilentCloud()
        defer { close(listener) }
        let run = try tool.start(["run", "--insecure", "--exec", "true"], environment: ["KII_PUSH_APP_KEY": "k"])
        #expect(run.error(containing: "> Registering").contains("> Registering"))
        run.signal(SIGINT)
        let result = run.waitForExit()
        #expect(result.exit == -SIGINT)
        #expect(!result.error.contains("timed out"))
    }

    @Test func wantsAProgram() throws {
        let result = try Tool()("run")
        #expect(result.exit == 64)
        #expect(result.error.contains("'--exec COMMAND', '--forward-to URL' or '--activate PROGRAM' is missing"))
    }
}
