import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// Advice after a failure never costs more than the failure did.
@Suite(.ownThreads) struct AdviceTests {
    @Test func nothingIsThrownAwayForAPrincipalThatIsOnlyDisabled() async throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let advice = "it has been disabled; have it enabled by its administrator"
        let user = try session.whoami("user")
        try await session.control("PATCH", "users/\(user)", ["disabled": true])
        let ofUser = try session.tool("subscriptions")
        #expect(ofUser.exit == 77)
        #expect(ofUser.error.wholeMatch(of: /kii-push: GET \S+ was refused with 401 USER_DISABLED .*\n/) != nil)
        #expect(ofUser.error.hasSuffix(": \(advice)\n"))
        try await session.control("PATCH", "app", ["disabled": true])
        let ofApp = try session.tool("subscriptions")
        #expect(ofApp.exit == 77)
        #expect(ofApp.error.hasSuffix(": \(advice)\n"))
    }

    @Test func aUserThatIsDisabledIsNotToldToCreateItself() async throws {
        let session = try EmulatorSession()
        let secret = try session.tool.write("correct-horse\n", to: "secret")
        try session.succeed("register", "--user", "alice", "--create", "--password-file", secret)
        try await session.control("PATCH", "users/LOGIN_NAME:alice", ["disabled": true])
        let result = try session.tool("register", "-p", "other", "--user", "alice", "--password-file", secret)
        #expect(result.exit == 77)
        #expect(result.error.hasSuffix("it has been disabled; have it enabled by its administrator\n"))
    }

    private static let refusedToken: JSONValue = [
        "method": "GET", "path": "/api/apps/**", "times": 9, "status": 401, "errorCode": "UNAUTHORIZED",
    ]

    @Test func thatAnewLosesAPseudoUserIsSaid() async throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try await session.control("POST", "faults", Self.refusedToken)
        let result = try session.tool("subscriptions")
        #expect(result.exit == 77)
        #expect(
            result.error.hasSuffix(
                "\n          'kii-push register --anew' begins as another user; what is subscribed and waits for this one "
                    + "is lost then\n"))
        let again = try session.tool("register")
        #expect(again.exit == 77)
        #expect(again.error.hasSuffix("begins as another user; what waits for this one is lost then\n"))
        let other = try session.tool("register", "--user", "alice", "--password-stdin", input: "secret\n")
        #expect(other.exit == 78)
        #expect(other.error.hasSuffix(" with --anew, which loses what is subscribed and waits for it\n"))
    }

    @Test func toRegisterAnewIsSaidOfTheProfileThatWasNamed() async throws {
        let session = try EmulatorSession()
        try session.succeed("register", "-p", "meter")
        try await session.control("POST", "faults", Self.refusedToken)
        let again = try session.tool("register", "-p", "meter")
        #expect(again.exit == 77)
        #expect(
            again.error.hasSuffix(
                "\n          'kii-push register --anew --profile meter' begins as another user; what waits for this one is "
                    + "lost then\n"), "\(again.error)")
    }

    /// For example a proxy, during a deployment.
    @Test(arguments: [401, 403, 404])
    func whatIsNotKiisAnswerCostsNobodyAUser(status: Int) throws {
        let world = try DoctorWorld()
        try world.register("default")
        let cloud = try FakeCloud { _ in .init(status: status, body: "<html>We will be back soon.</html>") }
        let report = try world.doctor("default", ["--base-url", cloud.baseURL])
        let said = report.checks.filter { $0["code"] == "SIGN-IN" || $0["code"] == "APP" }.map { "\($0)" }
        let costly = said.filter { $0.contains("--anew") || $0.contains("check the app's ID") }
        #expect(!said.isEmpty && costly.isEmpty, "\(said)")
        let listed = try world.tool.start(["subscriptions"]).waitForExit()
        #expect(listed.exit == 76)
        let advice = "the answer does not look like Kii's; check the base URL and any proxy"
        #expect(listed.error.contains(advice) && !listed.error.contains("--anew"), "\(listed.error)")
    }

    @Test func credentialsOfTheAdminAreNotTakenForThoseOfTheUser() async throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try await session.control(
            "POST", "faults",
            ["method": "POST", "path": "/api/**", "times": 9, "status": 400, "errorCode": "invalid_client"])
        let result = try session.tool("send", "user", "me", "--data", #"{"n":1}"#)
        #expect(result.exit == 77)
        #expect(result.error.hasSuffix("\n          check clientID and clientSecret: kii-push help files\n"))
    }

    @Test func whoHasANameSignsInByItAgain() async throws {
        let session = try EmulatorSession()
        let secret = try session.tool.write("correct-horse\n", to: "secret")
        try session.succeed("register", "-p", "a", "--user", "alice", "--create", "--password-file", secret)
        try await session.control("POST", "faults", Self.refusedToken)
        let result = try session.tool("subscriptions", "-p", "a")
        #expect(result.exit == 77)
        let command = "kii-push register --user alice --password-stdin --profile a"
        #expect(result.error.hasSuffix("\n          sign in again: \(command)\n"))
    }

    @Test(arguments: [
        (["topic", "alerts"], "/topics/alerts/push/messages"), (["object", "news"], "/buckets/news/objects"),
    ])
    func thatALostAnswerMayHaveBeenSuccessIsSaid(kind: [String], path: String) async throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        try session.succeed("subscribe", "alerts")
        let command = ["send"] + kind + ["--data", #"{"n":1}"#]
        let words = "it may have been carried out all the same, and to repeat it may do it twice\n"
        let lost: JSONValue = [
            "method": "POST", "path": JSONValue("/api/apps/*\(path)"), "times": 2, "status": 503,
            "afterwards": true,
        ]
        try await session.control("POST", "faults", lost)
        let refused = try session.tool.start(command).waitForExit()
        #expect(refused.exit == 1)
        #expect(refused.error.hasPrefix("kii-push: POST /apps/kiilocal\(path) failed with 503 "))
        #expect(refused.error.hasSuffix(": \(words)"))
        let json = try session.tool.start(command + ["--json"]).waitForExit()
        #expect(json.error.contains(#""category":"failure""#) && json.error.contains(#""in_doubt":true"#))
        #expect(try await session.control("GET", "faults")["faults"] == [])
        let slow: JSONValue = ["method": "POST", "path": JSONValue("/api/apps/*\(path)"), "delay": 600]
        try await session.control("POST", "faults", slow)
        let late = try session.tool.start(command + ["--timeout", "20s"]).waitForExit()
        #expect(try await session.control("GET", "faults")["faults"] == [])
        #expect(late.exit == 1)
        #expect(late.error.hasPrefix("kii-push: POST /apps/kiilocal\(path) at http://127.0.0.1:"))
        #expect(late.error.hasSuffix("; \(words)          allow a call more time with --timeout\n"))
    }

    @Test func theConnectionWhoseCertificateIsNotTrustedIsNamed() throws {
        let session = try EmulatorSession()
        let file = try session.runtimeFile()
        let key = try session.tool.write(try #require(file["appKey"]?.string), to: "key")
        let cloud = [
            "register", "--base-url", try #require(file["baseURL"]?.string),
            "--app-id", try #require(file["appID"]?.string), "--app-key-file", key,
        ]
        let result = try session.tool.start(cloud).waitForExit()
        #expect(result.exit == 69)
        let port = try #require(file["mqttTLSPort"]?.int64)
        #expect(result.error.hasPrefix("kii-push: the broker at 127.0.0.1:\(port): "))
        #expect(result.error.hasSuffix("\n          trust the authority in a file: --cacert FILE\n"))
        let trusting = try session.tool.start(cloud + ["--cacert", try #require(file["caFile"]?.string)]).waitForExit()
        #expect(trusting.exit == 0)
    }
}
