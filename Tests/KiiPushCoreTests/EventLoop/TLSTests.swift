import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct TLSTests {
    let authority: TestAuthority

    init() throws { self.authority = try TestAuthority() }

    private func loop(caFile: String? = nil, insecure: Bool = false) throws -> EventLoop {
        // A server of one client at a time keeps the other clients waiting, so the timeout is long.
        try EventLoop(
            configuration: .init(tls: .init(caFile: caFile, insecure: insecure), connectTimeout: .seconds(600)))
    }

    @Test func carriesBytesToAServerOfTheGivenAuthority() async throws {
        let server = try OpenSSLServer(self.authority, "-rev")
        defer { server.stop() }
        var probe = try await StreamProbe(
            try self.loop(caFile: self.authority.caFile), .tls(host: "localhost", port: server.port))
        await probe.connected()
        probe.send("desrever\n")
        #expect(await probe.text(9) == "reversed\n")
    }

    @Test func readsAllThatTheTLSLayerHolds() async throws {
        let content = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) })
        try content.write(to: URL(fileURLWithPath: self.authority.path + "/content"))
        let server = try OpenSSLServer(self.authority, "-WWW")
        defer { server.stop() }
        // Smaller than the TLS buffer. The loop reaches its limit while the rest of the bytes is in that buffer, so no
        // socket is readable.
        let loop = try EventLoop(
            configuration: .init(
                tls: .init(caFile: self.authority.caFile), drainBytes: 20_000, connectTimeout: .seconds(600)))
        var probe = try await StreamProbe(loop, .tls(host: "localhost", port: server.port))
        await probe.connected()
        probe.send("GET /content HTTP/1.0\r\n\r\n")
        let all = await probe.bytes(.max)
        #expect(all.suffix(content.count) == Array(content)[...])
    }

    @Test func transfersThatWaitForOneAnotherComeWhole() async throws {
        let content = [UInt8]((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        try Data(content).write(to: URL(fileURLWithPath: self.authority.path + "/content"))
        // The server speaks HTTP/1.0 and serves one client at a time, so each transfer needs a connection of its own.
        let server = try OpenSSLServer(self.authority, "-WWW")
        defer { server.stop() }
        let loop = try self.loop(caFile: self.authority.caFile)
        let request = HTTPRequest.patient(method: "GET", url: "https://localhost:\(server.port)/content")
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 { group.addTask { try await loop.perform(request).body == content } }
            for try await isWhole in group { #expect(isWhole) }
        }
    }

    @Test func sendsMoreThanThePeerTakesAtOnce() async throws {
        let server = try OpenSSLServer(self.authority, "-rev")
        defer { server.stop() }
        var probe = try await StreamProbe(
            try self.loop(caFile: self.authority.caFile), .tls(host: "localhost", port: server.port))
        await probe.connected()
        let lines = (0..<40_000).map { "\($0) \(String(repeating: "x", count: 90))" }
        for start in stride(from: 0, to: lines.count, by: 100) {
            probe.send(lines[start..<(start + 100)].map { $0 + "\n" }.joined())
        }
        let reversed = lines.map { String($0.reversed()) + "\n" }.joined()
        let echoed = await probe.text(reversed.utf8.count)
        let isSame = echoed == reversed
        #expect(isSame)
    }

    @Test(arguments: ["stream", "transfer"])
    func aCertificateOfAnotherAuthorityIsNotTrusted(_ way: String) async throws {
        let server = try OpenSSLServer(self.authority, "-www")
        defer { server.stop() }
        let stranger = try TestAuthority()
        let loop = try self.loop(caFile: stranger.caFile)
        #expect(await self.failure(way, loop, "localhost", server.port)?.code == .certificateNotTrusted)
    }

    @Test(arguments: ["stream", "transfer"])
    func aCertificateForAnotherNameIsNotTrusted(_ way: String) async throws {
        let server = try OpenSSLServer(self.authority, "-www")
        defer { server.stop() }
        let loop = try self.loop(caFile: self.authority.caFile)
        // libcurl resolves every name under "localhost" to the loopback address (RFC 6761, section 6.3).
        #expect(await self.failure(way, loop, "other.localhost", server.port)?.code == .certificateNotTrusted)
        #expect(await self.failure(way, loop, "127.0.0.1", server.port)?.code == .certificateNotTrusted)
    }

    @Test(arguments: ["stream", "transfer"])
    func theSystemsAuthoritiesDoNotVouchForAPrivateOne(_ way: String) async throws {
        let server = try OpenSSLServer(self.authority, "-www")
        defer { server.stop() }
        let error = await self.failure(way, try self.loop(), "localhost", server.port)
        // If no authorities are installed, libcurl cannot read their file.
        #expect(error?.code == .certificateNotTrusted || error?.code == .invalidConfiguration)
    }

    @Test(arguments: ["stream", "transfer"])
    func aServerThatSpeaksNoTLSIsTLSFailed(_ way: String) async throws {
        let server = try LoopbackServer { connection in
            _ = connection.read()
            connection.write("220 mail.example ESMTP\r\n")
            connection.waitForEnd()
        }
        defer { server.stop() }
        let loop = try self.loop(caFile: self.authority.caFile)
        #expect(await self.failure(way, loop, "127.0.0.1", server.port)?.code == .tlsFailed)
    }

    @Test(arguments: ["stream", "transfer"])
    func aCAFileThatHoldsNoCertificateIsInvalidConfiguration(_ way: String) async throws {
        let file = self.authority.path + "/garbage.pem"
        try Data("not a certificate".utf8).write(to: URL(fileURLWithPath: file))
        let server = try OpenSSLServer(self.authority, "-www")
        defer { server.stop() }
        let loop = try self.loop(caFile: file)
        #expect(await self.failure(way, loop, "localhost", server.port)?.code == .invalidConfiguration)
    }

    /// A TLS 1.3 server reports a missing certificate after the handshake (RFC 8446, section 4.4.2.4). A TLS 1.2 server
    /// reports it during the handshake and less plainly (RFC 5246, section 7.4.6).
    @Test(arguments: ["-tls1_3", "-tls1_2"], ["stream", "transfer"])
    func aServerThatAsksForAClientCertificateIsNamedAsSuch(version: String, way: String) async throws {
        let server = try OpenSSLServer(self.authority, "-rev -Verify 1 -CAfile ca.pem \(version)")
        defer { server.stop() }
        let loop = try self.loop(caFile: self.authority.caFile)
        var error: TransportError?
        if way == "stream" {
            // An MQTT client speaks first. A server that closes with unread bytes breaks the connection.
            var probe = try await StreamProbe(loop, .tls(host: "localhost", port: server.port)) { stream, event in
                if case .connected = event { stream.send([UInt8](repeating: 0x10, count: 100)) }
            }
            error = await probe.closed()
        } else {
            error = await self.failure(way, loop, "localhost", server.port)
        }
        #expect(error?.description.contains("client certificate") == true, "\(error as Any)")
    }

    /// The server asks for a certificate of its own authority.
    @Test(arguments: ["-tls1_3", "-tls1_2"], ["stream", "transfer"])
    func aServerThatAsksGetsTheClientsCertificate(version: String, way: String) async throws {
        let answer = way == "stream" ? "-rev" : "-WWW"
        let server = try OpenSSLServer(
            self.authority, "\(answer) -Verify 1 -verify_return_error -CAfile ca.pem \(version)")
        defer { server.stop() }
        let loop = try self.loop(certificate: "server.pem", key: "server.key")
        if way == "stream" {
            var probe = try await StreamProbe(loop, .tls(host: "localhost", port: server.port))
            await probe.connected()
            probe.send("desrever\n")
            #expect(await probe.text(9) == "reversed\n")
        } else {
            let answer = try await loop.perform(
                HTTPRequest.patient(method: "GET", url: "https://localhost:\(server.port)/ca.pem"))
            #expect(answer.body.starts(with: "-----BEGIN CERTIFICATE".utf8))
        }
    }

    @Test func aKeyMayBeInTheCertificatesFile() async throws {
        let path = self.authority.path
        let both = try ["server.pem", "server.key"].map { try String(contentsOfFile: path + "/" + $0, encoding: .utf8) }
        let isMade = FileManager.default.createFile(
            atPath: path + "/both.pem", contents: Data(both.joined().utf8), attributes: [.posixPermissions: 0o600])
        #expect(isMade)
        let server = try OpenSSLServer(self.authority, "-rev -Verify 1 -verify_return_error -CAfile ca.pem")
        defer { server.stop() }
        var probe = try await StreamProbe(
            try self.loop(certificate: "both.pem", key: nil), .tls(host: "localhost", port: server.port))
        await probe.connected()
        probe.send("desrever\n")
        #expect(await probe.text(9) == "reversed\n")
    }

    @Test func aClientKeyThatIsOpenToOthersIsRefused() throws {
        let key = self.authority.path + "/server.key"
        try #require(chmod(key, 0o640) == 0)
        let error = #expect(throws: TransportError.self) {
            try self.loop(certificate: "server.pem", key: "server.key")
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("\(key) holds credentials and is open to others (mode 640)") == true)
    }

    /// OpenSSL would ask for the password at the terminal, on the loop's thread.
    @Test func aClientKeyWithAPasswordIsRefusedAndNobodyIsAsked() async throws {
        let line = "openssl ec -in server.key -out locked.key -aes256 -passout pass:word && chmod 600 locked.key"
        try #require(try ChildProgram(["sh", "-c", "cd '\(self.authority.path)' && \(line)"]).wait() == 0)
        let server = try OpenSSLServer(self.authority, "-rev")
        defer { server.stop() }
        let loop = try self.loop(certificate: "server.pem", key: "locked.key")
        #expect(await self.failure("stream", loop, "localhost", server.port)?.code == .invalidConfiguration)
    }

    private func loop(certificate: String, key: String?) throws -> EventLoop {
        var tls = TLSConfiguration(caFile: self.authority.caFile)
        tls.clientCertificateFile = self.authority.path + "/" + certificate
        tls.clientKeyFile = key.map { self.authority.path + "/" + $0 }
        return try EventLoop(configuration: .init(tls: tls, connectTimeout: .seconds(600)))
    }

    /// The file is renamed into place, or written again in place.
    @Test(arguments: ["stream", "transfer"], [true, false])
    func aFileOfAuthoritiesThatHasChangedIsReadAgain(way: String, isReplaced: Bool) async throws {
        let other = try TestAuthority()
        let file = self.authority.path + "/trusted.pem"
        func trust(_ authority: TestAuthority) throws {
            let content = try Data(contentsOf: URL(fileURLWithPath: authority.caFile))
            let former = changedAt()
            // A second change within one tick of the file system's clock has the same time.
            repeat {
                try content.write(to: URL(fileURLWithPath: file), options: isReplaced ? .atomic : [])
            } while changedAt() == former
        }
        func changedAt() -> [Int] {
            var status = stat()
            return stat(file, &status) == 0 ? [status.st_ctim.tv_sec, status.st_ctim.tv_nsec] : []
        }
        try trust(self.authority)
        let loop = try self.loop(caFile: file)
        // No resumption: a resumed handshake shows no certificate.
        let servers = try [self.authority, other].map { try OpenSSLServer($0, "-www -num_tickets 0 -no_cache") }
        defer { for server in servers { server.stop() } }
        for (round, isKnown) in [(0, 0), (1, 1), (0, 1), (0, 0)].enumerated() {
            let (trusted, server) = isKnown
            try trust([self.authority, other][trusted])
            let failure = await self.firstFailure(way, loop, servers[server].port)
            #expect(failure?.code == (trusted == server ? nil : .certificateNotTrusted), "\(round)")
        }
    }

    private func firstFailure(_ way: String, _ loop: EventLoop, _ port: UInt16) async -> TransportError? {
        do {
            if way == "stream" {
                var probe = try await StreamProbe(loop, .tls(host: "localhost", port: port))
                if case .closed(let error)? = await probe.nextEvent() { return error }
                probe.use { $0.close() }
                return nil
            }
            _ = try await loop.perform(HTTPRequest.patient(method: "GET", url: "https://localhost:\(port)/"))
            return nil
        } catch {
            return error as? TransportError
        }
    }

    @Test func insecureTrustsAnyCertificate() async throws {
        let server = try OpenSSLServer(self.authority, "-www")
        defer { server.stop() }
        let loop = try self.loop(insecure: true)
        let answer = try await loop.perform(
            HTTPRequest.patient(method: "GET", url: "https://127.0.0.1:\(server.port)/"))
        #expect(answer.status == 200)
    }

    @Test(arguments: [("stream", false), ("transfer", true)])
    func transfersOfferHTTP2AndStreamsNoProtocol(way: String, offersHTTP2: Bool) async throws {
        let hello = Locked<[UInt8]>([])
        let server = try LoopbackServer { connection in
            hello.withLock { [bytes = connection.read()] in $0 = bytes }
        }
        defer { server.stop() }
        let loop = try self.loop(caFile: self.authority.caFile)
        #expect(await self.failure(way, loop, "127.0.0.1", server.port)?.code == .tlsFailed)
        let bytes = hello.withLock { $0 }
        // RFC 7301, section 3.1: each name follows its length.
        #expect(bytes.contains([2] + Array("h2".utf8)) == offersHTTP2)
        #expect(bytes.contains(Array("http/1.1".utf8)) == offersHTTP2)
    }

    private func failure(_ way: String, _ loop: EventLoop, _ host: String, _ port: UInt16) async -> TransportError? {
        do {
            if way == "stream" {
                var probe = try await StreamProbe(loop, .tls(host: host, port: port))
                return await probe.closed()
            }
            let request = HTTPRequest.patient(method: "GET", url: "https://\(host):\(port)/")
            let answer = try await loop.perform(request)
            Issue.record("status \(answer.status) instead of an error")
            return nil
        } catch {
            return error as? TransportError
        }
    }
}
