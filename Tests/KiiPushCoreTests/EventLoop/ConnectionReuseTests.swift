import Foundation
import Glibc
import KiiPushCore
import TestSupport
import Testing

@Suite struct ConnectionReuseTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop.patient() }

    @Test(arguments: [("POST", "{}"), ("POST", ""), ("POST", nil), ("PUT", ""), ("PATCH", "{}"), ("DELETE", nil)])
    func aRequestWhoseAnswerIsLostIsSentOnce(method: String, body: String?) async throws {
        let arrived = Locked(0)
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                guard request.firstLine.hasPrefix("GET") else {
                    arrived.withLock { $0 += 1 }
                    return
                }
                connection.write(response("x"))
            }
        }
        defer { server.stop() }
        let request = HTTPRequest.patient(method: method, url: server.url, body: body.map { Array($0.utf8) })
        var sent = 0
        var isReused = false
        // libcurl does not reuse a connection after two minutes of idleness, which can pass on a busy machine.
        while !isReused {
            _ = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url))
            let connections = server.connectionCount
            let error = await #expect(throws: TransportError.self) { try await self.loop.perform(request) }
            #expect(error?.code == .connectionLost)
            sent += 1
            #expect(arrived.withLock { $0 } == sent)
            isReused = server.connectionCount == connections
        }
    }

    /// A server may send 408 before it closes an idle connection (RFC 9110, section 15.5.9). libcurl does not read idle
    /// connections, so it takes the 408 for the answer to its next request.
    @Test(arguments: ["GET", "POST"], [408, 421])
    func whatEndsAKeptConnectionIsNoAnswerToTheNextRequest(method: String, status: Int) async throws {
        let (closures, closure) = AsyncStream.makeStream(of: Void.self)
        let isRead = DispatchSemaphore(value: 0)
        let asked = Locked<[String]>([])
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                asked.withLock { $0.append(request.firstLine) }
                connection.write(response(request.firstLine))
                guard request.firstLine.contains("/first") else { continue }
                isRead.wait()
                connection.write(response("<html>", status: "\(status) -", fields: ["Connection: close"]))
                closure.yield()
                return connection.waitForEnd()
            }
        }
        defer { server.stop() }
        let first = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url + "/first"))
        isRead.signal()
        #expect(first.status == 200)
        var iterator = closures.makeAsyncIterator()
        await iterator.next()
        let body = method == "GET" ? nil : Array("{}".utf8)
        let second = try await self.loop.perform(
            HTTPRequest.patient(method: method, url: server.url + "/second", body: body))
        #expect(second.status == 200)
        #expect(String(decoding: second.body, as: UTF8.self) == "\(method) /second HTTP/1.1")
        #expect(asked.withLock { $0 } == ["GET /first HTTP/1.1", "\(method) /second HTTP/1.1"])
        // A third request works too: it uses the same handle again.
        let third = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url + "/third"))
        #expect(third.status == 200)
    }

    /// A gateway sends 408 if the server behind it did not answer. The server may have carried out the call.
    @Test func a408ThatComesLateAnswersTheRequest() async throws {
        let asked = Locked<[String]>([])
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                asked.withLock { $0.append(request.firstLine) }
                guard request.firstLine.contains("/second") else {
                    connection.write(response("first"))
                    continue
                }
                // The delay simulates the gateway's timeout, so it must be real time.
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 1.2)
                connection.write(response("<html>", status: "408 -", fields: ["Connection: close"]))
                return connection.waitForEnd()
            }
        }
        defer { server.stop() }
        _ = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url + "/first"))
        let second = HTTPRequest.patient(method: "POST", url: server.url + "/second", body: Array("{}".utf8))
        #expect(try await self.loop.perform(second).status == 408)
        #expect(asked.withLock { $0 } == ["GET /first HTTP/1.1", "POST /second HTTP/1.1"])
    }

    /// On a new connection, 408 cannot be a notice about idleness.
    @Test func anAnswer408OnANewConnectionIsTheAnswer() async throws {
        let server = try LoopbackServer.http { _ in response("<html>", status: "408 -", fields: ["Connection: close"]) }
        defer { server.stop() }
        let answer = try await self.loop.perform(HTTPRequest.patient(method: "POST", url: server.url, body: []))
        #expect(answer.status == 408)
        #expect(server.connectionCount == 1)
    }

    @Test func aRequestThatWaitsForAConnectionRunsOutOfTime() async throws {
        var configuration = EventLoop.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let loop = try EventLoop(configuration: configuration)
        let (requests, request) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            if connection.readRequest() != nil { request.yield() }
            connection.waitForEnd()
        }
        defer { server.stop() }
        let url = server.url
        let first = Task { try await loop.perform(HTTPRequest(method: "GET", url: url, timeout: .seconds(600))) }
        var iterator = requests.makeAsyncIterator()
        await iterator.next()
        let waiting = HTTPRequest(method: "GET", url: url, timeout: .milliseconds(50))
        let error = await #expect(throws: TransportError.self) { try await loop.perform(waiting) }
        #expect(error?.code == .timedOut && error?.isUnsent == true)
        // The request ran out of time while it waited, without a connection of its own.
        #expect(server.connectionCount == 1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    @Test func childrenOfTheProcessInheritNoConnection() async throws {
        let server = try LoopbackServer.http { _ in response("x") }
        defer { server.stop() }
        _ = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url))
        var stream = try await StreamProbe(self.loop, .tcp(host: "127.0.0.1", port: server.port))
        await stream.connected()
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let flags = descriptors.filter { peerPort(of: $0) == server.port }.map { fcntl($0, F_GETFD) & FD_CLOEXEC }
        #expect(flags == [FD_CLOEXEC, FD_CLOEXEC])
    }
}

/// The IPv4 port of the peer of `descriptor`; `nil` without an IPv4 peer.
private func peerPort(of descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutableBytes(of: &address) { bytes in
        getpeername(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
    }
    return code == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
}
