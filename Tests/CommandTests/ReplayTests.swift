import Foundation
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct ReplayTests {
    private static let recording = """
        {"v":1,"type":"recorded","id":7,"received_at_ms":1000,"payload":"{\\"n\\":1, \\"sender\\":\\"u\\"}"}
        {"v":1,"type":"recorded","id":8,"received_at_ms":1500,"payload":"{\\"n\\":2,\\"topic\\":\\"a\\",\\"é\\":\\"\\\\n\\"}"}

        """

    @Test func handsOverByteForByteAndTellsTheAnswer() throws {
        let tool = try Tool()
        let file = try tool.write(Self.recording, to: "pushes.kpr")
        let command = #"cat >"$HOME/seen.$KII_PUSH_ID"; test "$KII_PUSH_ID" = 7 && exit 10; exit 65"#
        let result = try tool.start(["replay", file, "--shell", "--exec", command]).waitForExit()
        #expect(result.exit == 1)
        #expect(result.error.hasSuffix("2 handed over, 1 of them failed\n"), "\(result.error)")
        let verdicts = result.output.split(separator: "\n").filter { $0.contains("<--") }
        #expect(verdicts.count == 2)
        #expect(verdicts.first?.contains("<-- noData         #7  exec sh  exit 10  ") ?? false)
        #expect(verdicts.last?.contains("<-- dead           #8  exec sh  exit 65  ") ?? false)
        #expect(try String(contentsOfFile: tool.home.path + "/seen.7", encoding: .utf8) == #"{"n":1, "sender":"u"}"#)
        #expect(
            try String(contentsOfFile: tool.home.path + "/seen.8", encoding: .utf8)
                == #"{"n":2,"topic":"a","é":"\n"}"#)
    }

    /// Names come from outside, so they are encoded as in the fields of a request.
    @Test(arguments: [("topic", "KII_PUSH_TOPIC"), ("bucketID", "KII_PUSH_BUCKET")])
    func namesStayOnTheirLineInTheEnvironment(field: String, variable: String) throws {
        let tool = try Tool()
        let payload =
            field == "topic"
            ? #"{\"topic\":\"a b\\n100%\\u00e9\",\"objectScopeAppID\":\"x\",\"objectScopeType\":\"APP\"}"#
            : #"{\"bucketID\":\"a b\\n100%\\u00e9\",\"objectScopeAppID\":\"x\",\"objectScopeType\":\"APP\"}"#
        let line = #"{"v":1,"type":"recorded","id":7,"received_at_ms":1,"payload":"\#(payload)"}"#
        let file = try tool.write(line + "\n", to: "pushes.kpr")
        let result = try tool.start(
            ["replay", file, "--shell", "--exec", #"printf '%s' "$\#(variable)" > "$HOME/seen""#]
        ).waitForExit()
        #expect(result.exit == 0, "\(result.error)\(result.output)")
        #expect(try String(contentsOfFile: tool.home.path + "/seen", encoding: .utf8) == "a%20b%0A100%25%C3%A9")
    }

    @Test func keepsThePausesIfItIsAskedFor() throws {
        let tool = try Tool()
        let file = try tool.write(Self.recording, to: "pushes.kpr")
        let start = ContinuousClock.now
        let result = try tool.start(["replay", file, "--speed", "1", "--exec", "true", "--json"]).waitForExit()
        #expect(result.exit == 0, "\(result.error)")
        #expect(ContinuousClock.now - start >= .milliseconds(500))
        #expect(result.output.matches(of: /"type":"verdict".*"result":"newData".*"exit_status":0/).count == 2)
    }

    @Test func saysOnceWhyThereWasNoAnswer() throws {
        let tool = try Tool()
        let file = try tool.write(Self.recording, to: "pushes.kpr")
        let result = try tool.start(["replay", file, "--forward-to", "http://127.0.0.1:1/push"]).waitForExit()
        #expect(result.exit == 1)
        let verdict = try #require(result.output.split(separator: "\n").first { $0.contains("<-- failed") })
        #expect(verdict.components(separatedBy: "port 1 ").count == 2, "\(verdict)")
    }

    @Test(arguments: ["0", "10001", "9223372036854775807"])
    func atOnceIsHandledWhatAProcessCanHandle(jobs: String) throws {
        let tool = try Tool()
        let file = try tool.write(Self.recording, to: "pushes.kpr")
        let result = try tool("replay", file, "--exec", "true", "--jobs", jobs)
        #expect(result.exit == 64)
        #expect(result.error.contains("expected a whole number from 1 to 10,000"), "\(result.error)")
    }

    @Test func showsWhatIsLeftOutOfAMessage() throws {
        let tool = try Tool()
        let recording =
            #"{"v":1,"type":"recorded","id":7,"received_at_ms":0,"payload":"{\"aps\":{\"alert\":\"x\",\"badge\":\"1\"},\"s\":[]}"}"#
        let file = try tool.write(recording + "\n", to: "pushes.kpr")
        let result = try tool("replay", file)
        #expect(result.exit == 0, "\(result.error)")
        #expect(
            result.output.hasSuffix(
                #"""
                 "x"
                                 left out: "/s" is an array, not a single value
                                 left out: "/aps/badge" is a string, not a whole number

                """#), "\(result.output)")
        let json = try tool("replay", file, "--json").output
        #expect(
            json.contains(
                #""findings":[{"pointer":"/s","expected":"a single value","found":"array"},"#
                    + #"{"pointer":"/aps/badge","expected":"a whole number","found":"string"}]"#), "\(json)")
    }

    @Test func onlyShowsWhereNobodyIsNamed() throws {
        let tool = try Tool()
        let file = try tool.write(Self.recording, to: "pushes.kpr")
        let result = try tool("replay", file, "--only", "push-to-user")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.matches(of: /-->/).count == 1)
        #expect(result.output.contains("#8"))
    }

    @Test(arguments: [
        ("x", "pushes.kpr:1: this is no recorded message: "),
        (
            #"{"v":1,"type":"message"}"#,
            ":1: this is no recorded message: the document must have \"v\": 1 and \"type\": \"recorded\"\n"
        ),
        (
            #"{"v":1,"type":"recorded","id":1,"received_at_ms":0}"#,
            ":1: this is no recorded message: /payload is missing\n"
        ),
        (
            #"{"v":1,"type":"recorded","id":1,"received_at_ms":9007199254740993,"payload":"{}"}"#,
            ":1: this is no recorded message: /received_at_ms must be a whole number from "
        ),
        ("{}\n\nx\n", "pushes.kpr:1: this is no recorded message: "),
    ]) func refusesWhatIsNoRecording(text: String, message: String) throws {
        let tool = try Tool()
        let file = try tool.write(text, to: "pushes.kpr")
        let result = try tool("replay", file, "--exec", "true")
        #expect(result.exit == 65)
        #expect(result.output == "")
        #expect(result.error.contains(message), "\(result.error)")
        #expect(result.error.hasSuffix("          make a recording with: kii-push listen --record FILE\n"))
    }

    @Test func leavesOutALineThatIsNoMessageAndNamesIt() throws {
        let tool = try Tool()
        let lines = Self.recording.split(separator: "\n")
        let file = try tool.write("\(lines[0])\n{}\n\(lines[1])\n\(lines[1].dropLast(9))", to: "pushes.kpr")
        let result = try tool("replay", file, "--exec", "true")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.error.hasSuffix("2 handed over, 0 of them failed\n"), "\(result.error)")
        for number in [2, 4] {
            #expect(
                result.error.contains("warning: \(file):\(number): this is no recorded message: "), "\(result.error)")
        }
    }

    @Test(arguments: [
        ([], "name a recording, or '--dead', or '--message'"),
        (["--dead", "f"], "'--dead' and a recording exclude each other"),
        (["f", "--jobs", "2"], "'--jobs' needs '--exec' or '--forward-to'"),
        (["f", "--speed", "2"], "'--speed' needs '--exec' or '--forward-to'"),
    ]) func refusesWhatItDoesNotUnderstand(words: [String], message: String) throws {
        let result = try Tool().start(["replay"] + words).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.hasPrefix("kii-push: \(message)\n"), "\(result.error)")
    }

    @Test func triesDeadLettersOnACommandAndLeavesThem() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        let refused = try session.tool("listen", "-n1", "-t5m", "--shell", "-x", "exit 65")
        #expect(refused.exit == 0, "\(refused.error)")
        #expect(refused.output.contains("<-- dead           #1  exec sh  exit 65  "), "\(refused.output)")
        let result = try session.tool("replay", "--dead", "--exec", "true")
        #expect(result.exit == 0, "\(result.error)")
        #expect(result.output.contains("<-- newData        #1  exec true  exit 0  "))
        #expect(try session.succeed("inbox", "stats", "--json").contains(#""dead":1"#))
    }

    @Test func handsOverNoThingCommand() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.store([.done], payload: #"{"commandID":"c1","actions":[{"turnPower":{}}]}"#)
        let result = try session.tool("replay", "--message", "1", "--exec", "true")
        #expect(result.exit == 65)
        #expect(
            result.error.hasPrefix("kii-push: #1 is no whole push message, and 'replay' hands over nothing else\n"),
            "\(result.error)")
    }

    @Test func replaysWhatListenRecorded() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        for number in 1...3 { try session.succeed("send", "user", "me", "--data", #"{"n":\#(number)}"#) }
        let file = session.tool.home.path + "/pushes.kpr"
        let received = try session.tool(
            "listen", "-n3", "-t5m", "--record", file, "--shell", "-x", #"cat >>"$HOME/first"; echo >>"$HOME/first""#)
        #expect(received.exit == 0, "\(received.error)")
        let replayed = try session.tool(
            "replay", file, "--shell", "-x", #"cat >>"$HOME/second"; echo >>"$HOME/second""#)
        #expect(replayed.exit == 0, "\(replayed.error)")
        let texts = try ["first", "second"].map {
            try String(contentsOfFile: session.tool.home.path + "/" + $0, encoding: .utf8)
        }
        #expect(texts[0].split(separator: "\n").count == 3)
        #expect(texts[0] == texts[1])
    }

    /// The process that made the recording was killed while it wrote.
    @Test func aMessageThatWasBegunSpoilsNoOtherInItsRecording() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("send", "user", "me", "--data", #"{"n":1}"#)
        let file = try session.tool.write("\(Self.recording)\(Self.recording.prefix(40))", to: "pushes.kpr")
        let received = try session.tool("listen", "-n1", "-t5m", "--record", file)
        #expect(received.exit == 0, "\(received.error)")
        let replayed = try session.tool("replay", file, "--exec", "true")
        #expect(replayed.exit == 0, "\(replayed.error)")
        #expect(replayed.error.contains("warning: \(file):3: this is no recorded message: "), "\(replayed.error)")
        #expect(replayed.error.hasSuffix("3 handed over, 0 of them failed\n"), "\(replayed.error)")
    }
}
