import Foundation
import KiiPushCore
import SeededNumbers
import TestSupport
import Testing

@Suite struct TransferCancellationTests {
    let loop: EventLoop

    init() throws { self.loop = try EventLoop.patient() }

    @Test func aTaskCancelledBeforeTheStartSendsNothing() async throws {
        let server = try LoopbackServer.http { _ in response() }
        defer { server.stop() }
        let loop = self.loop
        let url = server.url
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await loop.perform(HTTPRequest.patient(method: "GET", url: url))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.connectionCount == 0)
    }

    @Test func cancellingATransferInFlightClosesItsConnection() async throws {
        let (events, event) = AsyncStream.makeStream(of: String.self)
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            event.yield("request")
            connection.waitForEnd()
            event.yield("end")
        }
        defer { server.stop() }
        let loop = self.loop
        let url = server.url
        let task = Task { try await loop.perform(HTTPRequest.patient(method: "GET", url: url)) }
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == "request")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await iterator.next() == "end")
    }

    @Test func cancellingAfterTheEndChangesNothing() async throws {
        let server = try LoopbackServer.http { _ in response("whole") }
        defer { server.stop() }
        let loop = self.loop
        let url = server.url
        let task = Task { try await loop.perform(HTTPRequest.patient(method: "GET", url: url)) }
        let answer = try await task.value
        task.cancel()
        #expect(answer.body == Array("whole".utf8))
        let next = try await self.loop.perform(HTTPRequest.patient(method: "GET", url: url))
        #expect(next.status == 200)
    }

    @Test func aStormOfCancellationsEndsEveryTaskOnce() async throws {
        let server = try LoopbackServer.http { request in response(request.firstLine) }
        defer { server.stop() }
        let loop = self.loop
        let url = server.url
        var random = SeededGenerator(seed: 11)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for index in 0..<1000 {
            tasks.append(Task { try await loop.perform(HTTPRequest.patient(method: "GET", url: "\(url)/\(index)")) })
            if index > 20, random.next() % 2 == 0 { tasks[index - Int(random.next() % 20)].cancel() }
        }
        for (index, task) in tasks.enumerated() {
            switch await task.result {
            case .success(let answer): #expect(answer.body == Array("GET /\(index) HTTP/1.1".utf8))
            case .failure(let error): #expect(error is CancellationError)
            }
        }
    }

    @Test func shutdownEndsTransfersInFlight() async throws {
        let (requests, request) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { connection in
            if connection.readRequest() != nil { request.yield() }
            connection.waitForEnd()
        }
        defer { server.stop() }
        let loop = self.loop
        let url = server.url
        // More requests than connections, so that some wait inside libcurl.
        let tasks = (0..<200).map { _ in Task { try await loop.perform(HTTPRequest.patient(method: "GET", url: url)) } }
        var arrived = 0
        for await _ in requests {
            arrived += 1
            if arrived == 64 { break }
        }
        loop.shutdown()
        for task in tasks {
            guard case .failure(let error) = await task.result else {
                Issue.record("a response from a server that sent none")
                continue
            }
            #expect((error as? TransportError)?.code == .shutDown)
        }
    }
}
