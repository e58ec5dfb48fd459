import KiiPushCore

/// Sends a client's requests, and keeps the clock difference that the answers show.
actor DatedTransport: HTTPTransport {
    /// The lead of this machine's clock over the server's at the last answer; `nil` if no answer had a date.
    private(set) var clockLead: Duration?
    private let transport: any HTTPTransport

    init(_ transport: some HTTPTransport) { self.transport = transport }

    func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        let sent = Timestamp.now().millisecondsSinceEpoch
        let answer = try await self.transport.perform(request)
        let received = Timestamp.now().millisecondsSinceEpoch
        if let date = answer.field("Date").flatMap({ Timestamp(date: $0) }) {
            // The field has whole seconds, rounded down.
            let theirs = date.millisecondsSinceEpoch + 500
            self.clockLead = .milliseconds(sent + (received - sent) / 2 - theirs)
        }
        return answer
    }
}
