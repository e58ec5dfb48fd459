import Glibc
import TestSupport
import TestTraits
import Testing

@testable import KiiPushCore

@Suite(.ownThreads) struct ControlClientTests {
    private struct Server {
        let socket: FileDescriptor

        func say(_ lines: String...) {
            let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
            #expect(self.socket.send(bytes[...]) == bytes.count)
        }
    }

    private func connected(
        patience: Duration = .seconds(600), _ body: (ControlClient, Server) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let listener = try ControlSocket.listen(in: directory)
            let client = try #require(try ControlClient(stateDirectory: directory, patience: patience))
            // The kernel has completed the connection by now.
            let socket = try #require(listener.accept(waits: true))
            try await body(client, Server(socket: socket))
        }
    }

    @Test func readsOnUntilThereIsANotice() async throws {
        try await self.connected { client, server in
            var iterator = try client.watch().makeAsyncIterator()
            server.say(#"{"id":1,"changed":true}"#, #"{"later":"version"}"#, #"{"missed":3}"#)
            guard case .missed(3)? = await iterator.next(isolation: nil) else {
                Issue.record("the notice did not come")
                return
            }
        }
    }

    @Test(arguments: [
        (#"{"name":"trouble","kind":"sleeping","reason":"r"}"#, "trouble sleeping"), (#"{"name":"moved"}"#, "moved"),
        (#"{"message":7,"at":1,"kind":99}"#, "message"),
    ])
    func anEventOfALaterVersionIsANotice(event: String, words: String) async throws {
        try await self.connected { client, server in
            var iterator = try client.watch().makeAsyncIterator()
            server.say(#"{"event":\#(event)}"#, #"{"missed":3}"#)
            guard case .unknown(words)? = await iterator.next(isolation: nil) else {
                Issue.record("the event was left out")
                return
            }
        }
    }

    @Test func whoIsRefusedAWatchHearsTheEnd() async throws {
        try await self.connected { client, server in
            var iterator = try client.watch().makeAsyncIterator()
            server.say(#"{"error":"not understood"}"#)
            #expect(await iterator.next(isolation: nil) == nil)
        }
    }

    @Test func takesNoAnswerToAnotherRequestForItsOwn() async throws {
        try await self.connected { client, server in
            server.say(#"{"id":9,"error":"no"}"#, #"{"id":9,"changed":false}"#, #"{"id":2,"changed":true}"#)
            let decision = try client.retry(2)
            #expect(decision == .carriedOut)
            server.say(#"{"id":3,"error":"no"}"#)
            #expect(throws: InboxAccessError.refused(reason: "no")) { try client.drop(3) }
            server.say(#"{"error":"another version"}"#)
            #expect(throws: InboxAccessError.refused(reason: "another version")) { try client.drop(3) }
        }
    }

    @Test func isOfNoUseAfterItWaitedInVain() async throws {
        try await self.connected(patience: .milliseconds(1)) { client, server in
            #expect(throws: InboxAccessError.silent) { try client.retry(2) }
            server.say(#"{"id":2,"changed":true}"#)
            #expect(throws: InboxAccessError.silent) { try client.retry(2) }
            #expect(throws: InboxAccessError.silent) { try client.watch() }
        }
    }
}
