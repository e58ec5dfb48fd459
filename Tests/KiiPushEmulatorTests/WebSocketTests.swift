import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct WebSocketTests {
    @Test(arguments: [false, true]) func aPushArrives(tls: Bool) async throws {
        try await withEmulator { client in
            client.emulator.activity.follow()
            let receiver = try await client.receiver()
            let socket = try WebSocketClient(client.emulator, tls: tls)
            try socket.connect(receiver)
            let admin = try await client.adminToken()
            for number in 1...3 {
                #expect(try await client.push(number, to: receiver, admin: admin).status == 200)
                #expect(try socket.receiveNumber() == Int64(number))
            }
            let shown = try await client.control("GET", "installations").json["installations"]?.array?.first
            #expect(shown?["online"]?.bool == true)
            #expect(shown?["transport"]?.string == (tls ? "wss" : "ws"))
            // The broker ends the session, and the server closes the WebSocket with code 1000.
            try await client.play("lose session of \(receiver.installationID)")
            #expect(try socket.frame() == (8, WebSocketFrame.closePayload(1000)))
            #expect(try socket.rest().isEmpty)
            await client.emulator.stop()
            let all = client.emulator.activity.next(after: 0) ?? []
            let online = all.compactMap { if case .connection(let connection) = $0.event { connection } else { nil } }
            #expect(online.first?.transport == (tls ? .webSocketTLS : .webSocket))
        }
    }

    @Test func theAnswerIsThatOfTheSpecification() async throws {
        try await withEmulator { client in
            let socket = try WebSocketClient(client.emulator)
            let head = try socket.open()
            // The answer to this key is in RFC 6455 section 1.3.
            #expect(head.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
            #expect(head.contains("\r\nSec-WebSocket-Protocol: mqtt\r\n"))
        }
    }

    @Test func pingsAreAnsweredAndPacketsMayBeCutAnywhere() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let socket = try WebSocketClient(client.emulator)
            try socket.open()
            var connect: [UInt8] = []
            let packet = MQTTConnect(
                clientID: receiver.topic, cleanSession: true, keepAlive: 300, username: receiver.username,
                password: Secret(receiver.password))
            try MQTTPacket.connect(packet).encode(into: &connect)
            // Two fragments with a ping between them, sent byte by byte.
            var bytes: [UInt8] = [0x02, 0x80 | 5, 0, 0, 0, 0] + connect.prefix(5)
            WebSocketFrame.append(.ping, Array("still there".utf8), mask: 7, to: &bytes)
            bytes += [0x80, 0x80 | UInt8(connect.count - 5), 0, 0, 0, 0] + connect.dropFirst(5)
            for byte in bytes { try socket.send([byte]) }
            #expect(try socket.frame() == (10, Array("still there".utf8)))
            guard case .connack(let connack) = try socket.packet() else { throw RawHTTP.Failure(what: "no CONNACK") }
            #expect(connack.code == .accepted)
            try socket.send(.close, WebSocketFrame.closePayload(1000))
            #expect(try socket.frame() == (8, WebSocketFrame.closePayload(1000)))
            #expect(try socket.rest().isEmpty)
        }
    }

    /// A request, the status of its refusal, and words of the refusal's sentence.
    private static let refusals: [(request: String, status: Int, sentence: String)] = [
        (WebSocketClient.request("POST /mqtt HTTP/1.1"), 405, "begins with GET"),
        (WebSocketClient.request("GET /other HTTP/1.1"), 404, "is at /mqtt"),
        (WebSocketClient.request("GET /mqtt HTTP/1.0"), 400, "HTTP/1.1"),
        (WebSocketClient.request(leavingOut: "Upgrade"), 426, "Upgrade: websocket"),
        (WebSocketClient.request(leavingOut: "Sec-WebSocket-Version"), 426, "is 13"),
        (WebSocketClient.request(leavingOut: "Sec-WebSocket-Key"), 400, "Sec-WebSocket-Key"),
        (WebSocketClient.request(leavingOut: "Sec-WebSocket-Protocol"), 400, "subprotocol mqtt"),
        (WebSocketClient.request(with: ["X: \(String(repeating: "x", count: 20_000))"]), 431, "bytes of header"),
    ]

    @Test(arguments: [false, true]) func whatIsNoRequestForItIsRefusedWithASentence(tls: Bool) async throws {
        let reasons = try await self.reasons { emulator in
            for (request, status, sentence) in Self.refusals {
                let socket = try WebSocketClient(emulator, tls: tls)
                try socket.send(request)
                let answer = String(decoding: try socket.rest(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request)")
                #expect(answer.contains(sentence), "\(answer)")
            }
        }
        try #require(reasons.count == Self.refusals.count)
        for (reason, refusal) in zip(reasons, Self.refusals) {
            #expect(reason.hasPrefix("answered \(refusal.status) ") && reason.contains(refusal.sentence), "\(reason)")
        }
    }

    /// Bytes that break the protocol, the code that closes the WebSocket, and words of the reason.
    private static let faults: [(bytes: [UInt8], code: UInt16, words: String)] = [
        ([0x82, 1, 0], 1002, "without a mask"),
        ([0x81, 0x81, 0, 0, 0, 0, 65], 1003, "a text frame"),
        ([0xC2, 0x80, 0, 0, 0, 0], 1002, "reserved bits"),
        ([0x83, 0x80, 0, 0, 0, 0], 1002, "opcode 3"),
        ([0x09, 0x80, 0, 0, 0, 0], 1002, "a fragmented ping"),
        ([0x89, 0xFE, 0, 126, 0, 0, 0, 0], 1002, "more than 125 bytes"),
        ([0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 1009, "a frame of 9223372036854775808 bytes"),
        ([0x80, 0x80, 0, 0, 0, 0], 1002, "a continuation of nothing"),
        ([0x88, 0x81, 0, 0, 0, 0, 3], 1002, "a close frame of one byte"),
    ]

    @Test(arguments: [false, true]) func whatBreaksTheProtocolIsClosedAndLogged(tls: Bool) async throws {
        let reasons = try await self.reasons { emulator in
            for (bytes, code, words) in Self.faults {
                let socket = try WebSocketClient(emulator, tls: tls)
                try socket.open()
                try socket.send(bytes)
                let (opcode, payload) = try socket.frame()
                #expect(opcode == 8)
                #expect(payload.starts(with: [UInt8(code >> 8), UInt8(code & 0xFF)]), "\(words)")
                #expect(try socket.rest().isEmpty)
            }
        }
        try #require(reasons.count == Self.faults.count)
        for (reason, fault) in zip(reasons, Self.faults) { #expect(reason.contains(fault.words), "\(reason)") }
    }

    @Test func whatComesAfterTheCloseIsDropped() async throws {
        let reasons = try await self.reasons(withDetails: true) { emulator in
            let socket = try WebSocketClient(emulator)
            try socket.open()
            var bytes: [UInt8] = []
            WebSocketFrame.append(.close, WebSocketFrame.closePayload(1000), mask: 1, to: &bytes)
            try socket.send(bytes + [1, 2, 3])
            #expect(try socket.frame() == (8, WebSocketFrame.closePayload(1000)))
            #expect(try socket.rest().isEmpty)
        }
        #expect(reasons.count == 1)
        #expect(reasons.first?.contains("it sent 3 bytes after that") == true)
    }

    @Test(arguments: ["GET /mqtt HTTP/1.1\r\nHost: ", ""]) func aRequestThatDoesNotEndIsEnded(text: String) async throws
    {
        let reasons = try await self.reasons { emulator in
            let socket = try WebSocketClient(emulator)
            try socket.send(text)
            let answer = String(decoding: try socket.rest(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(answer.contains("within 10 s"))
        }
        #expect(reasons == ["answered 408 Request Timeout: No request for a WebSocket came within 10 s."])
    }

    @Test func whatIsNoTLSIsSaidToBeNone() async throws {
        let reasons = try await self.reasons { emulator in
            let connection = try RawConnection(port: emulator.webSocketTLSPort)
            try connection.send(Array(WebSocketClient.request().utf8))
            // The server may send a TLS alert before it closes the connection.
            while (try? connection.isClosedByPeer()) == false {}
        }
        #expect(reasons.count == 1)
        #expect(reasons.first?.hasPrefix("the handshake of TLS failed: ") == true)
    }

    @Test(arguments: [false, true]) func scriptsReachIt(tls: Bool) async throws {
        try await withEmulator(.init(faultProxy: true)) { client in
            let (receiver, admin) = (try await client.receiver(), try await client.adminToken())
            let socket = try WebSocketClient(client.emulator, tls: tls)
            try socket.connect(receiver, cleanSession: false)
            try await client.play("drop message 1 of \(receiver.installationID); duplicate message 1 of any")
            try await client.wait(until: "running")
            #expect(try await client.push(1, to: receiver, admin: admin).status == 200)
            try await client.wait(until: "done")
            while try await client.steps().last?.state != "running" { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await client.steps().last?.problem == nil)
            #expect(try await client.push(2, to: receiver, admin: admin).status == 200)
            #expect(try (0..<2).map { _ in try socket.receiveNumber() } == [2, 2])
            try await client.play("drop connection of \(receiver.installationID)")
            #expect(try socket.frame().opcode == 8)
            // The broker delivers the dropped message again.
            let again = try WebSocketClient(client.emulator, tls: tls)
            try await client.wait(until: "done")
            try again.open()
            try again.send(
                .connect(
                    MQTTConnect(
                        clientID: receiver.topic, cleanSession: false, keepAlive: 300, username: receiver.username,
                        password: Secret(receiver.password))))
            guard case .connack = try again.packet() else { throw RawHTTP.Failure(what: "no CONNACK") }
            #expect(try again.receiveNumber() == 1)
        }
    }

    @Test func itsPortsAreKeptAndTaken() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/run/emulator.json"
        let configuration = Emulator.Configuration(directory: directory.path, runtimeFile: path)
        let ports = try await withEmulator(configuration) { client in
            let emulator = client.emulator
            let file = try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: path))))
            #expect(file["webSocketPort"]?.int64 == Int64(emulator.webSocketPort))
            #expect(file["webSocketTLSPort"]?.int64 == Int64(emulator.webSocketTLSPort))
            let error = await #expect(throws: EmulatorError.self) {
                _ = try await Emulator.start(.init(webSocketTLSPort: emulator.webSocketTLSPort))
            }
            #expect(error?.code == .portInUse(emulator.webSocketTLSPort))
            return [emulator.webSocketPort, emulator.webSocketTLSPort]
        }
        try await withEmulator(configuration) { client in
            #expect([client.emulator.webSocketPort, client.emulator.webSocketTLSPort] == ports)
        }
    }

    @Test func whoIsConnectedHearsThatTheEmulatorEnds() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let socket = try WebSocketClient(client.emulator)
            try socket.connect(receiver)
            await client.emulator.stop()
            #expect(try socket.frame().opcode == 8)
            #expect(try socket.rest().isEmpty)
        }
    }

    /// An independent client: Paho for Python.
    @Test(arguments: [false, true]) func pahoReceives(tls: Bool) async throws {
        let program = """
            import sys
            import paho.mqtt.client as mqtt
            port, authority, topic, name, password = sys.argv[1:]
            client = mqtt.Client(client_id=topic, clean_session=False, transport="websockets")
            client.ws_set_options(path="/mqtt")
            if authority: client.tls_set(ca_certs=authority)
            client.username_pw_set(name, password)
            client.on_connect = lambda client, *_: client.subscribe(topic, 1)
            def received(client, _, message):
                print(message.payload.decode(), flush=True)
                client.disconnect()
            client.on_message = received
            client.connect("localhost" if authority else "127.0.0.1", int(port))
            client.loop_forever()
            """
        try await withEmulator { client in
            let (receiver, admin) = (try await client.receiver(), try await client.adminToken())
            let emulator = client.emulator
            try await Mosquitto(emulator: emulator, receiver: receiver).openSession()
            #expect(try await client.push(7, to: receiver, admin: admin).status == 200)
            let words = [
                "\(tls ? emulator.webSocketTLSPort : emulator.webSocketPort)",
                tls ? emulator.certificateAuthorityFile : "", receiver.topic, receiver.username, receiver.password,
            ]
            let finished = try await run("/usr/bin/python3", ["-c", program] + words)
            #expect(finished.status == 0, "\(finished.errors)")
            #expect(try JSONValue(parsing: finished.lines.first ?? "")["n"]?.int64 == 7)
        }
    }

    /// The reasons of all WebSockets that were refused or ended by a fault while `body` ran, in order. With
    /// `withDetails`, the usual ends too.
    private func reasons(
        withDetails: Bool = false, _ body: (Emulator) async throws -> Void
    ) async throws -> [String] {
        try await withEmulator { client in
            client.emulator.activity.follow()
            try await body(client.emulator)
            await client.emulator.stop()
            return (client.emulator.activity.next(after: 0) ?? []).compactMap { activity in
                guard case .webSocket(let ended) = activity.event, withDetails || ended.isFault else { return nil }
                return ended.reason
            }
        }
    }
}
