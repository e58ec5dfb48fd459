import Foundation
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

@Suite(.ownThreads) struct ControlHTTPTests {
    @Test func theDocumentedCommandsWork() async throws {
        let directory = try TemporaryDirectory()
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Documentation/emulator.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let after = try #require(text.components(separatedBy: "<!-- test: controls -->\n```sh\n").dropFirst().first)
        let script = try #require(after.components(separatedBy: "\n```").first)
        try await withEmulator(.init(runtimeFile: "\(directory.path)/kii-push/emulator.json")) { client in
            let shell = ["XDG_RUNTIME_DIR=\(directory.path)", "bash", "-euo", "pipefail", "-c", script]
            let finished = try await run("env", shell)
            #expect(finished.status == 0, "\(finished.errors)")
            #expect(finished.output.contains(#""errorCode" : "MQTT_ENDPOINT_NOT_READY""#))
            #expect(finished.output.contains(#""tokenLifetime" : 600"#))
            // The output ends with the length of the list; the answer to the reset is empty.
            #expect(finished.output.hasSuffix("}1\n"))
            let app = try await client.control("GET", "app")
            #expect(app.json["requestLimit"]?["requests"]?.int64 == 100)
            #expect(try await client.control("GET", "faults").json["faults"] == [])
        }
    }

    @Test func aDelayedAnswerHoldsUpNobodyElse() async throws {
        try await withEmulator { client in
            let path = "/api/apps/\(client.emulator.appID)/users"
            let fault: JSONValue = ["path": JSONValue(path), "delay": 600]
            #expect(try await client.control("POST", "faults", fault).status == 201)
            let connection = try RawConnection(port: client.port)
            try connection.send(Array(RawHTTP.request("GET", path, []).utf8))
            // The request takes the fault from the list and waits; the emulator answers other requests meanwhile.
            while try await client.control("GET", "faults").json["faults"]?.array?.isEmpty == false {
                try await Task.sleep(for: .milliseconds(10))
            }
            _ = try await client.adminToken()
            // `stop` ends the delay of ten minutes at once.
            await client.emulator.stop()
            #expect(try connection.receive().status == 405)
        }
    }

    @Test(arguments: [("GET", 0.0), ("GET", 0.05), ("POST", 0.0), ("POST", 0.05)])
    func aConnectionEndsWithoutAnAnswer(method: String, delay: Double) async throws {
        try await withEmulator { client in
            let path = "/api/apps/\(client.emulator.appID)/users"
            let fault: JSONValue = ["disconnect": true, "delay": try #require(JSONValue(delay))]
            #expect(try await client.control("POST", "faults", fault).status == 201)
            let connection = try RawConnection(port: client.port)
            let request = RawHTTP.request(method, path, [], method == "POST" ? "{}" : nil)
            try connection.send(Array(request.replacing("Connection: close\r\n", with: "").utf8))
            #expect(try connection.isClosedByPeer())
            _ = try await client.adminToken()
        }
    }

    @Test func aDelayIsKept() async throws {
        try await withEmulator { client in
            #expect(try await client.control("POST", "faults", ["delay": 0.2]).status == 201)
            let clock = ContinuousClock()
            let start = clock.now
            _ = try await client.adminToken()
            #expect(clock.now - start >= .milliseconds(200))
        }
    }

    @Test(arguments: ["rotate", "reset", "delete"])
    func theBrokerForgetsTheFormerCredentials(how: String) async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            #expect(try await client.canConnect(receiver))
            switch how {
            case "rotate":
                let rotated = try await client.control("POST", "installations/\(receiver.installationID)/rotate")
                #expect(rotated.status == 200)
            case "reset": #expect(try await client.control("POST", "reset").status == 204)
            default:
                let path = "installations/\(receiver.installationID)"
                #expect(try await client.call("DELETE", path, token: receiver.token).status == 204)
            }
            // The broker may reload its files after the answer.
            while try await client.canConnect(receiver) { try await Task.sleep(for: .milliseconds(10)) }
            if how == "rotate" {
                let renewed = try await client.receiver(userID: receiver.userID, token: receiver.token)
                #expect(renewed.installationID == receiver.installationID)
                #expect(renewed.topic != receiver.topic)
                #expect(try await client.canConnect(renewed))
            }
        }
    }

    @Test func aResetOutlivesTheProcessAndTheAppOutlivesTheReset() async throws {
        let directory = try TemporaryDirectory()
        let token = try await withEmulator(.init(directory: directory.path)) { client in
            let receiver = try await client.receiver()
            #expect(try await client.control("POST", "reset").status == 204)
            return receiver.token
        }
        try await withEmulator(.init(directory: directory.path)) { client in
            let user = try await client.call("GET", "users/me", token: token)
            #expect(user.status == 403)
            let app = try await client.control("GET", "app")
            #expect(app.status == 200)
        }
    }

    @Test func theConfigurationIsWhatTheSettingsBeginWith() async throws {
        let configuration = Emulator.Configuration(
            endpointDelay: .seconds(2),
            mqttTTL: .seconds(60),
            tokenLifetime: .seconds(3600),
            refreshTokens: false
        )
        try await withEmulator(configuration) { client in
            let settings = try await client.control("GET", "app").json
            #expect(settings["endpointDelay"]?.int64 == 2)
            #expect(settings["mqttTTL"]?.int64 == 60)
            #expect(settings["tokenLifetime"]?.int64 == 3600)
            #expect(settings["refreshTokens"]?.bool == false)
        }
    }
}

extension EmulatorClient {
    /// Calls a control below `/__kii` as the administrator.
    func control(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> RawAnswer {
        let pair = "\(self.emulator.adminClientID):\(self.emulator.adminClientSecret.reveal())"
        let basic = "Authorization: Basic \(Data(pair.utf8).base64EncodedString())"
        return try await RawHTTP.exchange(
            port: self.port,
            RawHTTP.request(method, "/__kii/\(path)", [basic], body?.text)
        )
    }

    func canConnect(_ receiver: Receiver) async throws -> Bool {
        let finished = try await run(
            "mosquitto_sub",
            [
                "-p", "\(self.emulator.mqttPort)", "-i", receiver.topic, "-t", receiver.topic, "-u", receiver.username,
                "-P", receiver.password, "-E",
            ]
        )
        return finished.status == 0
    }
}
