import Foundation
import Glibc
import TestSupport
import Testing

@testable import KiiPushCore

@Suite struct ProxyTests {
    /// An HTTP proxy that tunnels every request to `target`. If `password` is set, requests need it.
    private func tunnel(
        to target: UInt16, password: String? = nil, heads: Locked<[String]>
    ) throws -> LoopbackServer {
        try LoopbackServer { connection in
            guard let request = connection.readRequest() else { return }
            heads.withLock { $0.append(request.head) }
            let credentials = Data("user:\(password ?? "")".utf8).base64EncodedString()
            guard password == nil || request.has("Proxy-Authorization: Basic \(credentials)") else {
                connection.write("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 6\r\n\r\nhunter")
                return
            }
            guard let far = LoopbackConnection(connectingTo: target) else { return }
            connection.write("HTTP/1.1 200 Connection established\r\n\r\n")
            let back = Thread {
                while true {
                    let bytes = far.read()
                    guard !bytes.isEmpty, connection.write(bytes) else { break }
                }
                connection.abort()
            }
            back.start()
            while true {
                let bytes = connection.read()
                guard !bytes.isEmpty, far.write(bytes) else { break }
            }
            far.abort()
        }
    }

    @Test func aStreamGoesThroughTheTunnelWithCredentials() async throws {
        let server = try LoopbackServer { connection in
            connection.write("welcome")
            _ = connection.write(connection.readExactly(4))
            connection.waitForEnd()
        }
        defer { server.stop() }
        let heads = Locked<[String]>([])
        let proxy = try self.tunnel(to: server.port, password: "p@ss:w/rd", heads: heads)
        defer { proxy.stop() }
        let url = "http://user:p%40ss%3Aw%2Frd@127.0.0.1:\(proxy.port)"
        let loop = try EventLoop.patient(proxy: url)
        var probe = try await StreamProbe(loop, .tcp(host: "broker.invalid", port: 1883))
        await probe.connected()
        #expect(await probe.text(7) == "welcome")
        probe.send("echo")
        #expect(await probe.text(4) == "echo")
        #expect(heads.withLock { $0 }.first?.hasPrefix("CONNECT broker.invalid:1883 HTTP/1.1\r\n") == true)
    }

    @Test func aTLSStreamIsVerifiedBehindTheTunnel() async throws {
        let authority = try TestAuthority()
        let server = try OpenSSLServer(authority, "-rev")
        defer { server.stop() }
        let proxy = try self.tunnel(to: server.port, heads: Locked([]))
        defer { proxy.stop() }
        let loop = try EventLoop(
            configuration: .init(tls: .init(caFile: authority.caFile), proxy: "http://127.0.0.1:\(proxy.port)"))
        var probe = try await StreamProbe(loop, .tls(host: "localhost", port: 8883))
        await probe.connected()
        probe.send("desrever\n")
        #expect(await probe.text(9) == "reversed\n")
        // `openssl s_server` handles one connection at a time.
        probe.use { $0.close() }
        var wrongName = try await StreamProbe(loop, .tls(host: "broker.invalid", port: 8883))
        #expect(await wrongName.closed()?.code == .certificateNotTrusted)
    }

    @Test(arguments: ["stream", "transfer"])
    func aRefusedTunnelIsConnectionRefusedAndNamesNoCredentials(_ way: String) async throws {
        let proxy = try self.tunnel(to: 1, password: "right", heads: Locked([]))
        defer { proxy.stop() }
        let loop = try EventLoop.patient(proxy: "http://user:hunter2@127.0.0.1:\(proxy.port)")
        let error = await self.failure(way, loop)
        #expect(error?.code == .connectionRefused)
        #expect(error?.description.contains("407") == true)
        #expect(error?.description.contains("hunter") == false)
    }

    @Test(arguments: ["stream", "transfer"])
    func aProxyThatIsDownIsConnectionRefusedAndNamesNoCredentials(_ way: String) async throws {
        let port = try LoopbackServer.refusedPort()
        let loop = try EventLoop.patient(proxy: "http://user:hunter2@127.0.0.1:\(port)")
        let error = await self.failure(way, loop)
        #expect(error?.code == .connectionRefused)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test(arguments: ["stream", "transfer"])
    func aProxyWithoutAnAddressIsNameNotResolvedAndNamesNoCredentials(_ way: String) async throws {
        let loop = try EventLoop.patient(proxy: "socks5h://user:hunter2@proxy.invalid:1080")
        let error = await self.failure(way, loop)
        #expect(error?.code == .nameNotResolved)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func aPlainTransferNamesTheWholeURLToTheProxy() async throws {
        let proxy = try LoopbackServer.http { request in response(request.firstLine) }
        defer { proxy.stop() }
        let loop = try EventLoop.patient(proxy: "127.0.0.1:\(proxy.port)")
        let answer = try await loop.perform(HTTPRequest.patient(method: "GET", url: "http://api.invalid/api/apps"))
        #expect(answer.body == Array("GET http://api.invalid/api/apps HTTP/1.1".utf8))
    }

    @Test func aUnixSocketNeedsNoProxy() async throws {
        let path = NSTemporaryDirectory() + "loop-\(UUID().uuidString).sock"
        let server = try LoopbackServer(unixPath: path) { connection in
            connection.write("direct")
            connection.waitForEnd()
        }
        defer {
            server.stop()
            unlink(path)
        }
        let port = try LoopbackServer.refusedPort()
        let loop = try EventLoop.patient(proxy: "http://127.0.0.1:\(port)")
        var probe = try await StreamProbe(loop, .unix(path: path))
        await probe.connected()
        #expect(await probe.text(6) == "direct")
    }

    @Test(arguments: [
        ("http://user:word@[fe80::1%25eth0]:8080", "http://[fe80::1%25eth0]:8080"),
        ("socks5h://[fe80::1%eth0]", "socks5h://[fe80::1%25eth0]"), ("[::1]:3128", "http://[::1]:3128"),
    ])
    func theZoneOfAnAddressStays(url: String, address: String) throws {
        #expect(try ProxyAddress(url).address == address)
    }

    private func failure(_ way: String, _ loop: EventLoop) async -> TransportError? {
        do {
            if way == "stream" {
                var probe = try await StreamProbe(loop, .tcp(host: "broker.invalid", port: 1883))
                return await probe.closed()
            }
            let answer = try await loop.perform(HTTPRequest.patient(method: "GET", url: "https://api.invalid/"))
            Issue.record("status \(answer.status) instead of an error")
            return nil
        } catch {
            return error as? TransportError
        }
    }
}
