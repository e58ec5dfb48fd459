import Glibc

/// The work of the control server's thread: takes connections, reads requests, writes replies.
final class ControlLoop: PollLoop {
    private struct Link {
        var socket: FileDescriptor
        var lines = ControlLines()
        var unsent: [UInt8] = []
    }

    /// The most clients at once. It bounds the memory of their outboxes.
    private static let linkLimit = 16

    private let server: ControlServer
    private var links: [Int: Link] = [:]
    private var lastNumber = 0
    /// Whether the system gave no descriptor for the next connection. The others go on, and the loop tries again after
    /// a moment.
    private var isShort = false
    private var chunk = [UInt8](repeating: 0, count: 16_384)

    init(_ server: ControlServer) { self.server = server }

    func turn(_ news: [Void], readable: Set<Int32>) -> PollWait? {
        for (number, link) in self.links where readable.contains(link.socket.number) { self.read(number) }
        self.isShort = false
        if readable.contains(self.server.listener.number) { self.accept() }
        for number in Array(self.links.keys) { self.write(number) }
        var wait = PollWait(until: self.isShort ? .now() + .milliseconds(100) : nil)
        // With as many connections as there may be, the next one waits in the kernel.
        if !self.isShort, self.links.count < ControlLoop.linkLimit { wait.watch(self.server.listener.number) }
        for link in self.links.values {
            // No request is read from a client that does not read its replies: they would pile up without end.
            wait.watch(link.socket.number, reading: link.unsent.isEmpty, writing: !link.unsent.isEmpty)
        }
        return wait
    }

    func end(_ unread: [Void]) {
        // A client that connects anew at once has to be refused. It would wait for ever in the listener's queue.
        self.server.listener.shutDown(.both)
        while self.server.listener.accept() != nil {}
        // The last requests get no answer; the end of the connection says so.
        for number in Array(self.links.keys) { self.end(number) }
    }

    private func accept() {
        guard let socket = self.server.listener.accept() else {
            // accept(2) failed for want of a descriptor. The listener rests for a moment: poll(2) would spin.
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
        // A reply may have come after the outbox was emptied, and its wake-up is used up: POLLOUT sends it.
        if link.unsent.isEmpty { link.unsent = self.takeOutbox(number) }
        self.links[number] = link
    }

    private func takeOutbox(_ number: Int) -> [UInt8] {
        self.server.state.withLock { state in
            let bytes = state.clients[number]?.outbox ?? []
            state.clients[number]?.outbox = []
            // The count goes out even when nothing more happens.
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
