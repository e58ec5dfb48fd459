import KiiPushCore

actor DatedTransport: HTTPTransport {
    /// This machine's time minus the server's, at the last answer with a date; `nil` without such an answer.
    private(set) var clockLead: Duration?
    private let transport: any HTTPTransport

    init(_ transport: some HTTPTransport) { self.transport = transport }

    func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        let sent = Timestamp.now().millisecondsSinceEpoch
        let answer = try await self.transport.perform(request)
        let received = Timestamp.now().millisecondsSinceEpoch
        if let date = answer.field("Date").flatMap({ Timestamp(date: $0) }) {
            // Adds half a second: the field `Date` has whole seconds, rounded down.
            let theirs = date.millisecondsSinceEpoch + 500
            self.clockLead = .milliseconds(sent + (received - sent) / 2 - theirs)
        }
        return answer
    }
}
