import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct DecodeTests {
    private let tool: Tool

    init() throws {
        self.tool = try Tool()
    }

    private static let pushToApp = """
        {"type":"DATA_OBJECT_CREATED","origin":"EVENT","when":1463364001908,"modifiedAt":1463364001875,\
        "appID":"12345678","sender":"u-1111","objectScopeAppID":"12345678","objectScopeType":"APP_AND_USER",\
        "objectScopeUserID":"u-1111","bucketID":"notes","bucketType":"rw","objectID":"obj-1",\
        "sourceURI":"kiicloud://users/u-1111/buckets/notes/objects/obj-1"}
        """
    private static let pushToUser = """
        {"aps":{"alert":{"title":"T","body":"B"},"badge":1,"sound":"default"},"s":"u-1111","to":"todo",\
        "sa":"12345678","st":"APP_AND_USER","su":"u-1111","msg":"hi","n":[1,2.50]}
        """
    private static let directPush = """
        {"mymessage":"Hello","senderURI":"kiicloud://admins/APP_ADMIN","sourceURI":"kiicloud://users/u-1111"}
        """

    private static let texts: [(String, String)] = [
        (
            pushToApp,
            """
            kind      push-to-app
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

            """
        ),
        (
            pushToUser,
            """
            kind      push-to-user
            topic     user:u-1111/todo
            sender    user:u-1111
            size      169 bytes
            aps
              alert.title         "T"
              alert.body          "B"
              badge               1
              sound               "default"
            custom
              msg                 "hi"
              n                   [1,2.50]

            """
        ),
        (
            directPush,
            """
            kind      direct-push
            sender    admin
            source    kiicloud://users/u-1111
            size      101 bytes
            custom
              mymessage           "Hello"

            """
        ),
    ]

    @Test(arguments: texts)
    func showsEachKindAsText(payload: String, text: String) throws {
        let result = try self.tool("decode", input: payload)
        #expect(result.exit == 0)
        #expect(result.output == text)
        #expect(result.error == "")
    }

    private static let objects: [(String, String)] = [
        (
            pushToApp,
            """
            {"v":1,"type":"message","kind":"pushToApp","bytes":346,"fields":{"appID":"12345678","sender":"u-1111",\
            "type":"DATA_OBJECT_CREATED","when":"1463364001908","origin":"EVENT","objectScopeAppID":"12345678",\
            "objectScopeUserID":"u-1111","objectScopeType":"APP_AND_USER","bucketID":"notes","bucketType":"rw",\
            "objectID":"obj-1","modifiedAt":"1463364001875"},"sender":{"kind":"user","id":"u-1111"},\
            "bucket":{"kind":"bucket","name":"notes","scope":"user:u-1111"},"object":"obj-1",\
            "when":"2016-05-16T02:00:01.908Z","modifiedAt":"2016-05-16T02:00:01.875Z","custom":{},\
            "payload":\(pushToApp)}

            """
        ),
        (
            pushToUser,
            """
            {"v":1,"type":"message","kind":"pushToUser","bytes":169,"fields":{"sender":"u-1111","topic":"todo",\
            "objectScopeAppID":"12345678","objectScopeUserID":"u-1111","objectScopeType":"APP_AND_USER"},\
            "sender":{"kind":"user","id":"u-1111"},"topic":{"kind":"topic","name":"todo","scope":"user:u-1111"},\
            "aps":{"alert":{"title":"T","body":"B"},"badge":1,"sound":"default"},"custom":{"msg":"hi","n":[1,2.50]},\
            "payload":\(pushToUser)}

            """
        ),
        (
            directPush,
            """
            {"v":1,"type":"message","kind":"directPush","bytes":101,"fields":{},"sender":{"kind":"admin"},\
            "custom":{"mymessage":"Hello"},"payload":\(directPush)}

            """
        ),
    ]

    @Test(arguments: objects)
    func showsEachKindAsOneObject(payload: String, object: String) throws {
        let path = try self.tool.write(payload + "\n", to: "payload.json")
        let result = try self.tool("decode", "--json", path)
        #expect(result.exit == 0)
        #expect(result.output == object)
        #expect(result.error == "")
    }

    private static let badPayloads: [(String, String)] = [
        (#"{"a":"#, "the payload is not JSON at byte 5 in /a: it ends too early; check that it was sent whole"),
        ("{", "the payload is not JSON at byte 1: it ends too early; check that it was sent whole"),
        ("", "the payload is not JSON: the document is empty; send a value"),
        (#"{"aps":{"badge":"x"}}"#, #"the payload has a string at "/aps/badge"; send a whole number"#),
        ("[1]", "the payload is an array; send an object"),
    ]

    @Test(arguments: badPayloads)
    func saysWhereABadPayloadIsBad(payload: String, message: String) throws {
        let result = try self.tool("decode", input: payload)
        #expect(result.exit == 65)
        #expect(result.output == "")
        #expect(result.error == "kii-push: \(message)\n")
    }

    @Test func recognisesACommandForAThing() throws {
        let result = try self.tool("decode", "-", input: #"{"commandID":"c1","actions":[{"turnPower":{}}]}"#)
        #expect(result.exit == 65)
        #expect(
            result.error == """
                kii-push: the payload is no push but a thing-if command, with the ID c1
                          a thing's program carries it out; there is nothing to decode

                """
        )
    }

    @Test func namesTheFileThatIsMissing() throws {
        let path = self.tool.home.path + "/absent.json"
        let result = try self.tool("decode", path)
        #expect(result.exit == 66)
        #expect(result.error == "kii-push: cannot open \(path): No such file or directory\n")
    }

    @Test func namesADirectoryAsUnreadable() throws {
        let result = try self.tool("decode", self.tool.home.path)
        #expect(result.exit == 66)
        #expect(result.error == "kii-push: cannot read \(self.tool.home.path): Is a directory\n")
    }

    @Test func readsTheKeysThatItIsTold() throws {
        let result = try self.tool("decode", "--keys", "short", input: #"{"to":"todo","st":"APP"}"#)
        #expect(result.output.hasPrefix("kind      push-to-user\ntopic     todo\n"))
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
        let result = try self.tool("decode", input: payload)
        #expect(result.exit == 0)
        #expect(result.output.contains("\n" + lines + "\n"))
    }

    @Test func warnsOfAKeyThatIsThereTwice() throws {
        let result = try self.tool("decode", input: #"{"msg":1,"msg":2}"#)
        #expect(result.exit == 0)
        #expect(result.error == "warning: the key /msg is there twice; the last one counts\n")
        #expect(result.output.hasSuffix("  msg                 2\n"))
    }

    @Test func saysThatTheBadgeIsTakenAway() throws {
        let result = try self.tool("decode", input: #"{"aps":{"alert":"x"}}"#)
        let badge = "  badge               none: the number is taken away\n"
        #expect(result.output.hasSuffix("aps\n  alert               \"x\"\n\(badge)"))
    }

    @Test(arguments: [[], ["--json"]])
    func letsNoPayloadDriveTheTerminal(options: [String]) throws {
        let hostile = #"{"msg":"\u001b[2J\u009b2J"# + "\u{9b}31m\u{202e}\u{2028}" + #"","\u001b]0;x\u0007":1}"#
        let result = try self.tool.start(["decode"] + options, input: hostile).waitForExit()
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
        let run = try self.tool.start(["decode"] + options, input: Self.directPush, environment: environment)
        let output = run.waitForExit().output
        #expect(output.hasPrefix(isColored ? "kind      \u{1b}[1mdirect-push\u{1b}[0m\n" : "kind      direct-push\n"))
    }
}
