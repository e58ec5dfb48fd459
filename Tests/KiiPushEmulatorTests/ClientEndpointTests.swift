import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

/// The MQTT endpoint that Kii's Go client, thing-node and the JavaScript SDK expect in their own tests, byte by byte.
///
/// Each of their tests fails for an endpoint without ports for WebSocket. The facts are from the clients' sources; the
/// words are not.
@Suite(.ownThreads) struct ClientEndpointTests {
    private func withClient(_ body: (WireClient) async throws -> Void) async throws {
        try await withEmulator { try await body(WireClient(emulator: $0)) }
    }

    /// kii_go's `TestGetMqttEndpoint`: all members have a value, and no number is 0.
    @Test func theGoClientFindsAllMembers() async throws {
        try await self.withClient { client in
            let user = try client.user("gopher")
            let installed = try client.go(
                "POST", "\(client.app)/installations", token: user.token,
                type: "application/vnd.kii.InstallationCreationRequest+json",
                #"{"deviceType":"MQTT","development":true}"#)
            #expect(installed.status == 201)
            let id = try #require(installed.json["installationID"]?.string)
            let answer = try client.send([
                "GET \(client.app)/installations/\(id)/mqtt-endpoint HTTP/1.1", "Host: 127.0.0.1",
                "User-Agent: Go-http-client/1.1", "Authorization: Bearer \(user.token)", "Accept-Encoding: gzip",
            ])
            #expect(answer.status == 200)
            let endpoint = answer.json
            for name in ["installationID", "username", "password", "mqttTopic", "host"] {
                #expect(endpoint[name]?.string?.isEmpty == false, "\(name)")
            }
            let emulator = client.emulator.emulator
            #expect(endpoint["portWS"]?.int64 == Int64(emulator.webSocketPort))
            #expect(endpoint["portWSS"]?.int64 == Int64(emulator.webSocketTLSPort))
            let ports = ["portTCP", "portSSL", "portWS", "portWSS"].compactMap { endpoint[$0]?.int64 }
            #expect(Set(ports).count == 4 && ports.allSatisfy { (1...65535).contains($0) })
            #expect(try #require(endpoint["X-MQTT-TTL"]?.int64) > 0)
        }
    }

    /// thing-node's test "should allow thing to connect to an MQTT endpoint": all members, then a login as MQTT.js 1
    /// makes it.
    @Test func thingNodeConnects() async throws {
        try await self.withClient { client in
            let thing = try client.thing()
            let key = client.emulator.emulator.appKey.reveal()
            let fields = [
                "X-Kii-AppID: \(client.appID)", "X-Kii-AppKey: \(key)", "Authorization: Bearer \(thing.token)",
            ]
            let body = #"{"deviceType":"MQTT","development":true}"#
            let installed = try client.send(
                ["POST \(client.app)/installations HTTP/1.1"] + fields + [
                    "Content-Type: application/vnd.kii.InstallationCreationRequest+json", "Accept: */*",
                    "host: 127.0.0.1", "content-length: \(body.utf8.count)", "Connection: close",
                ], body)
            #expect(installed.status == 201)
            let id = try #require(installed.json["installationID"]?.string)
            let answer = try client.send(
                ["GET \(client.app)/installations/\(id)/mqtt-endpoint HTTP/1.1"] + fields + [
                    "Accept: */*", "host: 127.0.0.1", "Connection: close",
                ])
            #expect(answer.status == 200)
            let endpoint = answer.json
            let names = [
                "installationID", "username", "password", "mqttTopic", "host", "portTCP", "portSSL", "portWS",
                "portWSS",
                "X-MQTT-TTL",
            ]
            for name in names { #expect(endpoint[name] != nil, "\(name)") }
            let port = try #require(endpoint["portTCP"]?.int64.flatMap { UInt16(exactly: $0) })
            let connection = try RawConnection(port: port)
            try connection.send(try connect(to: endpoint))
            // CONNACK of a new session, accepted.
            #expect(try connection.receiveBytes() == [0x20, 2, 0, 0])
            try connection.send([0xE0, 0])
            #expect(try connection.isClosedByPeer())
        }
    }

    /// The JavaScript SDK's endpoint, and the WebSocket that a browser opens to its `portWS` for Paho or MQTT.js.
    @Test func theJavaScriptSDKsBrowserConnects() async throws {
        try await self.withClient { client in
            let user = try client.user("browser")
            let installed = try client.sdk(
                "POST", "installations", token: user.token, type: "InstallationCreationRequest",
                ["installationType": "MQTT", "deviceType": "MQTT", "development": false])
            #expect(installed.status == 201)
            let id = try #require(installed.json["installationID"]?.string)
            let answer = try client.sdk(
                "GET", "installations/\(id)/mqtt-endpoint", token: user.token)
            #expect(answer.status == 200)
            #expect(answer.json["portWS"]?.int64 == Int64(client.emulator.emulator.webSocketPort))
            let socket = try WebSocketClient(client.emulator.emulator)
            try socket.send(
                WebSocketClient.request(with: [
                    "Origin: http://localhost:8080", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)",
                    "Accept-Encoding: gzip, deflate",
                    "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits", "Cache-Control: no-cache",
                ]))
            let head = try socket.head().lowercased()
            #expect(head.hasPrefix("http/1.1 101 "))
            #expect(head.contains("\r\nsec-websocket-protocol: mqtt\r\n"))
            #expect(!head.contains("sec-websocket-extensions"))
            try socket.send(.binary, try connect(to: answer.json))
            #expect(try socket.frame() == (2, [0x20, 2, 0, 0]))
        }
    }
}

/// CONNECT of MQTT 3.1.1 as MQTT.js 1 makes it: the topic as client identifier, a clean session, 60 s.
private func connect(to endpoint: JSONValue) throws -> [UInt8] {
    var payload: [UInt8] = []
    for name in ["mqttTopic", "username", "password"] {
        let text = Array(try #require(endpoint[name]?.string).utf8)
        payload += [UInt8(text.count >> 8), UInt8(text.count & 0xFF)] + text
    }
    let body = [0, 4] + Array("MQTT".utf8) + [4, 0xC2, 0, 60] + payload
    // MQTT 3.1.1 section 2.2.3: seven bits a byte, the lowest first.
    let length = body.count < 128 ? [UInt8(body.count)] : [UInt8(body.count & 0x7F | 0x80), UInt8(body.count >> 7)]
    return [0x10] + length + body
}
