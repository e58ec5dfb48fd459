import KiiPushCore
import TestTraits
import Testing

/// What the sending commands put together, as `--dry-run` shows it. Nothing listens where they would send to.
@Suite(.ownThreads) struct SendRequestTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    /// A cloud that nobody is, and its administrator.
    private static let environment = [
        "KII_PUSH_BASE_URL": "http://127.0.0.1:9/api", "KII_PUSH_APP_ID": "app1", "KII_PUSH_APP_KEY": "canary-key",
        "KII_PUSH_CLIENT_ID": "canary-client", "KII_PUSH_CLIENT_SECRET": "canary-secret",
    ]

    private func run(_ words: [String]) throws -> Tool.Result {
        try self.tool.start(["send"] + words, environment: Self.environment).waitForExit()
    }

    /// The body of the request that the words would send.
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
        // Without, the same command finds that nobody is there.
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
            "'--set /aps/badge' would be ignored: the cloud writes aps itself; use --badge"
        ),
        (
            ["topic", "t", "--set", "/aps/alert/body=x"],
            "'--set /aps/alert/body' would be ignored: the cloud writes aps itself; use --alert"
        ),
        (
            ["topic", "t", "--set", "/aps/thread-id=x"],
            "'--set /aps/thread-id' would be ignored: the cloud writes aps itself; no option writes that part of aps"
        ),
        (
            ["topic", "t", "--set", "/apns/contentAvailable=true"],
            "'--set /apns/contentAvailable' would be ignored: it is not among the data; use --wake"
        ),
        (
            ["topic", "t", "--set", "/data/msg=hi"],
            "'--set /data/msg' would be ignored: pointers begin inside the data; use --set /msg"
        ),
        (
            ["topic", "t", "--set", "/gcm/collapseKey=x"],
            "'--set /gcm/collapseKey' would be ignored: it is not among the data; use --network gcm, --network-data and "
                + "what 'Networks' has in help"
        ),
        (
            ["topic", "t", "--set", "/sendWhen=true"],
            "'--set /sendWhen' would be ignored: it is not among the data; use --when"
        ),
        (
            ["topic", "t", "--set", "/pushMessageType=NEWS"],
            "'--set /pushMessageType' would be ignored: it is not among the data; use --type"
        ),
        (
            ["topic", "t", "--set", "/topic=x"],
            "'--set /topic' would be ignored: the cloud writes topic itself; --no-topic leaves it out"
        ),
        (
            ["topic", "t", "--when", "--set", "/when=1"],
            "'--set /when' would be ignored: the cloud writes when itself; --when asks for it"
        ),
        (
            ["user", "u", "--set", "/senderURI=x"],
            "'--set /senderURI' would be ignored: the cloud writes senderURI itself; --no-sender leaves it out"
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
        let body = try self.body(
            "user", "u", "--set", "/topic=x", "--set", "/when=1", "--no-sender", "--set", "/senderURI=y")
        #expect(body?["data"] == ["topic": "x", "when": 1, "senderURI": "y"])
        #expect(try self.body("topic", "t", "--no-topic", "--set", "/topic=x")?["data"] == ["topic": "x"])
    }

    private static let options: [([String], JSONValue)] = [
        (
            ["--type", "NEWS", "--when", "--send-origin", "--send-app-id", "--no-sender", "--no-topic", "--no-scope"],
            [
                "data": ["n": 1], "pushMessageType": "NEWS", "sendAppID": true, "sendSender": false, "sendWhen": true,
                "sendOrigin": true, "sendObjectScope": false, "sendTopicID": false, "mqtt": ["enabled": true],
            ]
        ),
        (["--only", "development"], ["data": ["n": 1], "sendToProduction": false, "mqtt": ["enabled": true]]),
        (["--only", "production"], ["data": ["n": 1], "sendToDevelopment": false, "mqtt": ["enabled": true]]),
        (
            [
                "--alert", "A", "--title", "T", "--subtitle", "S", "--loc-key", "K", "--loc-arg", "1", "--loc-arg", "2",
                "--action-loc-key", "B", "--launch-image", "I", "--sound", "ping", "--badge", "3", "--category", "C",
                "--wake", "--mutable",
            ],
            [
                "data": ["n": 1], "mqtt": ["enabled": true],
                "apns": [
                    "enabled": true,
                    "alert": [
                        "title": "T", "subtitle": "S", "body": "A", "actionLocKey": "B", "locKey": "K",
                        "locArgs": ["1", "2"], "launchImage": "I",
                    ],
                    "sound": "ping", "badge": 3, "contentAvailable": true, "mutableContent": true, "category": "C",
                ],
            ]
        ),
        (["--network", "jpush"], ["data": ["n": 1], "jpush": ["enabled": true]]),
        (
            ["--network", "apns", "--network", "mqtt", "--badge", "1"],
            ["data": ["n": 1], "mqtt": ["enabled": true], "apns": ["enabled": true, "badge": 1]]
        ),
        (
            ["--network-data", #"mqtt={"n":2}"#, "--network-data", #"jpush={"n":3}"#],
            [
                "data": ["n": 1], "mqtt": ["enabled": true, "data": ["n": 2]],
                "jpush": ["enabled": true, "data": ["n": 3]],
            ]
        ),
    ]

    @Test(arguments: options)
    func optionsBecomeTheFieldsOfTheCall(options: [String], expected: JSONValue) throws {
        let result = try self.run(["topic", "t", "--data", #"{"n":1}"#, "--dry-run", "--json"] + options)
        #expect(result.exit == 0, "\(result.error)")
        #expect(try JSONValue(parsing: result.output)["body"] == expected)
    }

    @Test func optionsForGoogleAreForTheNetworksThatAreNamed() throws {
        let body = try self.body(
            "user", "u", "--data", #"{"n":"1"}"#, "--network", "gcm", "--network", "fcm", "--collapse-key", "k",
            "--time-to-live", "5m", "--package", "org.example", "--notification", "title=T", "--notification",
            "clickAction=OPEN=1", "--delay-while-idle", "--gcm-dry-run")
        let shared: [(String, JSONValue)] = [
            ("enabled", true), ("notification", ["title": "T", "clickAction": "OPEN=1"]), ("collapseKey", "k"),
            ("timeToLive", 300), ("restrictedPackageName", "org.example"),
        ]
        let gcm: [(String, JSONValue)] = shared + [("delayWhileIdle", true), ("dryRun", true)]
        #expect(body == ["data": ["n": "1"], "gcm": .object(gcm), "fcm": .object(shared)])
    }

    private static let mistakes: [([String], String)] = [
        (["--collapse-key", "k"], "'--collapse-key' needs '--network gcm' or '--network fcm'"),
        (["--gcm-dry-run", "--network", "fcm"], "'--gcm-dry-run' needs '--network gcm'"),
        (["--network", "mqtt", "--network-data", "gcm={}"], "'--network-data' needs '--network gcm'"),
        (
            ["--network", "mqtt", "--badge", "1"],
            "'--badge' needs '--network apns'"
        ),
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
        (
            ["--notification", "colour=red"],
            "the value 'colour=red' is invalid for '--notification KEY=TEXT': expected title, body, icon, sound, tag, "
                + "color or clickAction, such as title=Hi"
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
                    kii-push: give the data with '--data', '--data-file', '--fixture' or '--set', or an alert with '--alert'
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
        #expect(try self.body("user", "u", "--fixture", "alert", "--network", "mqtt")?["apns"] == nil)
    }

    @Test func noSecretIsShown() throws {
        for options in [[], ["--json"], ["-v"]] {
            let result = try self.run(["topic", "alerts", "--fixture", "typed", "--dry-run"] + options)
            #expect(!(result.output + result.error).contains("canary"))
        }
    }
}
