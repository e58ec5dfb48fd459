import KiiPushCore
import Testing

enum StreamEvent: Sendable {
    case connected
    case received([UInt8])
    case closed(TransportError)
}

/// Sends a stream's events to the test in order. `onEvent` reacts to each event on the loop's thread.
final class StreamReporter: ByteStreamDelegate {
    private let events: AsyncStream<StreamEvent>.Continuation
    private let onEvent: (any ByteStream, StreamEvent) -> Void

    init(_ events: AsyncStream<StreamEvent>.Continuation, onEvent: @escaping (any ByteStream, StreamEvent) -> Void) {
        self.events = events
        self.onEvent = onEvent
    }

    func streamDidConnect(_ stream: any ByteStream) { self.report(stream, .connected) }

    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer) {
        self.report(stream, .received(Array(bytes)))
    }

    func streamDidClose(_ stream: any ByteStream, error: TransportError) {
        self.report(stream, .closed(error))
        self.events.finish()
    }

    private func report(_ stream: any ByteStream, _ event: StreamEvent) {
        self.onEvent(stream, event)
        self.events.yield(event)
    }
}

extension ByteStream {
    var isClosed: Bool { (self as? SocketStream)?.isClosed ?? false }
}

struct StreamProbe {
    let loop: EventLoop
    let stream: LoopIsolated<any ByteStream>
    private var events: AsyncStream<StreamEvent>.Iterator
    private var unread: [UInt8] = []

    init(
        _ loop: EventLoop,
        _ target: StreamTarget,
        sendTimeout: Duration? = nil,
        onEvent: @escaping @Sendable (any ByteStream, StreamEvent) -> Void = { _, _ in }
    ) async throws {
        let (events, continuation) = AsyncStream.makeStream(of: StreamEvent.self, bufferingPolicy: .unbounded)
        self.loop = loop
        self.events = events.makeAsyncIterator()
        self.stream = try await loop.run {
            let reporter = StreamReporter(continuation, onEvent: onEvent)
            return LoopIsolated(
                confining: loop.openStream(target, sendTimeout: sendTimeout, delegate: reporter), to: loop)
        }
    }

    func use(_ body: @escaping @Sendable (any ByteStream) -> Void) {
        self.loop.submit { [stream = self.stream] in body(stream.value) }
    }

    func send(_ text: String) { self.use { $0.send(Array(text.utf8)) } }

    mutating func nextEvent() async -> StreamEvent? { await self.events.next(isolation: #isolation) }

    mutating func connected(sourceLocation: SourceLocation = #_sourceLocation) async {
        let event = await self.nextEvent()
        guard case .connected = event else {
            Issue.record("\(String(describing: event)) instead of connected", sourceLocation: sourceLocation)
            return
        }
    }

    mutating func bytes(_ count: Int) async -> [UInt8] {
        while self.unread.count < count, case .received(let more) = await self.nextEvent() {
            self.unread += more
        }
        let taken = Array(self.unread.prefix(count))
        self.unread.removeFirst(taken.count)
        return taken
    }

    mutating func text(_ count: Int) async -> String {
        String(decoding: await self.bytes(count), as: UTF8.self)
    }

    mutating func closed() async -> TransportError? {
        while let event = await self.nextEvent() {
            if case .closed(let error) = event { return error }
        }
        return nil
    }
}
