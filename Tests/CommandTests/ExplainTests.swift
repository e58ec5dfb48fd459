import Foundation
import KiiPushCommandLine
import KiiPushCore
import TestTraits
import Testing

@Suite(.ownThreads) struct ExplainTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    @Test(arguments: ["sync", "SYNC", "Sync"]) func aBucketsTypeIsReadInAnyLetterCase(_ name: String) throws {
        let message = try ReceivedMessage(payload: Array(#"{"bucketType":"\#(name)"}"#.utf8))
        #expect(message.reading(of: .bucketType) == "a bucket that is synchronised")
    }

    private static let pushToApp = """
        {"type":"DATA_OBJECT_CREATED","origin":"EVENT","when":1463364001908,"modifiedAt":1463364001875,\
        "appID":"12345678","sender":"u-1111","objectScopeAppID":"12345678","objectScopeType":"APP_AND_USER",\
        "objectScopeUserID":"u-1111","bucketID":"notes","bucketType":"rw","objectID":"obj-1",\
        "sourceURI":"kiicloud://users/u-1111/buckets/notes/objects/obj-1"}
        """
    private static let pushToUser = """
        {"aps":{"alert":{"title":"T","body":"B"},"badge":1,"sound":"default"},"s":"u-1111","to":"todo",\
        "sa":"12345678","st":"APP_AND_USER","su":"u-1111","msg":"hi","n":2.50,"origin":"me"}
        """
    private static let directPush = """
        {"mymessage":"Hello","senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://users/u-1111"}
        """

    private static let texts: [(String, String)] = [
        (
            pushToApp,
            """
            kind      push-to-app
            because   /bucketID is there
            keys      long (MQTT, GCM, FCM): there is no /aps
            event     DATA_OBJECT_CREATED
            bucket    user:u-1111/notes (rw)
            object    obj-1
            sender    user:u-1111
            origin    EVENT
            when      2016-05-16T02:00:01.908Z
            modified  2016-05-16T02:00:01.875Z
            app       12345678
            source    kiicloud://users/u-1111/buckets/notes/objects/obj-1
            size      346 bytes

            fields
              /type                  "DATA_OBJECT_CREATED"
                  What happened in the bucket. Here: an object was created. [Kii: push to app]
              /origin                "EVENT"
                  What caused it: EVENT is a change, EXPLICIT is a sender. Here: a change in a bucket. [Kii: message fields]
              /when                  1463364001908
                  When it was sent, in milliseconds since 1970. Here: 2016-05-16T02:00:01.908Z. [Kii: message fields]
              /modifiedAt            1463364001875
                  When the object changed, in milliseconds since 1970. Here: 2016-05-16T02:00:01.875Z. [Kii: push to app]
              /appID                 "12345678"
                  The app that caused the push. [Kii: message fields]
              /sender                "u-1111"
                  Whose change caused the push. [Kii: message fields]
              /objectScopeAppID      "12345678"
                  The app in which the topic or bucket lives. [Kii: message fields]
              /objectScopeType       "APP_AND_USER"
                  Whose topic or bucket it is: the app's, a user's, a group's, a thing's. Here: a user's. [Kii: message fields]
              /objectScopeUserID     "u-1111"
                  The user in whose scope it lives. [Kii: message fields]
              /bucketID              "notes"
                  The bucket in which something changed. [Kii: push to app]
              /bucketType            "rw"
                  The kind of bucket. Here: an ordinary bucket. [Kii: push to app]
              /objectID              "obj-1"
                  The object that changed. [Kii: push to app]
              /sourceURI             "kiicloud://users/u-1111/buckets/notes/objects/obj-1"
                  The address of what caused it: an object, a topic, or the receiver. [Kii: push over MQTT]

            """
        ),
        (
            pushToUser,
            """
            kind      push-to-user
            because   /to is there, and none of /bi, /bt, /oi, /om
            keys      short (APNs): /aps is an object
            topic     user:u-1111/todo
            sender    user:u-1111
            size      179 bytes

            fields
              /s                     "u-1111"
                  Who sent it. [Kii: message fields]
              /to                    "todo"
                  The topic that it was sent to. [Kii: push to user]
              /sa                    "12345678"
                  The app in which the topic or bucket lives. [Kii: message fields]
              /st                    "APP_AND_USER"
                  Whose topic or bucket it is: the app's, a user's, a group's, a thing's. Here: a user's. [Kii: message fields]
              /su                    "u-1111"
                  The user in whose scope it lives. [Kii: message fields]

            aps
              /aps/alert/title       "T"
                  The title. [APNs: alert]
              /aps/alert/body        "B"
                  The text; without it (and loc-key) nothing is shown. [APNs: alert]
              /aps/badge             1
                  The number on the program's icon; 0 takes it away. [APNs: aps]
              /aps/sound             "default"
                  The sound that is played; 'default' is the usual one. [APNs: aps]

            custom
              /msg                   "hi"
                  no key of Kii's
              /n                     2.50
                  no key of Kii's
              /origin                "me"
                  Kii's long key for origin; this payload is read with short keys

            findings
              warning custom-key-collides at /origin
                  it is Kii's own key for origin on MQTT, GCM and FCM: it is taken for that there
                  do: give the key of your own another name

            """
        ),
        (
            directPush,
            """
            kind      direct-push
            because   none of /bucketID, /bucketType, /topic is there, nor "EVENT" as /origin
            keys      long (MQTT, GCM, FCM): there is no /aps
            sender    admin
            source    kiicloud://users/u-1111
            size      101 bytes

            fields
              /senderURI             "kiicloud://admins/APP_ADMIN"
                  The address of who sent it. [Kii: push over MQTT]
              /sourceURI             "kiicloud://users/u-1111"
                  The address of what caused it: an object, a topic, or the receiver. [Kii: push over MQTT]

            custom
              /mymessage             "Hello"
                  no key of Kii's

            """
        ),
    ]

    @Test(arguments: texts)
    func explainsEachKindToPeople(payload: String, text: String) throws {
        let result = try self.tool("explain", input: payload)
        #expect(result.exit == 0)
        #expect(result.output == text)
        #expect(result.error == "")
    }

    @Test func explainsToPrograms() throws {
        let payload =
            #"{"aps":{"alert":"x","x":1,"badge":0},"to":"todo","w":"1500000000001","st":"APP","a":"","msg":"hi"}"#
        let path = try self.tool.write(payload + "\n", to: "payload.json")
        let result = try self.tool("explain", "--json", path)
        #expect(result.exit == 0)
        #expect(result.error == "")
        #expect(
            result.output == """
                {"v":1,"type":"explanation","kind":"pushToUser","decided_by":{"key":"to","pointer":"/to",\
                "field":"topic","because":"/to is there, and none of /bi, /bt, /oi, /om"},"keys":"short",\
                "keys_because":"/aps is an object","bytes":98,"fields":[\
                {"pointer":"/to","name":"topic","value":"todo","meaning":"The topic that it was sent to.",\
                "source":"Kii: push to user"},\
                {"pointer":"/w","name":"when","value":"1500000000001","meaning":"When it was sent, in milliseconds \
                since 1970.","reading":"2017-07-14T02:40:00.001Z","source":"Kii: message fields"},\
                {"pointer":"/st","name":"objectScopeType","value":"APP","meaning":"Whose topic or bucket it is: the \
                app's, a user's, a group's, a thing's.","reading":"the app's own","source":"Kii: message fields"},\
                {"pointer":"/a","name":"appID","value":"","meaning":"The app that caused the push.",\
                "source":"Kii: message fields"}],\
                "aps":{"value":{"alert":"x","x":1,"badge":0},"keys":[\
                {"pointer":"/aps/alert","name":"alert","value":"x","meaning":"The text that is shown.",\
                "source":"APNs: aps"},\
                {"pointer":"/aps/badge","name":"badge","value":0,"meaning":"The number on the program's icon; 0 takes \
                it away.","source":"APNs: aps"}]},\
                "custom":[{"pointer":"/msg","value":"hi","because":"no key of Kii's"}],\
                "ignored":[{"pointer":"/aps/x","value":1,"because":"no key that Apple documents: a program finds it in \
                the raw payload"},{"pointer":"/a","value":"","because":"an empty text names nothing"}],\
                "findings":[{"code":"aps-unknown-key","level":"warning","pointer":"/aps/x",\
                "message":"Apple documents no such key","advice":"put keys of your own beside aps, not into it"}],\
                "names":{"topic":{"kind":"topic","name":"todo","scope":"app"}}}

                """
        )
    }

    @Test func withoutLintFindingsAreNoFailure() throws {
        let result = try self.tool("explain", input: #"{"aps":{}}"#)
        #expect(result.exit == 0)
        #expect(
            result.output.hasSuffix(
                """

                findings
                  warning aps-empty at /aps
                      aps says nothing: nothing is shown, and no program is woken
                      do: add an alert, or "content-available":1 to wake the program

                """))
    }

    private static let badPayloads: [(String, String)] = [
        (
            #"{"a":"#,
            "the payload is not JSON at byte 5 in /a: it ends too early; check that it was sent whole (line 1, column 6)"
        ),
        ("{", "the payload is not JSON at byte 1: it ends too early; check that it was sent whole (line 1, column 2)"),
        (
            "{\"a\": 1,\n \"é\": tru}",
            "the payload is not JSON at byte 19 in /é: a byte is out of place; check commas, colons, quotes and brackets "
                + "(line 2, column 10)"
        ),
        ("", "the payload is not JSON: the document is empty; send a value"),
        ("[1]", "the payload is an array; send an object"),
    ]

    @Test(arguments: badPayloads)
    func saysWhereABadPayloadIsBad(payload: String, message: String) throws {
        let result = try self.tool("explain", input: payload)
        #expect(result.exit == 65)
        #expect(result.output == "")
        #expect(result.error == "kii-push: \(message)\n")
    }

    private static let refusals: [(String, JSONValue)] = [
        (
            "{\n\n \"é\":}",
            [
                "code": "malformed",
                "reason":
                    "the payload is not JSON at byte 9 in /é: a byte is out of place; check commas, colons, quotes and brackets",
                "pointer": "/é", "byte": 9, "line": 3, "column": 6,
            ]
        ),
        (
            "",
            [
                "code": "malformed", "reason": "the payload is not JSON: the document is empty; send a value",
                "pointer": "",
            ]
        ),
        ("7", ["code": "not-an-object", "reason": "the payload is a number; send an object", "pointer": ""]),
        (
            "{}" + String(repeating: " ", count: 4_194_303),
            ["code": "malformed", "reason": "the payload is larger than 4194304 bytes: shorten it", "pointer": ""]
        ),
        (
            #"{"commandID":"c1","actions":[]}"#,
            ["code": "thing-command", "reason": "the payload is a thing-if command; hand it to a command handler"]
        ),
    ]

    @Test(arguments: refusals)
    func tellsProgramsWhereABadPayloadIsBad(payload: String, refusal: JSONValue) throws {
        let (object, result) = try self.tool.explanation(payload)
        #expect(result.exit == 65)
        #expect(object == ["v": 1, "type": "explanation", "refused": refusal, "findings": []])
        #expect(result.error.hasPrefix(#"{"v":1,"type":"error","category":"input","message":"the payload "#))
    }

    @Test func recognisesACommandForAThing() throws {
        let result = try self.tool("explain", "-", input: #"{"commandID":"c1","actions":[{"turnPower":{}}]}"#)
        #expect(result.exit == 65)
        #expect(
            result.error == """
                kii-push: the payload is no push but a thing-if command, with the ID c1
                          a thing's program carries it out; there is nothing to explain

                """
        )
    }

    @Test func namesTheFileThatIsMissing() throws {
        let path = self.tool.home.path + "/absent.json"
        let result = try self.tool("explain", path)
        #expect(result.exit == 66)
        #expect(result.error == "kii-push: cannot open \(path): No such file or directory\n")
    }

    @Test func namesADirectoryAsUnreadable() throws {
        let result = try self.tool("explain", self.tool.home.path)
        #expect(result.exit == 66)
        #expect(result.error == "kii-push: cannot read \(self.tool.home.path): Is a directory\n")
    }

    @Test(arguments: [
        ("short", "pushToUser", "/to"), ("long", "directPush", nil), ("auto", "directPush", nil),
    ])
    func readsTheKeysThatItIsTold(keys: String, kind: String, key: String?) throws {
        let (object, result) = try self.tool.explanation(#"{"to":"todo","st":"APP"}"#, "--keys", keys)
        #expect(result.exit == 0)
        #expect(object["kind"]?.string == kind)
        #expect(object["decided_by"]?["pointer"]?.string == key)
        #expect(object["keys_because"]?.string == (keys == "auto" ? "there is no /aps" : "--keys says so"))
    }

    private static let unresolved: [(String, String)] = [
        (#"{"topic":"alerts","msg":"hi"}"#, "topic     alerts (no scope: source unknown)"),
        (#"{"topic":"todo","objectScopeType":"APP_AND_USER"}"#, "topic     todo (no usable scope: source unknown)"),
        (#"{"bucketID":"notes"}"#, "bucket    notes (no scope: source unknown)"),
        (
            #"{"bucketID":"notes","bucketType":"rw","objectID":"o1"}"#,
            "bucket    notes (rw) (no scope: source unknown)\nobject    o1"
        ),
    ]

    @Test(arguments: unresolved)
    func namesASourceThatLacksItsScope(payload: String, lines: String) throws {
        let result = try self.tool("explain", input: payload)
        #expect(result.exit == 0)
        #expect(result.output.contains("\n" + lines + "\n"))
    }

    @Test func saysWhichOfTwoEqualKeysCounts() throws {
        let result = try self.tool("explain", input: #"{"msg":1,"msg":2}"#)
        #expect(result.exit == 0)
        #expect(result.output.contains("\n  /msg                   2\n"))
        #expect(result.output.contains("\n  /msg\n      an earlier value of this key: the last one counts\n"))
    }

    @Test func saysThatTheBadgeIsTakenAway() throws {
        let result = try self.tool("explain", input: #"{"aps":{"alert":"x"}}"#)
        #expect(
            result.output.hasSuffix(
                """
                  /aps/badge
                      Not there: the number is taken away from the icon. [APNs: aps]

                """))
    }

    @Test(arguments: [[], ["--json"]])
    func letsNoPayloadDriveTheTerminal(options: [String]) throws {
        let hostile = #"{"msg":"\u001b[2J\u009b2J"# + "\u{9b}31m\u{202e}\u{2028}" + #"","\u001b]0;x\u0007":1}"#
        let result = try self.tool.start(["explain"] + options, input: hostile).waitForExit()
        #expect(result.exit == 0)
        let unsafe = result.output.unicodeScalars.filter {
            ($0.value < 0x20 && $0 != "\n") || (0x7f...0x9f).contains($0.value) || $0 == "\u{202e}" || $0 == "\u{2028}"
        }
        #expect(unsafe.isEmpty)
        #expect(result.output.contains(#"\u009b31m\u202e\u2028"#))
    }

    @Test(arguments: [
        (["--color", "always"], [:], true), ([], [:], false), ([], ["CLICOLOR_FORCE": "1"], true),
        ([], ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false), (["--color=never"], ["CLICOLOR_FORCE": "1"], false),
    ])
    func coloursByTheRules(options: [String], environment: [String: String], isColored: Bool) throws {
        let run = try self.tool.start(["explain"] + options, input: Self.directPush, environment: environment)
        let output = run.waitForExit().output
        #expect(output.hasPrefix(isColored ? "kind      \u{1b}[1mdirect-push\u{1b}[0m\n" : "kind      direct-push\n"))
    }
}

extension Tool {
    func explanation(_ payload: String, _ options: String...) throws -> (JSONValue, Tool.Result) {
        let result = try self.start(["explain", "--json"] + options, input: payload).waitForExit()
        return (try JSONValue(parsing: result.output), result)
    }
}
