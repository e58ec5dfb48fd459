import KiiPushCore
import TestTraits
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite(.ownThreads) struct OutputSchemaTests {
    /// The faults of an output's lines. The output must have at least one line of each of these types.
    static func check(
        _ output: String, has types: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var seen: Set<String> = []
        for text in output.split(separator: "\n") {
            let line = try JSONValue(parsing: Array(text.utf8))
            let type = line["type"]?.string ?? ""
            seen.insert(type)
            let schema = try SchemaCheck.schema("output")["$defs"]?[type]
            let faults = schema.map { SchemaCheck.faults(line, $0, isClosed: true) } ?? ["it has no schema"]
            #expect(faults == [], "\(text)", sourceLocation: sourceLocation)
        }
        #expect(seen.isSuperset(of: types), "\(output)", sourceLocation: sourceLocation)
    }

    @Test func namesEveryLineOnceAndRefusesWhatIsNone() throws {
        let schema = try SchemaCheck.schema("output")
        let lines = try #require(schema["$defs"]?.members)
        #expect(schema["oneOf"]?.array?.map { $0["$ref"]?.string } == lines.map { "#/$defs/\($0.key)" })
        for line in lines { #expect(line.value["properties"]?["type"]?["const"]?.string == line.key) }
        let retried = try #require(schema["$defs"]?["retried"])
        #expect(SchemaCheck.faults(["v": 1, "type": "retried", "id": 7], retried, isClosed: true) == [])
        let wrong: [JSONValue] = [
            ["v": 1, "type": "retried"], ["v": 1, "type": "retried", "id": "7"], ["v": 2, "type": "retried", "id": 7],
            ["v": 1, "type": "dropped", "id": 7], ["v": 1, "type": "retried", "id": 7, "more": 1],
        ]
        for line in wrong { #expect(SchemaCheck.faults(line, retried, isClosed: true) != [], "\(line)") }
    }

    @Test func declaresWhatIsPrintedOfMessages() throws {
        let session = try EmulatorSession()
        try Self.check(session.succeed("register", "--json"), has: "registration")
        try Self.check(session.succeed("subscribe", "alerts", "--json"), has: "subscription")
        try Self.check(session.succeed("subscriptions", "--json"), has: "subscription")
        try Self.check(session.succeed("send", "topic", "alerts", "--data", #"{"n":1}"#, "--json"), has: "sent")
        try Self.check(session.succeed("send", "user", "me", "--data", #"{"n":2}"#, "--json"), has: "sent")
        try Self.check(session.succeed("subscribe", "--bucket", "news", "--json"), has: "subscription")
        try Self.check(session.succeed("send", "object", "news", "--data", #"{"n":3}"#, "--json"), has: "sent")
        try Self.check(
            session.succeed("send", "user", "me", "--data", #"{"n":4}"#, "--dry-run", "--json"), has: "request")
        let rest = ["--json", "-t5m", "--shell", "--exec"]
        for (count, command) in [("1", "exit 0"), ("1", "exit 75"), ("1", "exit 65")] {
            let heard = try session.tool.start(["listen", "-n", count] + rest + [command]).waitForExit()
            #expect(heard.exit == 0, "\(heard.error)")
            try Self.check(heard.output, has: "message", "verdict")
        }
        try Self.check(
            session.succeed("inbox", "list", "--state", "done", "--state", "dead", "--json"), has: "inbox_message")
        try Self.check(session.succeed("inbox", "stats", "--json"), has: "inbox")
        for number in 1...3 {
            try Self.check(session.succeed("trace", "\(number)", "--payload", "--json"), has: "trace")
        }
        try Self.check(session.succeed("inbox", "retry", "--all", "--json"), has: "retried")
        try Self.check(session.succeed("doctor", "--json", "--timeout", "600s"), has: "check")
        let missing = try session.tool("trace", "99", "--json")
        try Self.check(missing.error, has: "error")
    }

    @Test func declaresWhatIsPrintedOfPayloadsAndSettings() throws {
        let tool = try Tool()
        let payloads = [
            #"{"topic":"alerts","sender":"u","when":1,"objectScopeType":"APP","a":1}"#, "{",
            #"{"aps":{"alert":"hi","badge":1,"odd":[]},"t":"alerts","s":"u","own":{"nested":true}}"#,
            #"{"bucketID":"news","bucketType":"rw","objectID":"o","type":"DATA_OBJECT_CREATED","modifiedAt":1}"#, "[]",
        ]
        for payload in payloads {
            let result = try tool("explain", "--json", input: payload)
            try Self.check(result.output, has: "explanation")
            if result.exit != 0 { try Self.check(result.error, has: "error") }
        }
        try Self.check(tool("config", "show", "--origin", "--json").output, has: "setting")
        try Self.check(tool("send", "fixtures", "--json").output, has: "fixture")
        try Self.check(tool("explain", "--bogus", "--json").error, has: "error")
    }
}
