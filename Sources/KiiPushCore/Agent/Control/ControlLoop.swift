import Glibc

final class ControlLoop: PollLoop {
    private struct Link {
        var socket: FileDescriptor
        var lines = ControlLines()
        var unsent: [UInt8] = []
    }

    /// The limit bounds the memory of the clients' outboxes.
    private static let linkLimit = 16

    private let server: ControlServer
    private var links: [Int: Link] = [:]
    private var lastNumber = 0
    private var isShort = false
    private var chunk = [UInt8](repeating: 0, count: 16_384)

    init(_ server: ControlServer) { self.server = server }

    func turn(_ news: [Void], readable: Set<Int32>) -> PollWait? {
        for (number, link) in self.links where readable.contains(link.socket.number) { self.read(number) }
        self.isShort = false
        if readable.contains(self.server.listener.number) { self.accept() }
        for number in Array(self.links.keys) { self.write(number) }
        var wait = PollWait(until: self.isShort ? .now() + .milliseconds(100) : nil)
        if !self.isShort, self.links.count < ControlLoop.linkLimit { wait.watch(self.server.listener.number) }
        for link in self.links.values {
            // If a client does not read its replies, the loop reads no more of its requests: the replies would fill the
            // memory.
            wait.watch(link.socket.number, reading: link.unsent.isEmpty, writing: !link.unsent.isEmpty)
        }
        return wait
    }

    func end(_ unread: [Void]) {
        // From now on, connect(2) must fail. Otherwise a new client would wait in vain in the listener's queue.
        self.server.listener.shutDown(.both)
        while self.server.listener.accept() != nil {}
        // The last requests get no answer; their clients see the end.
        for number in Array(self.links.keys) { self.end(number) }
    }

    private func accept() {
        guard let socket = self.server.listener.accept() else {
            // The loop pauses the listener. Without a free descriptor, poll(2) would return at once again and again.
            self.isShort = errno != EAGAIN && errno != ECONNABORTED && errno != EINTR
            return
        }
        self.lastNumber += 1
        self.links[self.lastNumber] = Link(socket: socket)
        self.server.state.withLock { $0.clients[self.lastNumber] = ControlServer.Client() }
    }

    private func read(_ number: Int) {
        guard let socket = self.links[number]?.socket else { return }
        let count = socket.receive(into: &self.chunk)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { self.end(number) }
            return
        }
        guard let lines = self.links[number]?.lines.take(self.chunk[..<count]) else { return self.end(number) }
        for line in lines {
            guard let request = ControlRequest(line: line) else {
                self.server.reply(.failed(id: nil, reason: "not understood: another version may ask"), to: number)
                continue
            }
            guard request != .watch else {
                self.server.watch(number)
                continue
            }
            self.server.perform(request) { [weak server = self.server] in server?.reply($0, to: number) }
        }
    }

    private func write(_ number: Int) {
        guard var link = self.links[number] else { return }
        if link.unsent.isEmpty { link.unsent = self.takeOutbox(number) }
        while !link.unsent.isEmpty {
            let count = link.socket.send(link.unsent[...])
            guard count > 0 else {
                if errno != EAGAIN { return self.end(number) }
                break
            }
            link.unsent.removeFirst(count)
        }
        // A reply may have come while older bytes were unsent. The loop was woken then, and is not woken again.
        if link.unsent.isEmpty { link.unsent = self.takeOutbox(number) }
        self.links[number] = link
    }

    private func takeOutbox(_ number: Int) -> [UInt8] {
        self.server.state.withLock { state in
            let bytes = state.clients[number]?.outbox ?? []
            state.clients[number]?.outbox = []
            // A client learns its number of missed events even if no further event follows.
            guard let missed = state.clients[number]?.missed, missed > 0 else { return bytes }
            state.clients[number]?.missed = 0
            return bytes + (ControlReply.missed(missed).line ?? [])
        }
    }

    private func end(_ number: Int) {
        self.links[number] = nil
        self.server.forget(number)
    }
}
