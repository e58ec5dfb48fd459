import Foundation
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

@Suite(.ownThreads) struct HTTPSTests {
    /// curl's exit code and the server's answer; the status is 0 without an answer.
    private struct Outcome {
        var code: Int32
        var status: Int
        var location: String
        var body: String
        var json: JSONValue { (try? JSONValue(parsing: self.body)) ?? .null }
    }

    /// curl's exit code for a certificate that cannot be verified.
    private static let unknownAuthority: Int32 = 60

    private static func curl(
        _ emulator: Emulator, _ method: String, _ path: String, root: String? = nil, authority: String? = nil,
        token: String? = nil, type: String = "application/json", body: String? = nil
    ) async throws -> Outcome {
        let url = try "\(root ?? #require(emulator.httpsBaseURL))/apps/\(emulator.appID)/\(path)"
        var words = ["--silent", "--write-out", "\n%{http_code} %header{location}", "--max-time", "600", "-X", method]
        words += ["--cacert", authority ?? emulator.certificateAuthorityFile, "-H", "Content-Type: \(type)"]
        words +=
            token.map { ["-H", "Authorization: Bearer \($0)"] }
            ?? ["-u", "\(emulator.appID):\(emulator.appKey.reveal())"]
        if let body { words += ["--data-binary", body] }
        let finished = try await run("curl", words + [url])
        let end = finished.output.lastIndex(of: "\n") ?? finished.output.startIndex
        let last = finished.output[end...].dropFirst().split(separator: " ")
        return Outcome(
            code: finished.status,
            status: last.first.flatMap { Int($0) } ?? 0,
            location: last.count == 2 ? String(last[1]) : "",
            body: String(finished.output[..<end])
        )
    }

    private static func register(_ emulator: Emulator, root: String? = nil) async throws -> String {
        let type = "application/vnd.kii.RegistrationAndAuthorizationRequest+json"
        let user = try await HTTPSTests.curl(emulator, "POST", "users", root: root, type: type, body: "{}")
        #expect(user.code == 0)
        #expect(user.status == 201)
        // `Location` has the scheme of the request.
        let start = try root ?? #require(emulator.httpsBaseURL)
        #expect(user.location.hasPrefix("\(start)/apps/\(emulator.appID)/users/"))
        return try #require(user.json["_accessToken"]?.string)
    }

    @Test func curlRegistersInstallsAndGetsAnEndpoint() async throws {
        try await withEmulator { client in
            let emulator = client.emulator
            let token = try await HTTPSTests.register(emulator)
            let installation = try await HTTPSTests.curl(
                emulator, "POST", "installations", token: token,
                type: "application/vnd.kii.InstallationCreationRequest+json", body: #"{"deviceType":"MQTT"}"#)
            #expect(installation.status == 201)
            let id = try #require(installation.json["installationID"]?.string)
            let root = try #require(emulator.httpsBaseURL)
            #expect(installation.location == "\(root)/apps/\(emulator.appID)/installations/\(id)")
            let endpoint = try await HTTPSTests.curl(
                emulator, "GET", "installations/\(id)/mqtt-endpoint", token: token)
            #expect(endpoint.status == 200)
            #expect(endpoint.json["portSSL"]?.int64 == Int64(emulator.mqttTLSPort))
            // The same cloud answers plain HTTP.
            let plain = try await client.call("GET", "installations/\(id)", token: token)
            #expect(plain.status == 200)
            _ = try await HTTPSTests.register(emulator, root: emulator.baseURL)
        }
    }

    @Test func largeBodiesAndAnswersComeWhole() async throws {
        try await withEmulator { client in
            let token = try await HTTPSTests.register(client.emulator)
            let directory = try TemporaryDirectory()
            let text = #"{"text":""# + String(repeating: "0123456789abcdef", count: 60_000) + #""}"#
            let file = "\(directory.path)/object.json"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let path = "users/me/buckets/notes/objects/large"
            let made = try await HTTPSTests.curl(client.emulator, "PUT", path, token: token, body: "@\(file)")
            #expect(made.status == 201)
            let read = try await HTTPSTests.curl(client.emulator, "GET", path, token: token)
            #expect(read.json["text"]?.string?.utf8.count == 960_000)
        }
    }

    /// ebisu sends an empty chunk after every request. A reset of the connection would lose the end of TLS (RFC 8446
    /// section 6.1).
    @Test func theEndOfTLSComesThoughTheClientSendsMore() async throws {
        let program = """
            import socket, ssl, sys
            context = ssl.create_default_context(cafile=sys.argv[2])
            for _ in range(20):
                plain = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
                client = context.wrap_socket(plain, server_hostname='localhost', suppress_ragged_eofs=False)
                client.sendall(b'GET /api/x/y HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Close\\r\\n\\r\\n')
                client.sendall(b'0\\r\\n\\r\\n')
                answer = b''
                while more := client.recv(4096): answer += more
                print(answer[:12].decode())
            """
        try await withEmulator { client in
            let port = try #require(client.emulator.httpsPort)
            let finished = try await run(
                "python3", ["-c", program, "\(port)", client.emulator.certificateAuthorityFile])
            #expect(finished.lines == Array(repeating: "HTTP/1.1 404", count: 20))
        }
    }

    @Test func anotherAuthorityIsRefused() async throws {
        try await withEmulator { client in
            try await withEmulator { other in
                let authority = other.emulator.certificateAuthorityFile
                let foreign = try await HTTPSTests.curl(client.emulator, "GET", "users/me", authority: authority)
                #expect(foreign.code == HTTPSTests.unknownAuthority)
                #expect(foreign.status == 0)
            }
            _ = try await HTTPSTests.register(client.emulator)
        }
    }

    @Test(arguments: [
        "GET /api/apps/x HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}", "\u{16}\u{3}\u{1}\u{7f}\u{7f}\u{1}",
    ])
    func whatIsNoTLSDoesNoHarm(text: String) async throws {
        try await withEmulator { client in
            let port = try #require(client.emulator.httpsPort)
            let connection = try RawConnection(port: port)
            try connection.send(Array(text.utf8))
            if text.hasPrefix("GET") {
                // The server may send a TLS alert, and no HTTP answer.
                let said = (try? connection.receiveBytes()) ?? []
                #expect(!said.starts(with: Array("HTTP".utf8)))
            }
            // Other clients are served while this connection is open.
            _ = try await HTTPSTests.register(client.emulator)
            _ = try await client.adminToken()
        }
    }

    @Test func aConnectionServesManyRequestsAlsoAfterAWait() async throws {
        try await withEmulator { client in
            let (emulator, receiver) = (client.emulator, try await client.receiver())
            let root = try "\(#require(emulator.httpsBaseURL))/apps/\(emulator.appID)/users/me"
            let login = [
                "-H", "Authorization: Bearer \(receiver.token)", "--cacert", emulator.certificateAuthorityFile,
            ]
            let say = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code} %{num_connects}\n"] + login
            // The second request waits for the broker, so the server suspends and resumes its connection.
            let body = #"{"data":{"a":"b"},"mqtt":{"enabled":true}}"#
            let send = ["-H", "Content-Type: application/json", "-d", body, "\(root)/push/messages"]
            let words = say + [root, "--next"] + say + send + ["--next"] + say + send + ["--next"] + say + [root]
            let finished = try await run("curl", words)
            #expect(finished.lines == ["200 1", "200 0", "200 0", "200 0"])
        }
    }

    @Test func stoppingAnswersWhatWaits() async throws {
        try await withEmulator { client in
            let emulator = client.emulator
            let path = "/api/apps/\(emulator.appID)/users"
            let fault: JSONValue = ["path": JSONValue(path), "delay": 600]
            #expect(try await client.control("POST", "faults", fault).status == 201)
            async let waiting = HTTPSTests.curl(emulator, "GET", "users")
            // The request has taken the fault from the list and waits for its answer.
            while try await client.control("GET", "faults").json["faults"]?.array?.isEmpty == false {
                try await Task.sleep(for: .milliseconds(10))
            }
            await emulator.stop()
            #expect(try await waiting.status == 405)
            let port = try #require(emulator.httpsPort)
            #expect(throws: RawHTTP.Failure.self) { _ = try RawConnection(port: port) }
        }
    }

    @Test func bothWaysInAtOnceLeadToOneCloud() async throws {
        try await withEmulator { client in
            let emulator = client.emulator
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<12 {
                    group.addTask { _ = try await HTTPSTests.register(emulator) }
                    group.addTask { _ = try await client.receiver() }
                }
                try await group.waitForAll()
            }
            let principals = try await client.control("GET", "principals")
            #expect(principals.json["users"]?.array?.count == 24)
        }
    }

    @Test func aPortIsTakenAndRememberedLikeTheOthers() async throws {
        let directory = try TemporaryDirectory()
        let configuration = Emulator.Configuration(directory: directory.path)
        let before = try await withEmulator(configuration) { client in
            let port = try #require(client.emulator.httpsPort)
            #expect(client.emulator.httpsBaseURL == "https://127.0.0.1:\(port)/api")
            let error = await #expect(throws: EmulatorError.self) {
                _ = try await Emulator.start(.init(httpsPort: port))
            }
            #expect(error?.code == .portInUse(port))
            return port
        }
        try await withEmulator(configuration) { client in
            #expect(client.emulator.httpsPort == before)
            // curl trusts the certificate of the restarted emulator.
            _ = try await HTTPSTests.register(client.emulator)
        }
        try await withEmulator(.init(httpsPort: before)) { client in
            #expect(client.emulator.httpsPort == before)
        }
    }

    @Test func withoutTLSInTheLibraryOnlyAnAskedForPortIsAnError() throws {
        #expect(try Emulator.servesHTTPS(port: 0, libraryHasTLS: true))
        #expect(try Emulator.servesHTTPS(port: 8443, libraryHasTLS: true))
        #expect(try !Emulator.servesHTTPS(port: 0, libraryHasTLS: false))
        let error = #expect(throws: EmulatorError.self) {
            _ = try Emulator.servesHTTPS(port: 8443, libraryHasTLS: false)
        }
        #expect(error?.code == .httpsUnavailable)
        #expect(error?.description.contains("8443") == true)
    }
}

extension Emulator {
    fileprivate var httpsPort: UInt16? {
        self.httpsBaseURL.flatMap { URL(string: $0)?.port }.map { UInt16($0) }
    }
}
