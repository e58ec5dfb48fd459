import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

@Suite(.ownThreads) struct InspectorTests {
    private func get(_ path: String, from client: EmulatorClient, _ fields: [String] = []) async throws -> RawAnswer {
        try await RawHTTP.exchange(port: client.port, RawHTTP.request("GET", path, fields))
    }

    /// The token that the emulator writes into the page.
    private func token(_ client: EmulatorClient) async throws -> String {
        let page = String(decoding: try await self.get("/__kii/ui", from: client).body, as: UTF8.self)
        let match = try #require(page.firstMatch(of: /<meta name="kii-token" content="(\w{43})">/))
        return String(match.output.1)
    }

    @Test func thePageIsServedAndNothingFromElsewhereWithIt() async throws {
        try await withEmulator { client in
            let files = [
                ("/__kii/ui", "text/html"), ("/__kii/ui/", "text/html"), ("/__kii/ui/inspector.js", "text/javascript"),
                ("/__kii/ui/style.css", "text/css"),
            ]
            for (path, type) in files {
                let answer = try await self.get(path, from: client)
                #expect(answer.status == 200 && !answer.body.isEmpty, "\(path)")
                #expect(answer.field("Content-Type") == "\(type); charset=utf-8", "\(path)")
                let policy = answer.field("Content-Security-Policy") ?? ""
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "), "\(path)")
                #expect(policy.hasSuffix("form-action 'none'; frame-ancestors 'none'"), "\(path)")
                #expect(answer.field("X-Content-Type-Options") == "nosniff", "\(path)")
                #expect(answer.field("Referrer-Policy") == "no-referrer", "\(path)")
                #expect(answer.field("Cache-Control") == "no-store", "\(path)")
            }
            for path in ["/__kii/ui/none.js", "/__kii/ui/..%2Fassets.c", "/__kii/ui/page/index.html"] {
                #expect(try await self.get(path, from: client).status == 404, "\(path)")
            }
        }
    }

    @Test func theTokenActsAsTheAdministratorForOneStart() async throws {
        let token = try await withEmulator { client in
            let token = try await self.token(client)
            #expect(try await client.call("PUT", "topics/alerts", token: token).status == 204)
            #expect(try await client.call("GET", "topics", token: String(token.reversed())).status == 403)
            for path in ["app", "messages", "receivers", "dead-letters"] {
                let mine = try await self.get("/__kii/\(path)", from: client, ["Authorization: Bearer \(token)"])
                #expect(mine.status == 200, "\(path)")
                #expect(try await self.get("/__kii/\(path)", from: client).status == 401, "\(path)")
            }
            // A reset ends logins. The page's token is no login and survives.
            let reset = RawHTTP.request("POST", "/__kii/reset", ["Authorization: Bearer \(token)"])
            #expect(try await RawHTTP.exchange(port: client.port, reset).status == 204)
            #expect(try await client.call("PUT", "topics/alerts", token: token).status == 204)
            return token
        }
        try await withEmulator { client in
            let refused = try await client.call("PUT", "topics/alerts", token: token)
            #expect(refused.status == 403)
        }
    }

    @Test func withoutAFolderThereAreNoReceivers() async throws {
        try await withEmulator { client in
            let token = ["Authorization: Bearer \(try await self.token(client))"]
            #expect(try await self.get("/__kii/receivers", from: client, token).json == ["receivers": []])
            #expect(try await self.get("/__kii/dead-letters", from: client, token).json == ["deadLetters": []])
            for word in ["retry", "drop"] {
                let request = RawHTTP.request("POST", "/__kii/dead-letters/default/1/\(word)", token)
                let answer = try await RawHTTP.exchange(port: client.port, request)
                #expect(answer.status == 404 && answer.json["errorCode"] == "RECEIVER_NOT_FOUND")
            }
        }
    }

    @Test func aMessageIsExplainedByWhatTheEmulatorWasGiven() async throws {
        var configuration = Emulator.Configuration()
        configuration.explain = { ["findings": [], "message": JSONValue(String(decoding: $0, as: UTF8.self))] }
        try await withEmulator(configuration) { client in
            let receiver = try await client.receiver()
            let sent = try await client.push(1, to: receiver, admin: client.adminToken())
            let id = try #require(sent.json["pushMessageID"]?.string)
            let token = ["Authorization: Bearer \(try await self.token(client))"]
            let answer = try await self.get("/__kii/messages/\(id)/explain", from: client, token)
            #expect(answer.status == 200)
            #expect(answer.json["message"]?.string?.hasPrefix(#"{"n":1"#) ?? false)
            let none = try await self.get("/__kii/messages/none/explain", from: client, token)
            #expect(none.status == 404 && none.json["errorCode"] == "MESSAGE_NOT_FOUND")
            #expect(try await self.get("/__kii/messages/\(id)/explain", from: client).status == 401)
        }
    }

    /// Other web pages can make the user's browser send requests here. The browser adds their origin to every request
    /// that could change state.
    @Test(arguments: [
        ("http://%", 200), ("https://%", 200), ("ftp://%", 403), ("http://127.0.0.1", 403),
        ("http://127.0.0.1:1", 403), ("http://%.evil.example", 403), ("https://evil.example", 403), ("null", 403),
        ("%", 403), ("", 403),
    ])
    func noOtherSiteIsAnswered(origin: String, status: Int) async throws {
        try await withEmulator { client in
            let token = try await self.token(client)
            let host = "127.0.0.1:\(client.port)"
            let login = "Host: \(host)\r\nAuthorization: Bearer \(token)\r\nConnection: close"
            let field = "Origin: \(origin.replacing("%", with: host))"
            for path in ["/__kii/app", "/__kii/ui", "/api/apps/\(client.emulator.appID)/topics"] {
                let answer = try await RawHTTP.exchange(
                    port: client.port, "GET \(path) HTTP/1.1\r\n\(login)\r\n\(field)\r\n\r\n")
                #expect(answer.status == status, "\(path)")
                #expect(status == 200 || answer.json["errorCode"] == "OPERATION_NOT_ALLOWED")
            }
        }
    }
}
