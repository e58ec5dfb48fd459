import Foundation
import Glibc
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCore

@Suite(.ownThreads) struct ControlServerTests {
    /// The server carries out a change if the message's ID is even.
    private func serve(_ body: (ControlServer, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/" + String(repeating: "d", count: 120)
            try PrivateFile.makeDirectory(path)
            let server = try ControlServer(directory: path) { request, reply in
                switch request {
                case .watch: break
                case .decide(_, let id): reply(.decided(id: id, id % 2 == 0 ? .carriedOut : .notFound))
                case .adopt(let former, _): reply(.adopted(formerID: former, former == "known" ? 7 : nil))
                }
            }
            defer { server.stop() }
            try await body(server, path)
        }
    }

    @Test func answersWhatIsAsked() async throws {
        try await self.serve { server, path in
            let client = try #require(try ControlClient(stateDirectory: path))
            #expect(try client.retry(2) == .carriedOut)
            #expect(try client.drop(3) == .notFound)
            #expect(try client.adopt("known", by: "this") == 7)
            #expect(try client.adopt("unknown", by: "this") == nil)
            var status = stat()
            #expect(stat(ControlSocket.path(in: path), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            server.stop()
            #expect(throws: InboxAccessError.ended) { try client.retry(2) }
            #expect(try ControlClient(stateDirectory: path) == nil)
        }
    }

    @Test func tellsWatchersWhatHappensAndHowTheConnectionStands() async throws {
        try await self.serve { server, path in
            let hub = EventHub()
            server.attach(hub)
            hub.emit(.disconnected(reason: "before", retryIn: .seconds(1)))
            #expect(hub.listener == nil)
            let client = try #require(try ControlClient(stateDirectory: path))
            let notices = try client.watch()
            var iterator = notices.makeAsyncIterator()
            guard case .event(.disconnected("before", _))? = await iterator.next(isolation: nil) else {
                Issue.record("the state of the connection did not come first")
                return
            }
            for number in 1...1000 {
                hub.emit(.message(MessageEvent(messageID: Int64(number), at: .now(), kind: .received)))
            }
            for number in 1...1000 {
                guard case .event(.message(let event))? = await iterator.next(isolation: nil) else {
                    Issue.record("event \(number) did not come")
                    return
                }
                #expect(event.messageID == Int64(number))
            }
            server.stop()
            #expect(await iterator.next(isolation: nil) == nil)
        }
    }

    @Test func holdsNobodyUpForAWatcherThatDoesNotRead() async throws {
        try await self.serve { server, path in
            let hub = EventHub()
            server.attach(hub)
            hub.emit(.notice(.sessionLost, reason: "r"))
            hub.emit(.stopping)
            let client = try #require(try ControlClient(stateDirectory: path))
            var iterator = try client.watch().makeAsyncIterator()
            // The first event shows that the server has registered the watcher.
            _ = await iterator.next(isolation: nil)
            let count = 3000
            let long = PushEvent.trouble(.storing, reason: String(repeating: "x", count: 1000))
            for _ in 1...count { hub.emit(long) }
            // No further event arrives, but the client gets all events or their number.
            var (seen, missed) = (0, 0)
            while seen + missed < count, let notice = await iterator.next(isolation: nil) {
                switch notice {
                case .event, .unknown: seen += 1
                case .missed(let number): missed += number
                }
            }
            #expect(seen + missed == count)
            #expect(missed > 0)
            #expect(seen > 0)
        }
    }

    /// The agents of a runtime share a store, so the store's trouble must be reported once.
    @Test func troubleOfSeveralAgentsIsToldOnceAndEndsWithTheLast() async throws {
        try await self.serve { server, path in
            let hubs = [EventHub(), EventHub()]
            for hub in hubs {
                server.attach(hub)
                hub.emit(.stopping)
            }
            let client = try #require(try ControlClient(stateDirectory: path))
            var iterator = try client.watch().makeAsyncIterator()
            // One event of each hub shows that the server has registered the watcher.
            for _ in hubs { _ = await iterator.next(isolation: nil) }
            for hub in hubs { hub.emit(.trouble(.storing, reason: "full")) }
            hubs[1].emit(.trouble(.storing, reason: "away"))
            for hub in hubs { hub.emit(.recovered(.storing)) }
            hubs[0].emit(.stopping)
            var told: [String] = []
            while case .event(let event)? = await iterator.next(isolation: nil) {
                guard let note = StateNote(event) else { break }
                told.append("\(note.state) \(note.reason ?? "")")
            }
            #expect(told == ["not storing full", "not storing away", "storing again "])
        }
    }

    @Test func anOutboxGrowsWhereItIs() {
        var state = ControlServer.State()
        state.clients[1] = ControlServer.Client(isWatching: true)
        state.clients[1]?.outbox.reserveCapacity(4096)
        func place() -> UnsafeRawPointer? { state.clients[1]?.outbox.withUnsafeBytes { $0.baseAddress } }
        let before = place()
        // Several rounds, because a second copy of the buffer could return to the first address.
        for number in 1...8 {
            state.tell(Array("line\n".utf8), bare: { nil })
            #expect(place() == before)
            #expect(state.clients[1]?.outbox.count == 5 * number)
        }
    }

    /// Events with full payloads fill only a part of the outbox, so the outcomes of messages still fit.
    @Test func payloadsLeaveRoomForOutcomes() {
        var client = ControlServer.Client(isWatching: true)
        let (full, bare) = ([UInt8](repeating: 65, count: ControlLines.maximumBytes), Array("bare\n".utf8))
        for _ in 1...8 { client.tell(full, bare: { bare }) }
        #expect(client.outbox.count == 8 * full.count)
        for _ in 1...1000 { client.tell(full, bare: { bare }) }
        #expect(client.outbox.count == 8 * full.count + 1000 * bare.count)
        #expect(client.missed == 0)
    }

    @Test func countsALineThatIsTooLongAsMissed() async throws {
        try await self.serve { server, path in
            let hub = EventHub()
            server.attach(hub)
            hub.emit(.stopping)
            let client = try #require(try ControlClient(stateDirectory: path))
            var iterator = try client.watch().makeAsyncIterator()
            _ = await iterator.next(isolation: nil)
            hub.emit(.trouble(.storing, reason: String(repeating: "x", count: ControlLines.maximumBytes)))
            hub.emit(.recovered(.storing))
            guard case .missed(1)? = await iterator.next(isolation: nil) else {
                Issue.record("the long line was not told of as missed")
                return
            }
            guard case .event(.recovered(.storing))? = await iterator.next(isolation: nil) else {
                Issue.record("what came after the long line did not come")
                return
            }
        }
    }

    @Test func takesNoMoreRequestsOfWhoReadsNoAnswers() async throws {
        try await self.serve { _, path in
            let socket = try ControlSocket.connect(in: path)
            // Some thousand lines come before the first answer, which takes long on a busy machine.
            let other = try #require(try ControlClient(stateDirectory: path, patience: .seconds(600)))
            let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 16_384)
            var taken = 0
            // Each answer to the other client takes a turn of the server, in which the server could read more of this
            // client's lines.
            for _ in 1...200 {
                var count = 0
                repeat {
                    taken += count
                    count = socket.send(lines[...], flags: Int(MSG_DONTWAIT))
                } while count > 0
                #expect(try other.retry(2) == .carriedOut)
            }
            #expect(taken < 2 << 20)
        }
    }

    /// Agents end while a client begins to watch them. A listener that stayed would count as a reader of all messages'
    /// events.
    @Test func noListenerOutlivesItsAgent() async throws {
        try await self.serve { server, _ in
            let hubs = (1...100).map { _ in EventHub() }
            for hub in hubs { hub.emit(.stopping) }
            let rounds = 100
            let begun = Atomic(0)
            let done = Atomic(0)
            let watching = try OSThread(name: "watching") {
                for number in 1...rounds {
                    while begun.load(ordering: .sequentiallyConsistent) < number { sched_yield() }
                    server.watch(number)
                    done.store(number, ordering: .sequentiallyConsistent)
                }
            }
            for number in 1...rounds {
                for hub in hubs { server.attach(hub) }
                server.state.withLock { $0.clients[number] = ControlServer.Client() }
                begun.store(number, ordering: .sequentiallyConsistent)
                while server.state.withLock({ $0.clients[number]?.isWatching }) == false { sched_yield() }
                for hub in hubs { server.detach(hub) }
                while done.load(ordering: .sequentiallyConsistent) < number { sched_yield() }
                server.forget(number)
            }
            watching.join()
            #expect(hubs.count { $0.hasListeners } == 0)
        }
    }

    @Test func endsWhoSpeaksNoSense() async throws {
        try await self.serve { server, path in
            for bytes in [Array("nonsense\n".utf8), [UInt8](repeating: 65, count: 100_000)] {
                let socket = try ControlSocket.connect(in: path)
                _ = socket.send(bytes[...])
                var chunk = [UInt8](repeating: 0, count: 1024)
                let count = socket.receive(into: &chunk)
                let text = String(decoding: chunk[..<max(0, count)], as: UTF8.self)
                #expect(text == (bytes.count > 100 ? "" : "{\"error\":\"not understood: another version may ask\"}\n"))
            }
            #expect(try #require(try ControlClient(stateDirectory: path)).retry(4) == .carriedOut)
        }
    }

    @Test func letsTheSeventeenthWait() async throws {
        try await self.serve { _, path in
            var clients: [ControlClient] = []
            for _ in 1...16 {
                let client = try #require(try ControlClient(stateDirectory: path))
                #expect(try client.retry(2) == .carriedOut)
                clients.append(client)
            }
            let waiting = try #require(try ControlClient(stateDirectory: path))
            clients.removeFirst()
            #expect(try waiting.retry(2) == .carriedOut)
        }
    }

    /// A client in the queue would wait for its answer forever.
    @Test func afterItsEndNobodyIsInTheListenersQueue() throws {
        try withTemporaryDirectory { directory in
            let server = try ControlServer(directory: directory) { _, _ in }
            let path = ControlSocket.path(in: directory)
            #expect(link(path, path + ".other") == 0)
            server.stop()
            #expect(rename(path + ".other", path) == 0)
            #expect(try ControlClient(stateDirectory: directory) == nil)
            withExtendedLifetime(server) {}
        }
    }

    @Test func takesThePlaceOfASocketThatWasLeft() throws {
        try withTemporaryDirectory { directory in
            _ = try ControlSocket.listen(in: directory)
            #expect(try ControlClient(stateDirectory: directory) == nil)
            let server = try ControlServer(directory: directory) { _, _ in }
            defer { server.stop() }
            #expect(try ControlClient(stateDirectory: directory) != nil)
        }
    }
}
