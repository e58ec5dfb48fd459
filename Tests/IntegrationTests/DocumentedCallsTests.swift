import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// The calls of Kii's REST guide with curl, and a push received by `mosquitto_sub` as Kii's MQTT pages describe:
/// version 3.1, clean session, QoS 0, the endpoint's topic as client ID. These tests use no code of this project's
/// client.
@Suite struct DocumentedCallsTests {
    private struct Guide {
        let emulator: Emulator

        var app: String { "\(self.emulator.baseURL)/apps/\(self.emulator.appID)" }

        /// Runs curl with the arguments of a sample, and expects the status in the guide.
        @discardableResult
        func curl(
            _ arguments: String..., status: Int, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            let words = ["curl", "--silent", "--show-error", "--write-out", "\n%{http_code}"] + arguments
            let result = try await ForeignProgram(words).run()
            #expect(result.status == 0, "\(result.errors)", sourceLocation: sourceLocation)
            let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.last.map { String($0) } == "\(status)", "\(result.output)", sourceLocation: sourceLocation)
            let body = lines.dropLast().joined(separator: "\n")
            return body.isEmpty ? .null : try JSONValue(parsing: body)
        }

        /// `Authorization: Basic`, as in the guide's samples of sign-up and login.
        var basic: String {
            get async throws {
                let text = "\(self.emulator.appID):\(self.emulator.appKey.reveal())"
                let result = try await ForeignProgram("sh", "-c", "printf %s '\(text)' | base64 --wrap=0").run()
                return "Authorization: Basic \(result.output)"
            }
        }

        func signedInUser() async throws -> (id: String, bearer: String) {
            let profile: JSONValue = [
                "loginName": "user_123456", "displayName": "person test000", "country": "JP", "locale": "ja",
                "emailAddress": "user_123456@example.com", "phoneNumber": "+819012345678", "password": "123ABC",
            ]
            let user = try await self.curl(
                "-X", "POST", "-H", try await self.basic,
                "-H", "Content-Type: application/vnd.kii.RegistrationRequest+json",
                "\(self.app)/users", "-d", profile.text, status: 201)
            let login: JSONValue = ["username": "user_123456", "password": "123ABC"]
            let token = try await self.curl(
                "-X", "POST", "-H", try await self.basic,
                "-H", "Content-Type: application/vnd.kii.OauthTokenRequest+json",
                "\(self.app)/oauth2/token", "-d", login.text, status: 200)
            let id = try #require(token["id"]?.string)
            #expect(user["userID"]?.string == id)
            return (id, "Authorization: Bearer \(try #require(token["access_token"]?.string))")
        }

        func adminBearer() async throws -> String {
            let secret: JSONValue = [
                "client_id": JSONValue(self.emulator.adminClientID),
                "client_secret": JSONValue(self.emulator.adminClientSecret.reveal()),
            ]
            let token = try await self.curl(
                "-X", "POST", "-H", "Content-Type: application/vnd.kii.OauthTokenRequest+json",
                "\(self.emulator.baseURL)/oauth2/token", "-d", secret.text, status: 200)
            return "Authorization: Bearer \(try #require(token["access_token"]?.string))"
        }
    }

    private func withGuide(_ body: (Guide) async throws -> Void) async throws {
        try await withEmulator { emulator, _ in try await body(Guide(emulator: emulator)) }
    }

    private func receive(
        at endpoint: JSONValue, tls emulator: Emulator? = nil, whileSending send: () async throws -> Void
    ) async throws -> JSONValue {
        let topic = try #require(endpoint["mqttTopic"]?.string)
        let port = try #require(endpoint[emulator == nil ? "portTCP" : "portSSL"]?.int64)
        let program = ForeignProgram(
            [
                "stdbuf", "--output=L", "mosquitto_sub", "-V", "mqttv31", "-d", "-q", "0", "-k", "300",
                "-h", try #require(endpoint["host"]?.string), "-p", "\(port)", "-i", topic, "-t", topic,
                "-u", try #require(endpoint["username"]?.string), "-P", try #require(endpoint["password"]?.string),
            ] + (emulator.map { ["--cafile", $0.certificateAuthorityFile] } ?? []))
        return try await program.whileRunning { lines in
            var said: [String] = []
            for await line in lines {
                said.append(line)
                if line.hasPrefix("Subscribed") {
                    #expect(line.hasSuffix(": 0"), "QoS 0 was asked for")
                    try await send()
                }
                guard line.hasPrefix("{") else { continue }
                return try JSONValue(parsing: line)
            }
            throw TestFailure("mosquitto_sub ended: \(said.joined(separator: " | "))")
        }
    }

    @Test func aUserInstallsSubscribesAndReceives() async throws {
        try await self.withGuide { guide in
            // The endpoint is not ready at first; curl's `--retry` obeys `Retry-After`.
            try await guide.emulator.control(
                "POST", "faults",
                [
                    "path": "/api/apps/*/installations/*/mqtt-endpoint", "times": 2, "status": 503,
                    "errorCode": "MQTT_ENDPOINT_NOT_READY", "retryAfter": 1,
                ])
            let user = try await guide.signedInUser()
            let admin = try await guide.adminBearer()
            let installation = try await guide.curl(
                "-X", "POST", "-H", user.bearer,
                "-H", "Content-Type: application/vnd.kii.InstallationCreationRequest+json",
                "\(guide.app)/installations", "-d", #"{ "deviceType": "MQTT", "development": true }"#, status: 201)
            let id = try #require(installation["installationID"]?.string)
            let place = "\(guide.app)/installations/\(id)/mqtt-endpoint"
            let early = try await guide.curl("-X", "GET", "-H", user.bearer, place, status: 503)
            #expect(early["errorCode"]?.string == "MQTT_ENDPOINT_NOT_READY")
            let endpoint = try await self.retried(guide, user.bearer, place)
            #expect(try await guide.emulator.control("GET", "faults")["faults"] == [])

            try await guide.curl(
                "-X", "PUT", "-H", admin, "\(guide.app)/topics/SendingAlert", status: 204)
            try await guide.curl(
                "-X", "POST", "-H", user.bearer, "\(guide.app)/topics/SendingAlert/push/subscriptions/users",
                "-d", "", status: 204)
            try await guide.curl(
                "-X", "GET", "-H", user.bearer,
                "\(guide.app)/topics/SendingAlert/push/subscriptions/users/\(user.id)", status: 204)
            let message = #"{ "data": { "Priority": "1", "Urgent": "false" }, "mqtt": { "enabled": true } }"#
            let payload = try await self.receive(at: endpoint) {
                let sent = try await guide.curl(
                    "-X", "POST", "-H", admin,
                    "-H", "Content-Type: application/vnd.kii.SendPushMessageRequest+json",
                    "\(guide.app)/topics/SendingAlert/push/messages", "-d", message, status: 200)
                #expect(sent["pushMessageID"]?.string?.isEmpty == false)
            }
            #expect(payload["Priority"]?.string == "1")
            #expect(payload["topic"]?.string == "SendingAlert")
            #expect(payload["objectScopeType"]?.string == "APP")
            #expect(payload["senderURI"]?.string == "kiicloud://admins/APP_ADMIN")
        }
    }

    @Test func aThingInstallsSubscribesAndReceivesOverTLS() async throws {
        try await self.withGuide { guide in
            let thing = try await guide.curl(
                "-X", "POST", "-H", try await guide.basic,
                "-H", "Content-Type: application/vnd.kii.ThingRegistrationAndAuthorizationRequest+json",
                "\(guide.app)/things",
                "-d", #"{ "_vendorThingID": "rBnvSPOXBDF9r29GJeGS", "_password": "123ABC", "_thingType": "light" }"#,
                status: 201)
            let id = try #require(thing["_thingID"]?.string)
            let bearer = "Authorization: Bearer \(try #require(thing["_accessToken"]?.string))"
            let installation = try await guide.curl(
                "-X", "POST", "-H", bearer,
                "-H", "Content-Type: application/vnd.kii.InstallationCreationRequest+json",
                "\(guide.app)/installations", "-d", #"{ "deviceType": "MQTT", "development": true }"#, status: 201)
            let endpoint = try await guide.curl(
                "-X", "GET", "-H", bearer,
                "\(guide.app)/installations/\(try #require(installation["installationID"]?.string))/mqtt-endpoint",
                status: 200)
            let bucket = "\(guide.app)/things/\(id)/buckets/mydata"
            try await guide.curl(
                "-X", "PUT", "-H", bearer, "\(bucket)/filters/all/push/subscriptions/things/\(id)", "-d", "",
                status: 204)
            let payload = try await self.receive(at: endpoint, tls: guide.emulator) {
                try await guide.curl(
                    "-X", "POST", "-H", bearer, "-H", "Content-Type: application/json", "\(bucket)/objects",
                    "-d", #"{ "score": 1800, "name": "game1" }"#, status: 201)
            }
            #expect(payload["type"]?.string == "DATA_OBJECT_CREATED")
            #expect(payload["bucketID"]?.string == "mydata")
            #expect(payload["objectScopeThingID"]?.string == id)
            #expect(payload["sender"]?.string == id)
        }
    }

    /// The endpoint, requested with curl's own retries after a 503.
    private func retried(_ guide: Guide, _ bearer: String, _ place: String) async throws -> JSONValue {
        let result = try await ForeignProgram(
            "curl", "--silent", "--show-error", "--fail", "--retry", "5", "--retry-max-time", "600",
            "-X", "GET", "-H", bearer, place
        ).run()
        #expect(result.status == 0, "\(result.errors)")
        return try JSONValue(parsing: result.output)
    }
}
