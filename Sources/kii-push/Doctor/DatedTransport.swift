import KiiPushCore

/// Carries the requests of a client, and remembers what the answers say about the time.
final class DatedTransport: HTTPTransport {
    /// The last date that a server named, and how far this machine's clock was ahead of it then.
    private let lead = Locked<Duration?>(nil)
    private let transport: any HTTPTransport

    init(_ transport: some HTTPTransport) { self.transport = transport }

    /// How far this machine's clock is ahead of the server's; `nil` when no answer named a date.
    var clockLead: Duration? { self.lead.withLock { $0 } }

    func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        let sent = Timestamp.now().millisecondsSinceEpoch
        let answer = try await self.transport.perform(request)
        let received = Timestamp.now().millisecondsSinceEpoch
        if let date = answer.field("Date").flatMap({ Timestamp(httpDate: $0) }) {
            // The field is in whole seconds, cut off.
            let theirs = date.millisecondsSinceEpoch + 500
            self.lead.withLock { $0 = .milliseconds(sent + (received - sent) / 2 - theirs) }
        }
        return answer
    }
}
