import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct TransferTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop.patient() }

    private func error(_ request: HTTPRequest, loop: EventLoop? = nil) async -> TransportError? {
        do {
            let response = try await (loop ?? self.loop).perform(request)
            Issue.record("status \(response.status) instead of an error")
            return nil
        } catch {
            return error as? TransportError
        }
    }

    @Test func returnsStatusFieldsAndBody() async throws {
        let server = try LoopbackServer.http { _ in
            response("gone", status: "410 Gone", fields: ["X-One:  1 ", "X-Empty:", "x-one: 2"])
        }
        defer { server.stop() }
        let answer = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url + "/a?b=c"))
        #expect(answer.status == 410)
        #expect(answer.body == Array("gone".utf8))
        let fields = answer.fields.map { "\($0.name)=\($0.value)" }
        #expect(fields == ["Content-Length=4", "X-One=1", "X-Empty=", "x-one=2"])
    }

    @Test(arguments: [
        ("GET", nil, "GET /p HTTP/1.1", false),
        ("DELETE", nil, "DELETE /p HTTP/1.1", false),
        ("POST", nil, "POST /p HTTP/1.1", false),
        ("POST", "", "POST /p HTTP/1.1", true),
        ("PUT", "", "PUT /p HTTP/1.1", true),
        ("POST", "{}", "POST /p HTTP/1.1", true),
        ("PUT", "{\"a\":1}", "PUT /p HTTP/1.1", true),
        ("PATCH", "x", "PATCH /p HTTP/1.1", true),
        ("DELETE", "x", "DELETE /p HTTP/1.1", true),
        ("HEAD", nil, "HEAD /p HTTP/1.1", false),
    ])
    func sendsMethodAndBodyAsGiven(method: String, body: String?, line: String, hasLength: Bool) async throws {
        let seen = Locked<LoopbackRequest?>(nil)
        let server = try LoopbackServer.http { request in
            seen.withLock { $0 = request }
            return method == "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n" : response()
        }
        defer { server.stop() }
        let request = HTTPRequest.patient(method: method, url: server.url + "/p", body: body.map { Array($0.utf8) })
        let answer = try await self.loop.perform(request)
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        let got = try #require(seen.withLock { $0 })
        #expect(got.firstLine == line)
        #expect(got.body == Array((body ?? "").utf8))
        #expect(got.has("Content-Length:") == hasLength)
        #expect(!got.has("Expect:"))
        #expect(!got.has("Content-Type:"))
    }

    @Test func sendsFieldsInOrderAndEmptyOnes() async throws {
        let seen = Locked("")
        let server = try LoopbackServer.http { request in
            seen.withLock { $0 = request.head }
            return response()
        }
        defer { server.stop() }
        let fields = [
            HTTPField("X-A", "1"), HTTPField("X-Empty", ""), HTTPField("Content-Type", "application/vnd.kii"),
        ]
        let request = HTTPRequest.patient(method: "POST", url: server.url, fields: fields, body: [1, 2])
        _ = try await self.loop.perform(request)
        let head = seen.withLock { $0 }
        #expect(head.contains("\r\nX-A: 1\r\nX-Empty:\r\nContent-Type: application/vnd.kii\r\n"))
    }

    @Test func sendsALargeBodyWithoutWaitingForContinue() async throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try LoopbackServer.http { request in response(request.body == body ? "same" : "differs") }
        defer { server.stop() }
        let answer = try await self.loop.perform(HTTPRequest.patient(method: "PUT", url: server.url, body: body))
        #expect(answer.body == Array("same".utf8))
    }

    @Test func keepsOnlyTheFinalResponsesFields() async throws {
        let server = try LoopbackServer.http { _ in
            "HTTP/1.1 103 Early Hints\r\nLink: early\r\n\r\n" + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                + "Folded: a\r\n b\r\n\r\n2\r\nok\r\n0\r\nLink: trailer\r\n\r\n"
        }
        defer { server.stop() }
        let answer = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url))
        #expect(answer.status == 200)
        #expect(answer.body == Array("ok".utf8))
        #expect(answer.field("link") == nil)
        #expect(answer.field("folded") == "a b")
    }

    @Test func aRequestInheritsNothingFromTheOneBefore() async throws {
        let heads = Locked<[String]>([])
        let server = try LoopbackServer.http { request in
            heads.withLock { $0.append("\(request.head)\(request.body)") }
            return request.firstLine.hasPrefix("HEAD") ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" : response("ok")
        }
        defer { server.stop() }
        let get = HTTPRequest.patient(method: "GET", url: server.url + "/plain")
        let others = [
            HTTPRequest.patient(
                method: "POST", url: server.url, fields: [HTTPField("X-Secret", "1")], body: [1, 2, 3]),
            HTTPRequest.patient(method: "HEAD", url: server.url),
            HTTPRequest.patient(method: "DELETE", url: server.url, body: [7]),
            HTTPRequest.patient(method: "GET", url: server.url, fields: [HTTPField("X-Secret", "1")], body: [8]),
            HTTPRequest.patient(method: "GET", url: server.url, fields: [HTTPField("X-Secret", "1")]),
        ]
        var pauses = Pauses()
        _ = try await self.loop.perform(get)
        for other in others {
            pauses.look()
            _ = try await self.loop.perform(other)
            pauses.look()
            let answer = try await self.loop.perform(get)
            #expect(answer.body == Array("ok".utf8))
        }
        let gets = heads.withLock { $0 }.filter { $0.contains("/plain") }
        #expect(gets.count == 6)
        #expect(Set(gets).count == 1)
        #expect(server.connectionCount <= 1 + pauses.count)
    }

    /// Counts the pauses that may have been long enough for libcurl to drop its idle connection, which it does after
    /// 118 s.
    private struct Pauses {
        private(set) var count = 0
        private var last = MonotonicInstant.now()

        mutating func look() {
            let now = MonotonicInstant.now()
            if now - self.last > .seconds(60) { self.count += 1 }
            self.last = now
        }
    }

    @Test func returnsRedirectsInsteadOfFollowingThem() async throws {
        let server = try LoopbackServer.http { _ in response(status: "302 Found", fields: ["Location: /elsewhere"]) }
        defer { server.stop() }
        let answer = try await self.loop.perform(HTTPRequest.patient(method: "POST", url: server.url, body: []))
        #expect(answer.status == 302)
        #expect(answer.field("Location") == "/elsewhere")
    }

    @Test func reusesOneConnectionForRequestsInARow() async throws {
        let server = try LoopbackServer.http { _ in response("x") }
        defer { server.stop() }
        var pauses = Pauses()
        for _ in 0..<50 {
            _ = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url))
            pauses.look()
        }
        #expect(server.connectionCount <= 1 + pauses.count)
    }

    @Test func aConnectionThatTheServerHasClosedMeanwhileIsReplaced() async throws {
        let server = try LoopbackServer { connection in
            // The server answers one request per connection. The answer and the end arrive together, because the client
            // might otherwise use the connection again.
            connection.cork()
            if connection.readRequest() != nil { connection.write(response("x")) }
        }
        defer { server.stop() }
        for _ in 0..<50 {
            let answer = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: server.url))
            #expect(answer.body == Array("x".utf8))
        }
        #expect(server.connectionCount == 50)
    }

    @Test func performsThousandsAtOnceOverBoundedConnections() async throws {
        let server = try LoopbackServer.http { request in response(request.firstLine) }
        defer { server.stop() }
        let url = server.url
        let loop = self.loop
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<3000 {
                group.addTask {
                    let request = HTTPRequest(method: "GET", url: "\(url)/\(index)", timeout: .seconds(600))
                    let answer = try await loop.perform(request)
                    return answer.body == Array("GET /\(index) HTTP/1.1".utf8)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == 3000)
        #expect(server.connectionCount <= 64)
    }

    /// libcurl 7.88 forgets a waiting transfer if a call for all handles runs before the transfer gets a connection.
    @Test func noTransferWaitsForeverForAConnectionAfterATimeout() async throws {
        let server = try LoopbackServer.http { _ in response() }
        let silent = try LoopbackServer { $0.waitForEnd() }
        defer {
            server.stop()
            silent.stop()
        }
        var configuration = EventLoop.Configuration()
        configuration.connectTimeout = .seconds(600)
        configuration.maximumConnectionsPerHost = 8
        let loop = try EventLoop(configuration: configuration)
        let request = HTTPRequest(method: "GET", url: server.url, timeout: .seconds(20))
        let unanswered = HTTPRequest(method: "GET", url: silent.url, timeout: .milliseconds(2))
        // The failure depends on the order of the transfers. Without the workaround, one of the first 100 rounds fails.
        for _ in 0..<150 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await loop.perform(unanswered) }
                for _ in 0..<60 {
                    group.addTask {
                        for _ in 0..<5 { _ = try await loop.perform(request) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func refusedPortIsConnectionRefused() async throws {
        let port = try LoopbackServer.refusedPort()
        let error = await self.error(HTTPRequest.patient(method: "GET", url: "http://127.0.0.1:\(port)/"))
        #expect(error?.code == .connectionRefused)
        #expect(error?.curlCode == 7)
    }

    @Test func unknownHostIsNameNotResolved() async throws {
        // RFC 6761, section 6.4: names under "invalid" never resolve. The long timeout is for a resolver whose servers
        // do not answer.
        let loop = try EventLoop(configuration: .init(connectTimeout: .seconds(600)))
        let error = await self.error(HTTPRequest.patient(method: "GET", url: "http://nowhere.invalid/"), loop: loop)
        #expect(error?.code == .nameNotResolved)
    }

    @Test func serverThatNeverAnswersTimesOut() async throws {
        let server = try LoopbackServer { $0.waitForEnd() }
        defer { server.stop() }
        let error = await self.error(HTTPRequest(method: "GET", url: server.url, timeout: .milliseconds(50)))
        #expect(error?.code == .timedOut)
    }

    /// The server accepts the connection and sends nothing, so a TLS handshake never completes.
    @Test(arguments: [true, false])
    func itIsKnownWhetherTheRequestWasSent(usesTLS: Bool) async throws {
        let arrived = Locked<Set<String>>([])
        let server = try LoopbackServer { connection in
            if !usesTLS, let line = connection.readRequest()?.firstLine { _ = arrived.withLock { $0.insert(line) } }
            connection.waitForEnd()
        }
        defer { server.stop() }
        let url = usesTLS ? "https" + server.url.dropFirst("http".count) : server.url
        var (number, isJudged) = (0, false)
        while !isJudged {
            number += 1
            let request = HTTPRequest(method: "POST", url: "\(url)/\(number)", body: [1], timeout: .milliseconds(500))
            let error = await self.error(request)
            #expect(error?.code == .timedOut)
            // The process may have been suspended for the whole timeout before it sent the request. The loop then
            // repeats the test.
            isJudged = usesTLS || arrived.withLock { $0.contains("POST /\(number) HTTP/1.1") }
            if isJudged { #expect(error?.isUnsent == usesTLS) }
        }
    }

    @Test(arguments: [
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfive!\r\n",
    ])
    func answerCutShortIsConnectionLost(_ answer: String) async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.write(answer)
        }
        defer { server.stop() }
        let error = await self.error(HTTPRequest.patient(method: "GET", url: server.url))
        #expect(error?.code == .connectionLost)
    }

    @Test func bodyOverTheLimitIsTooLargeAndAtTheLimitIsNot() async throws {
        let limit = 4 << 20
        let loop = try EventLoop()
        let server = try LoopbackServer.http { request in
            response(String(repeating: "x", count: request.firstLine.contains("over") ? limit + 1 : limit))
        }
        defer { server.stop() }
        let error = await self.error(HTTPRequest.patient(method: "GET", url: server.url + "/over"), loop: loop)
        #expect(error?.code == .tooLarge)
        let answer = try await loop.perform(HTTPRequest.patient(method: "GET", url: server.url + "/at"))
        #expect(answer.body.count == limit)
    }

    @Test func headerOverTheLimitIsTooLarge() async throws {
        let line = "X-Long: " + String(repeating: "x", count: 60_000)
        let server = try LoopbackServer.http { _ in response(fields: Array(repeating: line, count: 5)) }
        defer { server.stop() }
        let error = await self.error(HTTPRequest.patient(method: "GET", url: server.url))
        #expect(error?.code == .tooLarge)
    }

    /// More than 256 KiB in interim responses and trailers, in lines of 4,000 bytes.
    @Test(arguments: [(interim: 0, trailers: 70), (interim: 70, trailers: 0), (interim: 35, trailers: 35)])
    func interimResponsesAndTrailersCountAsHeader(interim: Int, trailers: Int) async throws {
        let line = "X-Long: " + String(repeating: "x", count: 3990) + "\r\n"
        let server = try LoopbackServer.http { _ in
            String(repeating: "HTTP/1.1 103 -\r\n\(line)\r\n", count: interim)
                + "HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                + String(repeating: line, count: trailers) + "\r\n"
        }
        defer { server.stop() }
        let error = await self.error(HTTPRequest.patient(method: "GET", url: server.url))
        #expect(error?.code == .tooLarge)
    }

    @Test(arguments: [
        HTTPRequest.patient(method: "GET", url: "ftp://127.0.0.1/"),
        HTTPRequest.patient(method: "GET", url: "file:///etc/passwd"),
        HTTPRequest.patient(method: "GET", url: "http://127.0.0.1:99999/"),
        HTTPRequest.patient(method: "GET", url: ""),
        HTTPRequest.patient(method: "GET", url: "http://user:hunter2@127.0.0.1/"),
        HTTPRequest.patient(method: "GET", url: "user:hunter2@127.0.0.1/"),
        HTTPRequest.patient(method: "GET", url: "http://127.0.0.1/a b hunter2"),
        HTTPRequest.patient(method: "GET /hunter2 HTTP/1.1\r\nX:", url: "http://127.0.0.1/"),
        HTTPRequest.patient(method: "HEAD", url: "http://127.0.0.1/", body: []),
        HTTPRequest.patient(method: "GET", url: "http://127.0.0.1/", fields: [HTTPField("X", "a\r\nY: hunter2")]),
        HTTPRequest.patient(method: "GET", url: "http://127.0.0.1/", fields: [HTTPField("X: hunter2\r\nY", "a")]),
    ])
    func refusesWhatItCannotSendFaithfully(_ request: HTTPRequest) async {
        let error = await self.error(request)
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("hunter2") == false)
    }
}
