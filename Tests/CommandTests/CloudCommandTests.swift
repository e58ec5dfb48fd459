import Foundation
import TestTraits
import Testing

@Suite(.ownThreads) struct CloudCommandTests {
    private static let cloudCommands: [[String]] = [
        ["register"], ["subscribe", "alerts"], ["unsubscribe", "alerts"], ["subscriptions"], ["listen"],
        ["send", "topic", "alerts", "--data", "{}"], ["send", "user", "u", "--data", "{}"],
        ["send", "object", "notes", "--data", "{}"],
    ]

    @Test(arguments: cloudCommands)
    func adviseWhenThereIsNoCloud(command: [String]) throws {
        let result = try Tool().start(command).waitForExit()
        #expect(result.exit == 78)
        #expect(result.output == "")
        #expect(
            result.error == """
                kii-push: no cloud is configured, and no emulator is running
                          start one: kii-push emulator; or see: kii-push help files

                """
        )
    }

    @Test(arguments: [["subscribe", "alerts"], ["subscriptions"], ["listen"]])
    func adviseWhenTheProfileIsNotRegistered(command: [String]) throws {
        let session = try EmulatorSession()
        let result = try session.tool.start(command).waitForExit()
        #expect(result.exit == 78)
        #expect(result.error == "kii-push: profile 'default' is not registered\n          run: kii-push register\n")
    }

    @Test func nameTheEmulatorThatIsGone() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        #expect(session.stop().exit == 0)
        let result = try session.tool("subscriptions")
        #expect(result.exit == 69)
        #expect(
            result.error == """
                kii-push: profile 'default' belongs to the emulator, which is not running
                          start it: kii-push emulator

                """
        )
    }

    @Test func beginAnewWithAnEmulatorThatForgot() throws {
        let first = try EmulatorSession()
        try first.succeed("register")
        let user = try first.whoami("user")
        #expect(first.stop().exit == 0)
        let second = try first.tool.start(["emulator", "--temporary"] + EmulatorSession.freePorts())
        #expect(second.output(containing: "emulator.json\n").hasPrefix("> Ready. "))
        let stale = try first.tool("subscriptions")
        #expect(stale.exit == 78)
        let words = "kii-push: profile 'default' is registered with an emulator whose state is gone\n"
        #expect(stale.error.hasPrefix(words))
        try first.succeed("register")
        #expect(try first.whoami("user") != user)
        #expect(try first.succeed("subscriptions") == "")
    }

    @Test func keepProfilesApart() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let secret = try session.tool.write("correct-horse\n", to: "alice.secret")
        try session.succeed("register", "-p", "alice", "--user", "alice", "--create", "--password-file", secret)
        try session.succeed(
            "register", "-p", "meter", "--thing", "meter-17", "--thing-type", "meter", "--password-stdin",
            input: "battery-staple\n"
        )
        #expect(try session.whoami("account", profile: "alice") == "user 'alice'")
        #expect(try session.whoami("account", profile: "meter") == "thing 'meter-17'")
        #expect(try session.whoami("thing", profile: "meter").hasPrefix("th."))
        try session.succeed("subscribe", "-p", "meter", "thing:me/alarm")
        try session.succeed("send", "topic", "-p", "meter", "thing:me/alarm", "--data", #"{"level":3}"#)
        let received = try session.tool("listen", "-p", "meter", "-n1", "-t5m")
        #expect(received.output.contains("level=3"))
        // Alice received none of these: the message to her is the first to arrive.
        try session.succeed("send", "user", "-p", "alice", "me", "--data", #"{"for":"alice"}"#)
        let next = try session.tool("listen", "-p", "alice", "-n1", "-t5m")
        #expect(next.output.contains(#"for="alice""#))
        #expect(!next.output.contains("level=3"))
        let again = try session.tool("register", "-p", "alice", "--user", "bob", "--password-file", secret)
        #expect(again.exit == 78)
        #expect(
            again.error == """
                kii-push: profile 'alice' is registered as user 'alice' with app kiilocal
                          name another profile with --profile, or forget this one with --anew

                """
        )
    }

    @Test func withVerboseItShowsWhatTheServerSaid() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let result = try session.tool("send", "topic", "nosuch", "--data", "{}", "-v")
        #expect(result.exit == 76)
        #expect(
            result.error.contains("          the server said: {\"errorCode\":\"TOPIC_NOT_FOUND\""), "\(result.error)")
        #expect(try !session.tool("send", "topic", "nosuch", "--data", "{}").error.contains("the server said"))
    }

    @Test func aThingIsKnownWithoutItsType() throws {
        let session = try EmulatorSession()
        try session.succeed("register", "--thing", "m", "--thing-type", "meter", "--password-stdin", input: "p\n")
        let thing = try session.whoami("thing")
        try session.succeed("register", "--thing", "m", "--password-stdin", input: "p\n")
        #expect(try session.whoami("thing") == thing)
        #expect(try session.whoami("thingType") == "meter")
        // The thing keeps the type of its first registration.
        try session.succeed("register", "--thing", "m", "--thing-type", "lamp", "--password-stdin", input: "p\n")
        #expect(try session.whoami("thingType") == "meter")
        let other = try session.tool("register", "--thing", "n", "--password-stdin", input: "p\n")
        #expect(other.exit == 78)
    }

    @Test(arguments: [
        ["--site", "jp"], ["--app-id", "a"], ["--insecure"], ["--config", "f"], ["--app-key-file", "f"],
    ])
    func whatAsksNoCloudTakesNoOptionsForOne(options: [String]) throws {
        let result = try Tool().start(["inbox", "stats"] + options).waitForExit()
        #expect(result.exit == 64)
        #expect(result.error.contains("'\(options[0])'"))
    }

    @Test func keepSecretsOutOfEverythingButTheirFiles() throws {
        let session = try EmulatorSession()
        let canary = "canary-4711"
        let secret = try session.tool.write(canary, to: "secret")
        let result = try session.tool("register", "-v", "--user", "alice", "--create", "--password-file", secret)
        #expect(result.exit == 0)
        #expect(!(result.output + result.error).contains(canary))
        let profile = session.tool.home.appending(path: "state/kii-push/profiles/default")
        var holders: [String] = []
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: session.tool.home, includingPropertiesForKeys: nil)
        ) where file.lastPathComponent != "secret" {
            guard let data = try? Data(contentsOf: file), data.range(of: Data(canary.utf8)) != nil else { continue }
            holders.append(file.lastPathComponent)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(holders == ["credentials.json"])
        let mode = try FileManager.default.attributesOfItem(atPath: profile.path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func refuseAPasswordThatIsWrong() throws {
        let session = try EmulatorSession()
        let right = try session.tool.write("right", to: "right")
        let wrong = try session.tool.write("wrong", to: "wrong")
        try session.succeed("register", "--user", "alice", "--create", "--password-file", right)
        let result = try session.tool("register", "-p", "other", "--user", "alice", "--password-file", wrong)
        #expect(result.exit == 77)
        #expect(result.output == "")
        #expect(result.error.hasPrefix("kii-push: cannot sign in: POST "))
        #expect(result.error.hasSuffix("\n          if there is no user 'alice' yet, create it: add --create\n"))
        let missing = try session.tool("register", "-p", "other", "--user", "alice")
        #expect(missing.exit == 78)
        #expect(missing.error.hasPrefix("kii-push: the password of user 'alice' is missing\n"))
    }

    @Test func sayWhatTheCloudRefused() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let missing = try session.tool("send", "topic", "nosuch", "--data", #"{"a":1}"#, "--json")
        #expect(missing.exit == 76)
        #expect(missing.error.contains(#""category":"protocol""#))
        #expect(missing.error.contains(#""code":"TOPIC_NOT_FOUND","http_status":404,"hint":"create it: "#))
        let words = try session.tool("send", "topic", "nosuch", "--data", #"{"a":1}"#)
        #expect(
            words.error == """
                kii-push: there is no topic nosuch
                          create it: kii-push subscribe nosuch; or see what there is: kii-push subscriptions

                """
        )
        let nested = try session.tool("send", "user", "me", "--data", #"{"a":{"b":1}}"#)
        #expect(nested.exit == 65)
        #expect(nested.error.contains(#""/data/a""#))
        #expect(try session.tool("send", "user", "me", "--data", "[1]").exit == 65)
        #expect(try session.tool("send", "user", "me", "--data-file", "/nonexistent").exit == 66)
    }

    @Test(arguments: [
        (
            "topic", #"{"b":1,"a":null}"#,
            #"message at "/data/a" cannot be used: it must be a string, number or Boolean, not null"#
        ),
        (
            "user", #"{"a":null}"#,
            #"message at "/data/a" cannot be used: it must be a string, number or Boolean, not null"#
        ),
        ("topic", #"{"a":1,"b":2,"a":1}"#, "the data has the key /a more than once\n          write each key once"),
        ("object", #"{"o":{"k":1,"k":2}}"#, "the data has the key /o/k more than once\n          write each key once"),
    ])
    func refuseDataThatDoesNotArriveAsWritten(kind: String, data: String, words: String) throws {
        let result = try Tool()("send", kind, "alerts", "--data", data)
        #expect(result.exit == 65)
        #expect(result.error == "kii-push: \(words)\n")
    }

    @Test func endSubscriptions() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts", "news")
        #expect(try session.succeed("subscriptions") == "alerts\nnews\n")
        #expect(try session.succeed("unsubscribe", "alerts") == "unsubscribed alerts\n")
        #expect(try session.succeed("unsubscribe", "alerts") == "unsubscribed alerts (it was not subscribed)\n")
        #expect(try session.succeed("subscriptions") == "news\nalerts  (not subscribed)\n")
        let missing = try session.tool("unsubscribe", "nosuch")
        #expect(missing.exit == 76)
        #expect(
            missing.error == """
                kii-push: there is no topic nosuch
                          see what there is: kii-push subscriptions

                """
        )
    }

    /// Only the user itself and the app's admin have rights to a user's buckets and topics.
    @Test func sendToOthersAsTheAdminWhereThatIsAtHand() throws {
        let session = try EmulatorSession()
        for profile in ["default", "other"] { try session.succeed("register", "-p", profile) }
        let other = try session.whoami("user", profile: "other")
        try session.succeed("subscribe", "-p", "other", "--bucket", "user:me/notes")
        try session.succeed("subscribe", "-p", "other", "user:me/todo")
        let data = ["--data", #"{"n":1}"#]
        for words in [["object", "user:\(other)/notes"], ["topic", "user:\(other)/todo"], ["object", "news"]] {
            let result = try session.tool.start(["send"] + words + data).waitForExit()
            #expect(result.exit == 0, "\(words): \(result.error)")
            let shown = try session.tool.start(["send"] + words + data + ["--dry-run"]).waitForExit()
            #expect(shown.output.contains("(the token of the app's admin)"), "\(words): \(shown.output)")
        }
        for words in [["object", "user:me/notes"], ["topic", "user:me/todo"]] {
            let shown = try session.tool.start(["send"] + words + data + ["--dry-run"]).waitForExit()
            #expect(
                shown.output.contains("(the token of the profile's own user or thing)"), "\(words): \(shown.output)")
        }
    }

    @Test func reachNoCloudThatIsNotThere() throws {
        let tool = try Tool()
        let options = ["--base-url", "http://127.0.0.1:1/api", "--app-id", "a"]
        let result = try tool.start(["register"] + options, environment: ["KII_PUSH_APP_KEY": "k"]).waitForExit()
        #expect(result.exit == 69)
        let missing = try tool.start(["register"] + options).waitForExit()
        #expect(missing.exit == 78)
        #expect(missing.error.hasPrefix("kii-push: the app's key of profile 'default' is missing\n"))
    }
}
