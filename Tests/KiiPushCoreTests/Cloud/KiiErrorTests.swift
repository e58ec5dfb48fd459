import KiiPushCore
import TestSupport
import Testing

@Suite struct KiiErrorTests {
    private func refusal(_ answer: HTTPResponse, token: Secret = testToken) async throws -> KiiError {
        let (_, result) = await exchange(answer) { try await $0.session(token).deleteTopic(Topic("news")) }
        return try #require(#expect(throws: KiiError.self) { try result.get() })
    }

    @Test func keepsCodeMessageAndContext() async throws {
        let body = #"""
            {"errorCode":"TOPIC_NOT_FOUND","message":"no such topic","topicID":"news","objectScope":{"appID":"a1",
            "type":"APP"}}
            """#
        let error = try await self.refusal(.status(404, body))
        #expect(error.operation == KiiOperation(method: .delete, path: "/apps/a1/topics/news"))
        #expect(error.errorCode == KiiErrorCode.topicNotFound)
        #expect(error.message == "no such topic")
        #expect(error.context == ["topicID": "news", "objectScope": ["appID": "a1", "type": "APP"]])
        #expect(
            error.description
                == "DELETE /apps/a1/topics/news was refused with 404 TOPIC_NOT_FOUND (no such topic): "
                + "create the topic first, or check its ID and scope")
    }

    @Test func readsOAuthErrors() async throws {
        let error = try await self.refusal(
            .status(400, #"{"error":"invalid_grant","error_description":"The grant is invalid"}"#))
        #expect(error.errorCode == "invalid_grant")
        #expect(error.message == "The grant is invalid")
        #expect(error.context == [:])
    }

    /// The lock ends by itself, so a later sign-in succeeds.
    @Test func aLockedLoginPasses() async throws {
        func refusal(_ sentence: String) async throws -> KiiError {
            try await self.refusal(.status(400, #"{"error":"invalid_grant","error_description":"\#(sentence)"}"#))
        }
        let locked = try await refusal("The login name is locked")
        #expect(locked.isTransient && !locked.refusesCredentials)
        #expect(locked.description.hasSuffix(": too many have tried with a wrong password; wait, then sign in again"))
        let wrong = try await refusal("The user was not found or a wrong password was provided")
        #expect(wrong.refusesCredentials && !wrong.isTransient)
    }

    @Test(arguments: [
        (
            302, "",
            "the cloud has moved, or something on the way answers in its place; check the base URL and any proxy"
        ),
        (400, "", "the answer does not look like Kii's; check the base URL and any proxy"),
        (400, "INVALID_INPUT_DATA", "correct the request"),
        (
            401, "UNAUTHORIZED",
            "the token is not valid or lacks the right, or the app key is wrong; sign in again, or as somebody who has the "
                + "right, or check the app ID and key"
        ),
        (401, "", "the answer does not look like Kii's; check the base URL and any proxy"),
        (401, "X", "sign in again, or as somebody who has the right"),
        (401, "WRONG_PASSWORD", "check the name and the password"),
        (401, "AUTHENTICATION_FAILED", "check the name and the password"),
        (400, "invalid_grant", "check the name and the password"),
        (400, "invalid_client", "check the client ID and the client secret"),
        (401, "USER_DISABLED", "it has been disabled; have it enabled by its administrator"),
        (403, "", "the answer does not look like Kii's; check the base URL and any proxy"),
        (403, "WRONG_TOKEN", "the token is no longer valid; sign in again"),
        (403, "WRONG_REFRESH_TOKEN", "a refresh token works once; sign in again with name and password"),
        (403, "OPERATION_NOT_SUPPORTED", "use a principal that may do this"),
        (404, "APP_NOT_FOUND", "check the app ID and the site: an app lives at one site only"),
        (404, "USER_NOT_FOUND", "check the ID"), (404, "ACL_NOT_FOUND", "check the ID"),
        (404, "", "the answer does not look like Kii's; check the base URL and any proxy"),
        (408, "", "try again shortly"),
        (404, "FILTER_NOT_FOUND", "put an object into the bucket first, or check its ID and scope"),
        (404, "OBJECT_NOT_FOUND", "check the object's ID"),
        (404, "PUSH_SUBSCRIPTION_NOT_FOUND", "subscribe first"),
        (404, "INSTALLATION_NOT_FOUND", "create the installation again"),
        (404, "MQTT_ENDPOINT_NOT_FOUND", "check that the installation is one for MQTT, or create it again"),
        (
            404, "GCMKEY_NOT_FOUND",
            "give the app its key for this network in the developer portal, or leave the network out"
        ),
        (409, "USER_ALREADY_EXISTS", "sign in to it, or choose another name"),
        (409, "PUSH_SUBSCRIPTION_ALREADY_EXISTS", "nothing needs to be done"),
        (409, "TOPIC_ALREADY_EXISTS", "it is there already"), (413, "", "send less"),
        (429, "", "too many requests; wait, then try again"),
        (500, "UNDEFINED_ERROR", "the cloud has a problem; try again later"),
        (501, "OPERATION_NOT_IMPLEMENTED", "this cloud does not have the operation"),
        (503, "MQTT_ENDPOINT_NOT_READY", "it is still being made; ask again shortly"),
        (503, "LOCK_FAILED", "try again shortly"), (502, "", "the cloud has a problem; try again later"),
        (418, "", "the answer does not look like Kii's; check the base URL and any proxy"),
        (421, "", "the answer does not look like Kii's; check the base URL and any proxy"),
        (425, "", "try again shortly"),
        (511, "", "this network wants a sign-in of its own first"),
    ])
    func saysWhatToDo(status: Int, code: String, advice: String) async throws {
        let error = try await self.refusal(code.isEmpty ? .status(status) : .refusal(status, code))
        #expect(error.description.hasSuffix(": \(advice)"))
    }

    /// The answer names the token's owner, so the token and the app key are valid.
    @Test func saysWhichRightIsMissing() async throws {
        let answer = HTTPResponse.status(
            401, #"{"errorCode":"UNAUTHORIZED","message":"No.","authenticatedPrincipalID":"u1"}"#)
        #expect(
            try await self.refusal(answer).description.hasSuffix(
                ": the token is good, and its user or thing lacks the right; have somebody do it who has the right"))
        for scope in [Scope.app, .user("u1")] {
            let (_, result) = await exchange(answer) {
                try await $0.session(testToken).send(
                    PushMessage(data: ["msg": "hi"]), to: .topic(Topic("news", in: scope)))
            }
            let error = try #require(#expect(throws: KiiError.self) { try result.get() })
            #expect(
                error.description.hasSuffix(
                    ": the token is good, and its user or thing lacks the right SEND_MESSAGE_TO_TOPIC, which a topic of "
                        + "the app gives to the administrator alone unless it is told otherwise; have it granted, or "
                        + "send as the administrator"))
        }
    }

    @Test(arguments: [
        "", "<html>Bad gateway</html>", "{", "[1]", "null", #""text""#, "\u{FEFF}{}", #"{"errorCode":7}"#,
    ])
    func survivesAnyBody(_ body: String) async throws {
        let error = try await self.refusal(.status(502, body))
        #expect(error.status == 502)
        #expect(error.errorCode == nil && error.message == nil)
        #expect(error.bodyByteCount == body.utf8.count)
        #expect(
            error.description
                == "DELETE /apps/a1/topics/news was refused with 502: the cloud has a problem; try again later")
    }

    @Test(arguments: [401, 404, 500])
    func echoedSecretsAreCutOut(_ status: Int) async throws {
        let body = #"""
            {"errorCode":"X","message":"token t-secret of key k-secret","a":{"b":["t-secret!"]},"n":1.50}
            """#
        let error = try await self.refusal(.status(status, body))
        #expect(error.message == "token <redacted> of key <redacted>")
        #expect(error.context["a"]?["b"]?[0]?.string == "<redacted>!")
        #expect(error.context["n"]?.number?.text == "1.50")
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains("t-secret") && !dumped.contains("k-secret"))
    }

    @Test(arguments: [
        ("abcd-1234", #"{"abcd-1234":1,"o":[{"x abcd-1234":2}]}"#, #"{"<redacted>":1,"o":[{"x <redacted>":2}]}"#),
        // Swift joins the combining mark with the last character, so a comparison of characters would miss the secret.
        ("abcd-1234", #"{"a":"abcd-1234\u0301"}"#, #"{"a":"<redacted>\#u{301}"}"#),
        ("12345678", #"{"a":12345678,"b":-123456789e1}"#, #"{"a":"<redacted>","b":"<redacted>"}"#),
        ("12345678", #"{"a":1234567}"#, #"{"a":1234567}"#),
        // The app key is a prefix of the token.
        ("k-secret-and-more", #"{"a":"k-secret-and-more"}"#, #"{"a":"<redacted>"}"#),
    ])
    func echoedSecretsAreCutOutWhereverTheyStand(token: Secret, body: String, context: String) async throws {
        let error = try await self.refusal(.status(500, body), token: token)
        #expect(error.context.text == context)
    }

    @Test func echoedBasicCredentialsAndUserInfoAreCutOut() async throws {
        // The credentials are "a1:k-secret" and "alice:hunter2" in Base64.
        let body = #"""
            {"errorCode":"X","message":"Authorization: Basic YTE6ay1zZWNyZXQ= (YTE6ay1zZWNyZXQ=) or basic YWxpY2U6aHVudGVyMg",
            "url":"https://alice:hunter2@cloud.test/a?b=c@d","hint":"Basic authentication, https://cloud.test/@x"}
            """#
        let error = try await self.refusal(.status(401, body))
        #expect(error.message == "Authorization: Basic <redacted> (<redacted>) or basic <redacted>")
        #expect(error.context["url"] == "https://<redacted>@cloud.test/a?b=c@d")
        #expect(error.context["hint"] == "Basic authentication, https://cloud.test/@x")
    }

    /// Web frameworks send such words as their own errors.
    @Test(arguments: [#"{"status":403,"error":"Forbidden"}"#, #"{"error":"not_found"}"#])
    func aWordOfSomebodyElsesServerIsNoCode(body: String) async throws {
        #expect(try await !self.refusal(.status(403, body)).isOfCloud)
    }

    @Test func anEchoedTokenIsNoCode() async throws {
        let error = try await self.refusal(.status(400, #"{"error":"x0123456789abcdef"}"#), token: "0123456789abcdef")
        #expect(error.errorCode == nil)
        #expect(!error.description.contains("0123456789abcdef"))
    }

    @Test func anEchoedPasswordIsCutOut() async throws {
        let calls: [@Sendable (KiiClient) async throws -> Void] = [
            { _ = try await $0.login(.user(name: "alice", password: "hunter2")) },
            { _ = try await $0.login(.thing(vendorThingID: "v", password: "hunter2")) },
            { _ = try await $0.login(.administrator(clientID: "ci", clientSecret: "hunter2")) },
            { _ = try await $0.refresh(AccessToken(principal: nil, token: "x", refreshToken: "hunter2")) },
            { _ = try await $0.registerUser(UserRegistration(loginName: "alice", password: "hunter2")) },
            { _ = try await $0.registerThing(ThingRegistration(vendorThingID: "v", password: "hunter2")) },
        ]
        for call in calls {
            let answer = HTTPResponse.status(400, #"{"errorCode":"bad value hunter2","message":"bad value hunter2"}"#)
            let (_, result) = await exchange(answer, body: call)
            let error = try #require(#expect(throws: KiiError.self) { try result.get() })
            #expect(error.message == "bad value <redacted>")
            #expect(error.errorCode == nil)
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test func aLongMessageIsCutAndKeptOnOneLine() async throws {
        let long = "line\\nline\\u2028\\u001b[31m" + String(repeating: "x", count: 10_000)
        let error = try await self.refusal(.status(500, #"{"errorCode":"E","message":"\#(long)"}"#))
        #expect(error.description.count < 400)
        #expect(error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{2028}" })
        #expect(error.description.contains("line line  [31mxxx") && error.description.contains("x…)"))
    }

    @Test(arguments: [
        (302, false), (400, false), (401, false), (403, false), (404, false), (408, true), (409, false), (421, false),
        (425, true), (429, true), (500, true), (501, false), (502, true), (503, true), (504, true), (511, true),
    ])
    func tellsWhatMayPass(status: Int, isTransient: Bool) async throws {
        #expect(try await self.refusal(.status(status)).isTransient == isTransient)
    }

    @Test(arguments: [
        (401, "UNAUTHORIZED", true), (403, "WRONG_TOKEN", true), (403, "WRONG_REFRESH_TOKEN", true),
        (403, "APP_DISABLED", false), (401, "USER_DISABLED", false), (401, "THING_DISABLED", false),
        (404, "APP_NOT_FOUND", false), (401, "", false),
    ])
    func tellsWhatOnlySigningInCanHelp(status: Int, code: String, refuses: Bool) async throws {
        let error = try await self.refusal(code.isEmpty ? .status(status) : .refusal(status, code))
        #expect(error.refusesCredentials == refuses)
    }

    @Test func theQueryIsNoPartOfTheOperation() async throws {
        let (_, result) = await exchange(.status(500)) {
            try await $0.session(testToken).installations(of: .user("private")).all()
        }
        let error = try #require(#expect(throws: KiiError.self) { try result.get() })
        #expect(error.operation.path == "/apps/a1/installations")
        #expect(!"\(error)".contains("private"))
    }
}
