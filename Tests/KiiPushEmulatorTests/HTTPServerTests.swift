import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

@Suite(.ownThreads) struct HTTPServerTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func version10IsAnsweredAndClosed() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let connection = try RawConnection(port: client.port)
            let path = "/api/apps/\(client.emulator.appID)/users/me"
            try connection.send(
                HTTPServerTests.bytes("GET \(path) HTTP/1.0\r\nAuthorization: bearer \(receiver.token)\r\n\r\n")
            )
            #expect(try connection.receive().status == 200)
            #expect(try connection.isClosedByPeer())
        }
    }

    @Test func aConnectionServesManyRequestsAlsoAfterAWait() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let connection = try RawConnection(port: client.port)
            let app = "/api/apps/\(client.emulator.appID)"
            let login = "Host: localhost\r\nAuthorization: Bearer \(receiver.token)\r\n"
            // The second request waits for the broker, so the server suspends and resumes its connection.
            let body = #"{"data":{"a":"b"},"mqtt":{"enabled":true}}"#
            let requests = [
                "GET \(app)/users/me HTTP/1.1\r\n\(login)\r\n",
                "POST \(app)/users/me/push/messages HTTP/1.1\r\n\(login)Content-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)",
                "HEAD \(app)/users/me HTTP/1.1\r\n\(login)\r\n",
                "BREW \(app)/users/me HTTP/1.1\r\n\(login)\r\n",
            ]
            var answers: [Int] = []
            for request in requests {
                try connection.send(HTTPServerTests.bytes(request))
                answers.append(try connection.receive(isHead: request.hasPrefix("HEAD")).status)
            }
            #expect(answers == [200, 200, 200, 405])
            // All requests at once, before any answer.
            try connection.send(HTTPServerTests.bytes(requests.joined()))
            answers = try requests.map { try connection.receive(isHead: $0.hasPrefix("HEAD")).status }
            #expect(answers == [200, 200, 200, 405])
        }
    }

    /// A fleet of devices keeps one connection each. libmicrohttpd's default limit is 1,020 connections.
    @Test func manyIdleConnectionsKeepNobodyOut() async throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        try #require(getrlimit(resource, &limit) == 0)
        limit.rlim_cur = limit.rlim_max
        try #require(setrlimit(resource, &limit) == 0)
        try await withEmulator { client in
            let request = HTTPServerTests.bytes("GET /api/x/y HTTP/1.1\r\nHost: localhost\r\n\r\n")
            var idle: [RawConnection] = []
            for _ in 0..<1100 {
                let connection = try RawConnection(port: client.port)
                try connection.send(request)
                try #require(try connection.receive().status == 404)
                idle.append(connection)
            }
            for connection in [idle[0], idle[1020], idle[1099]] {
                try connection.send(request)
                #expect(try connection.receive().status == 404)
            }
        }
    }

    /// ebisu sends an empty chunk after every request, possibly while the server closes the connection.
    @Test func whatComesAfterTheLastAnswerDoesNotResetTheConnection() async throws {
        try await withEmulator { client in
            let connection = try RawConnection(port: client.port)
            try connection.send(
                HTTPServerTests.bytes("GET /api/x/y HTTP/1.1\r\nHost: localhost\r\nConnection: Close\r\n\r\n"))
            #expect(try connection.receive().status == 404)
            #expect(try connection.isClosedByPeer())
            // If the server had reset the connection, the second send would fail.
            for _ in 0..<20 { try connection.send(HTTPServerTests.bytes("0\r\n\r\n")) }
            // The server reads at most 16 MiB after its last answer, and then closes the connection.
            let much = [UInt8](repeating: 0, count: 1 << 20)
            #expect(throws: RawHTTP.Failure.self) { for _ in 0..<64 { try connection.send(much) } }
        }
    }

    @Test func whoIsRefusedWhileSendingReadsThat() async throws {
        try await withEmulator { client in
            let connection = try RawConnection(port: client.port)
            let length = 4 << 20
            try connection.send(
                HTTPServerTests.bytes(
                    "POST /api/x/y HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n"))
            for _ in 0..<64 { try connection.send([UInt8](repeating: 0, count: length / 64)) }
            #expect(try connection.receive().status == 413)
        }
    }

    @Test func noContentHasNone() async throws {
        try await withEmulator { client in
            let admin = try await client.adminToken()
            let answer = try await client.call("PUT", "topics/news", token: admin)
            #expect(answer.status == 204)
            #expect(answer.field("Content-Type") == nil)
            #expect(answer.body.isEmpty)
        }
    }

    @Test func aLargeBodyIsRefusedBeforeItIsSentAndAlsoWithoutALength() async throws {
        try await withEmulator { client in
            let head =
                "POST /api/apps/\(client.emulator.appID)/users HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nX-Kii-AppID: \(client.emulator.appID)\r\nX-Kii-AppKey: k\r\n"
            let declared = try await RawHTTP.exchange(
                port: client.port,
                head + "Content-Length: 1048577\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(declared.status == 413)
            #expect(declared.json["errorCode"]?.string == "INVALID_INPUT_DATA")
            let chunk = "40000\r\n" + String(repeating: " ", count: 0x40000) + "\r\n"
            let chunked = try await RawHTTP.exchange(
                port: client.port,
                head + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                    + String(repeating: chunk, count: 5) + "0\r\n\r\n"
            )
            #expect(chunked.status == 413)
            // A body of exactly 1 MiB is read whole, and is then no JSON.
            let allowed = try await RawHTTP.exchange(
                port: client.port,
                head + "Content-Length: 1048576\r\nConnection: close\r\n\r\n"
                    + String(repeating: " ", count: 1_048_576)
            )
            #expect(allowed.status == 400)
            #expect(allowed.json["errorCode"]?.string == "INVALID_JSON")
        }
    }

    @Test(
        arguments: [
            "GET /api/apps/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "GET /api/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "GET http://127.0.0.1/api/nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "GET /api/%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "GET /api/%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "GET \u{1}\u{2} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "NONSENSE\r\n\r\n", "GET /api HTTP/9.9\r\nHost: localhost\r\n\r\n",
            "POST /api/oauth2/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        ]
    )
    func badRequestsAreRefusedAndTheNextIsServed(request: String) async throws {
        try await withEmulator { client in
            // The server closes the connection without an answer if the request is too broken.
            let connection = try RawConnection(port: client.port)
            try connection.send(HTTPServerTests.bytes(request))
            if try !connection.isClosedBeforeAnswer() {
                let status = try connection.receive().status
                #expect((400..<500).contains(status) || status == 505)
            }
            _ = try await client.adminToken()
        }
    }

    @Test func aClientThatLeavesInTheMiddleDisturbsNobody() async throws {
        try await withEmulator { client in
            for part in ["POST /api/oauth2/to", "POST /api/oauth2/token HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"] {
                try RawConnection(port: client.port).send(HTTPServerTests.bytes(part))
            }
            #expect(try await !client.adminToken().isEmpty)
        }
    }

    @Test func aTakenPortIsNamed() async throws {
        try await withEmulator { client in
            let error = await #expect(throws: EmulatorError.self) {
                _ = try await Emulator.start(.init(port: client.port))
            }
            #expect(error?.code == .portInUse(client.port))
            let ofBroker = await #expect(throws: EmulatorError.self) {
                _ = try await Emulator.start(.init(mqttPort: client.emulator.mqttPort))
            }
            #expect(ofBroker?.code == .portInUse(client.emulator.mqttPort))
        }
    }

    /// A web page could make its own host name resolve to this address, and then read the answers.
    @Test(arguments: [
        ("127.0.0.1", 404), ("127.0.0.1:%", 404), ("localhost:%", 404), ("LocalHost", 404), ("[::1]:%", 404),
        // A proxy before the emulator has another port.
        ("localhost:1", 404), ("evil.example", 421), ("evil.example:%", 421), ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:%", 421), ("localhost:evil", 421), ("", 421),
    ])
    func onlyItsOwnNameIsAnswered(host: String, status: Int) async throws {
        try await withEmulator { client in
            let host = host.replacing("%", with: "\(client.port)")
            let answer = try await RawHTTP.exchange(
                port: client.port, "GET /api/x/y HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            #expect(answer.status == status)
            #expect(status != 421 || answer.json["errorCode"] == "OPERATION_NOT_ALLOWED")
            let connection = try RawConnection(port: client.port)
            try connection.send(
                HTTPServerTests.bytes("POST /api/x/y HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 2\r\n\r\n{}"))
            #expect(try connection.receive().status == status)
        }
    }
}
