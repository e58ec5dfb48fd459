import CCurl

/// Up to ``capacity`` streams in one multi handle.
///
/// Each `curl_easy_recv` and `curl_easy_send` searches all connections of its multi handle. Small groups keep this
/// cheap, since a gateway has thousands of streams.
final class StreamGroup {
    static let capacity = 32

    private let multi: EventedMulti
    private(set) var streams = 0
    var isWoken = false

    init(sockets: Epoll, woken: @escaping (StreamGroup) -> Void) throws(TransportError) {
        self.multi = try EventedMulti(sockets: sockets)
        self.multi.woken = { [unowned self] in woken(self) }
    }

    var deadline: MonotonicInstant? { self.multi.deadline }

    func add(_ easy: CurlEasy) throws(TransportError) {
        try self.multi.add(easy)
        self.streams += 1
    }

    func remove(_ easy: CurlEasy) {
        self.multi.remove(easy)
        self.streams -= 1
    }

    func takeSettled(at now: MonotonicInstant) -> [(stream: SocketStream, result: CURLcode)] {
        var settled: [(stream: SocketStream, result: CURLcode)] = []
        self.multi.advance(at: now) { (stream: SocketStream, result) in settled.append((stream, result)) }
        return settled
    }
}
