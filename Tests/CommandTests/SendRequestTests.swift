import KiiPushCore
import TestTraits
import Testing

/// Requests of the sending commands, as `--dry-run` shows them. Nobody listens at their address.
@Suite(.ownThreads) struct SendRequestTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    private static let environment = [
        "KII_PUSH_BASE_URL": "http://127.0.0.1:9/api", "KII_PUSH_APP_ID": "app1", "KII_PUSH_APP_KEY": "canary-key",
        "KII_PUSH_CLIENT_ID": "canary-client", "KII_PUSH_CLIENT_SECRET": "canary-secret",
    ]

    private func run(_ words: [String]) throws -> Tool.Result {
        try self.tool.start(["send"] + words, environment: Self.environment).waitForExit()
    }

    private func body(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONValue? {
        let result = try self.run(words + ["--dry-run", "--json"])
        try #require(result.exit == 0, "\(result.error)", sourceLocation: sourceLocation)
        #expect(result.error == "")
        return try JSONValue(parsing: result.output)["body"]
    }

    private static let shown: [([String], String)] = [
        (
            ["topic", "alerts", "--data", #"{"msg":"hi"}"#],
            """
            POST http://127.0.0.1:9/api/apps/app1/topics/alerts/push/messages
            Content-Type: application/vnd.kii.SendPushMessageRequest+json
            Authorization: Bearer (the token of the app's admin)

            {"data":{"msg":"hi"},"mqtt":{"enabled":true}}

            """
        ),
        (
            ["user", "u/1", "--data", #"{"msg":"hi"}"#],
            """
            POST http://127.0.0.1:9/api/apps/app1/users/u%2F1/push/messages
            Content-Type: application/vnd.kii.SendPushMessageRequest+json
            Authorization: Bearer (the token of the app's admin)

            {"data":{"msg":"hi"},"mqtt":{"enabled":true}}

            """
        ),
        (
            ["object", "group:g1/notes", "--data", #"{"a":{"b":[1,2.50]}}"#],
            """
            POST http://127.0.0.1:9/api/apps/app1/groups/g1/buckets/notes/objects
            Content-Type: application/json
            Authorization: Bearer (the token of the app's admin)

            {"a":{"b":[1,2.50]}}

            """
        ),
    ]

    @Test(arguments: shown)
    func aDryRunShowsTheRequestAndSendsNothing(words: [String], text: String) throws {
        let result = try self.run(words + ["--dry-run"])
        #expect(result.exit == 0)
        #expect(result.output == text)
        #expect(result.error == "")
        #expect(try self.run(words + ["--timeout", "20s"]).exit == 69)
    }

    @Test func aDryRunTellsProgramsTheSame() throws {
        let result = try self.run(["topic", "user:u1/todo", "--data", #"{"n":1}"#, "--dry-run", "--json"])
        #expect(
            result.output == """
                {"v":1,"type":"request","method":"POST",\
                "url":"http://127.0.0.1:9/api/apps/app1/users/u1/topics/todo/push/messages","as":"the app's admin",\
                "media_type":"application/vnd.kii.SendPushMessageRequest+json",\
                "body":{"data":{"n":1},"mqtt":{"enabled":true}}}

                """)
    }

    @Test func aDryRunRefusesWhatTheCallWouldRefuse() throws {
        let result = try self.run(["topic", "alerts", "--data", #"{"a":[1]}"#, "--dry-run"])
        #expect(result.exit == 65)
        #expect(result.output == "")
        #expect(
            result.error == """
                kii-push: message at "/data/a" cannot be used: it must be a string, number or Boolean, since data is flat

                """)
    }

    private static let changes: [([String], JSONValue)] = [
        (["/msg=hi"], ["msg": "hi"]),
        (["/n=3"], ["n": 3]),
        (["/n=2.50", "/t=true", "/s=\"3\""], ["n": 2.5, "t": true, "s": "3"]),
        (["/s=a=b"], ["s": "a=b"]),
        (["/s="], ["s": ""]),
        (["/a~1b~0c=1"], ["a/b~c": 1]),
        (["/a=1", "/a=2"], ["a": 2]),
        (["/="], ["": ""]),
        (["/aps-like=1", "/data=1", "/mqtt=2"], ["aps-like": 1, "data": 1, "mqtt": 2]),
    ]

    @Test(arguments: changes)
    func setMakesTheData(changes: [String], data: JSONValue) throws {
        let options = changes.flatMap { ["--set", $0] }
        let result = try self.run(["topic", "alerts", "--dry-run", "--json"] + options)
        #expect(result.exit == 0, "\(result.error)")
        #expect(try JSONValue(parsing: result.output)["body"]?["data"] == data)
    }

    @Test func setChangesWhatIsThere() throws {
        let data = #"{"keep":1,"list":[1,{"x":2}],"tree":{"leaf":3}}"#
        let body = try self.body(
            "object", "notes", "--data", data, "--set", "/list/1/x=4", "--set", "/list/-=5", "--set", "/list/0=6",
            "--set", "/tree/leaf=[7]", "--set", "/new/made/here=8")
        #expect(
            body?.text == #"{"keep":1,"list":[6,{"x":4},5],"tree":{"leaf":[7]},"new":{"made":{"here":8}}}"#)
    }

    private static let refusedChanges: [(words: [String], exit: Int32, error: String)] = [
        (
            ["object", "notes", "--data", #"{"a":"text"}"#, "--set", "/a/b=1"], 65,
            "cannot set /a/b: /a is a string, which has no members\n"
        ),
        (
            ["object", "notes", "--data", #"{"a":[1]}"#, "--set", "/a/2=1"], 65,
            "cannot set /a/2: /a has no element 2; it has 1\n"
        ),
        (
            ["object", "notes", "--data", #"{"a":[1]}"#, "--set", "/a/01=1"], 65,
            "cannot set /a/01: /a has no element 01; it has 1\n"
        ),
        (
            ["object", "notes", "--set", #"/a={"k":1,"k":2}"#], 65,
            "the data has the key /a/k more than once\n          write each key once\n"
        ),
        (
            ["topic", "alerts", "--set", "/a/b=1"], 65,
            #"message at "/data/a" cannot be used: it must be a string, number or Boolean, since data is flat"# + "\n"
        ),
        (
            ["topic", "alerts", "--set", "/a=null"], 65,
            #"message at "/data/a" cannot be used: it must be a string, number or Boolean, not null"# + "\n"
        ),
    ]

    @Test(arguments: refusedChanges)
    func setSaysWhatCannotBeChanged(words: [String], exit: Int32, error: String) throws {
        let result = try self.run(words + ["--dry-run"])
        #expect(result.exit == exit)
        #expect(result.output == "")
        #expect(result.error == "kii-push: " + error)
    }

    private static let ignoredChanges: [(words: [String], complaint: String)] = [
        (
            ["user", "u", "--set", "/aps/badge=1"],
            "'--set /aps/badge' would be ignored: the cloud writes aps itself; use --alert, --badge and so on, or --message"
        ),
        (
            ["topic", "t", "--set", "/apns/contentAvailable=true"],
            "'--set /apns/contentAvailable' would be ignored: it is not among the data; --message takes a whole body"
        ),
        (
            ["topic", "t", "--set", "/data/msg=hi"],
            "'--set /data/msg' would be ignored: pointers begin inside the data; use --set /msg"
        ),
        (
            ["topic", "t", "--set", "/gcm/collapseKey=x"],
            "'--set /gcm/collapseKey' would be ignored: it is not among the data; --message takes a whole body"
        ),
        (
            ["topic", "t", "--set", "/sendWhen=true"],
            "'--set /sendWhen' would be ignored: it is not among the data; --message takes a whole body"
        ),
        (
            ["topic", "t", "--set", "/topic=x"],
            "'--set /topic' would be ignored: the cloud writes topic itself"
        ),
        (
            ["topic", "t", "--type", "NEWS", "--set", "/type=1"],
            "'--set /type' would be ignored: the cloud writes type itself"
        ),
        (
            ["user", "u", "--set", "/senderURI=x"],
            "'--set /senderURI' would be ignored: the cloud writes senderURI itself"
        ),
        (
            ["object", "b", "--set", "/aps/badge=1"],
            "'--set /aps/badge' would be ignored: the cloud writes the whole push to app itself; send a message instead, "
                + "with 'send topic' or 'send user'"
        ),
    ]

    @Test(arguments: ignoredChanges)
    func setRefusesWhatWouldBeIgnored(words: [String], complaint: String) throws {
        let result = try self.run(words)
        #expect(result.exit == 64)
        #expect(result.error == "kii-push: \(complaint)\n          see 'kii-push send \(words[0]) --help'\n")
    }

    @Test func setMayWriteWhatTheCloudLeavesOut() throws {
        let body = try self.body("user", "u", "--set", "/topic=x", "--set", "/when=1")
        #expect(body?["data"] == ["topic": "x", "when": 1])
    }

    private static let options: [([String], JSONValue)] = [
        (["--type", "NEWS"], ["data": ["n": 1], "pushMessageType": "NEWS", "mqtt": ["enabled": true]]),
        (
            ["--alert", "A", "--title", "T", "--sound", "ping", "--badge", "3", "--category", "C", "--wake"],
            [
                "data": ["n": 1], "mqtt": ["enabled": true],
                "apns": [
                    "enabled": true, "alert": ["title": "T", "body": "A"], "sound": "ping", "badge": 3,
                    "contentAvailable": true, "category": "C",
                ],
            ]
        ),
    ]

    @Test(arguments: options)
    func optionsBecomeTheFieldsOfTheCall(options: [String], expected: JSONValue) throws {
        let result = try self.run(["topic", "t", "--data", #"{"n":1}"#, "--dry-run", "--json"] + options)
        #expect(result.exit == 0, "\(result.error)")
        #expect(try JSONValue(parsing: result.output)["body"] == expected)
    }

    /// Every member that the call accepts, in the caller's order.
    private static let wholeBody =
        #"{"sendWhen":true,"sendTopicID":false,"fcm":{"enabled":true,"collapseKey":"k","timeToLive":300},"#
        + #""gcm":{"enabled":true,"dryRun":true},"jpush":{"enabled":true,"data":{"n":2.50}},"data":{"n":"1"}}"#

    @Test func aFileIsTheWholeBodyAsItIsWritten() throws {
        let file = try self.tool.write(Self.wholeBody + "\n", to: "body.json")
        for kind in ["topic", "user"] {
            #expect(try self.body(kind, "t", "--message", file)?.text == Self.wholeBody)
        }
        let piped = try self.tool.start(
            ["send", "topic", "t", "--message", "-", "--dry-run", "--json"], input: Self.wholeBody,
            environment: Self.environment
        ).waitForExit()
        #expect(try JSONValue(parsing: piped.output)["body"]?.text == Self.wholeBody)
        let shown = try #require(try self.body("user", "u", "--fixture", "alert", "--type", "NEWS"))
        let again = try self.tool.write(shown.text, to: "again.json")
        #expect(try self.body("user", "u", "--message", again) == shown)
    }

    private static let wrongBodies: [(text: String, complaint: String)] = [
        ("{\n  \"data\": {\"n\": 1},\n  \"apn\": {}\n}", "3:10: /apn is unknown; did you mean 'apns'?"),
        ("{\"data\":\n {\"n\":[1]}}", "2:7: /data/n must be a string, number or Boolean, since data is flat"),
        ("{\"mqtt\":{\"data\":7}}", "1:17: /mqtt/data must be an object"),
        ("{\"data\":{},\n\"data\":{}}", ": /data is there twice; write each key once"),
        ("[1]", "1:1: it must be an object"),
        ("{\"data\":", "1:9: the file is cut short"),
        ("{\"data\":{\"n\":\"" + String(repeating: "x", count: 65_536) + "\"}}", "is larger than 64 KiB"),
    ]

    @Test(arguments: wrongBodies)
    func aWrongBodyIsToldWithItsPlace(text: String, complaint: String) throws {
        let file = try self.tool.write(text, to: "body.json")
        let result = try self.run(["topic", "t", "--message", file, "--dry-run"])
        #expect(result.exit == 65)
        #expect(result.output == "")
        #expect(result.error.contains(complaint), "\(result.error)")
    }

    @Test func aFileThatCannotBeReadIsMissingInput() throws {
        #expect(try self.run(["topic", "t", "--message", "/nonexistent", "--dry-run"]).exit == 66)
    }

    @Test(arguments: [
        "--data={}", "--data-file=f", "--fixture=hello", "--set=/n=1", "--type=T", "--alert=A", "--title=T",
        "--sound=s",
        "--badge=1", "--category=c", "--wake",
    ])
    func aFileGoesWithNoOptionThatBuildsAMessage(option: String) throws {
        let result = try self.run(["topic", "t", "--message", "/nonexistent", option])
        let name = option.split(separator: "=")[0]
        #expect(result.exit == 64)
        #expect(result.error.contains("'--message' and '\(name)' exclude each other"), "\(result.error)")
    }

    private static let mistakes: [([String], String)] = [
        (["--collapse-key", "k"], "unknown option '--collapse-key'"),
        (["--fixture", "hello"], "'--fixture' excludes '--data' and '--data-file'"),
        (["--dry-run", "--wait"], "'--dry-run' and '--wait' exclude each other"),
        (
            ["--fixture", "nosuch"],
            "the value 'nosuch' is invalid for '--fixture NAME': expected one of hello, reading, alert, localized, actions, "
                + "wake, clear-badge, android, typed"
        ),
        (
            ["--set", "msg=hi"],
            "the value 'msg=hi' is invalid for '--set POINTER=VALUE': expected a JSON Pointer and a value, such as /msg=hi "
                + "or /count=3"
        ),
        (
            ["--set", "/msg"],
            "the value '/msg' is invalid for '--set POINTER=VALUE': expected a JSON Pointer and a value, such as /msg=hi "
                + "or /count=3"
        ),
        (["--wait=soon"], "the value 'soon' is invalid for '--wait [TIME]': expected " + Self.timeSpan),
        (["--wait", "x"], "unexpected argument 'x'"),
    ]
    private static let timeSpan = "a time span above 0 such as 500ms, 10s, 5m or 2h"

    @Test(arguments: mistakes)
    func mistakesAreSaidInWords(options: [String], message: String) throws {
        let result = try self.run(["topic", "t", "--data", #"{"n":1}"#] + options)
        #expect(result.exit == 64)
        #expect(result.error == "kii-push: \(message)\n          see 'kii-push send topic --help'\n")
    }

    @Test func somethingHasToBeSent() throws {
        for kind in ["topic", "user"] {
            let result = try self.run([kind, "t"])
            #expect(result.exit == 64)
            #expect(
                result.error == """
                    kii-push: give the data with '--data', '--data-file', '--fixture' or '--set', an alert with '--alert', or the \
                    whole message with '--message'
                              see 'kii-push send \(kind) --help'

                    """)
        }
        let object = try self.run(["object", "b"])
        #expect(object.exit == 64)
        #expect(
            object.error == """
                kii-push: give the data with one of '--data', '--data-file', '--fixture' and '--set'
                          see 'kii-push send object --help'

                """)
    }

    @Test func everyFixtureCanBeSentAndChanged() throws {
        let result = try self.tool("send", "fixtures", "--json")
        let fixtures = try result.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(fixtures.count == 11)
        for fixture in fixtures {
            let name = try #require(fixture["name"]?.string)
            if fixture["for"]?.string == "object" {
                #expect(try self.body("object", "b", "--fixture", name) == fixture["body"])
                #expect(try self.body("object", "b", "--fixture", name, "--set", "/x=1")?["x"] == 1)
            } else {
                #expect(try self.body("topic", "t", "--fixture", name) == fixture["body"])
                #expect(try self.body("user", "u", "--fixture", name, "--set", "/x=y")?["data"]?["x"] == "y")
            }
        }
        let text = try self.tool("send", "fixtures").output
        #expect(text.hasPrefix("send topic, send user:\n  hello       one text, the least there is\n"))
    }

    @Test func optionsChangeAFixture() throws {
        let body = try self.body("user", "u", "--fixture", "alert", "--title", "Bar", "--badge", "0")
        #expect(
            body?["apns"] == [
                "enabled": true, "alert": ["title": "Bar", "body": "Dinner is ready"], "sound": "default", "badge": 0,
            ])
    }

    @Test func noSecretIsShown() throws {
        for options in [[], ["--json"], ["-v"]] {
            let result = try self.run(["topic", "alerts", "--fixture", "typed", "--dry-run"] + options)
            #expect(!(result.output + result.error).contains("canary"))
        }
    }
}
