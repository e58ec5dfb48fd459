import KiiPushCommandLine
import KiiPushCore

/// Carries the requests of a client, and remembers what the answers say about the time.
actor DatedTransport: HTTPTransport {
    /// How far this machine's clock was ahead of the server's at the last answer; `nil` when none named a date.
    private(set) var clockLead: Duration?
    private let transport: any HTTPTransport

    init(_ transport: some HTTPTransport) { self.transport = transport }

    func perform(_ request: HTTPRequest) async throws -> HTTPResponse {
        let sent = Timestamp.now().millisecondsSinceEpoch
        let answer = try await self.transport.perform(request)
        let received = Timestamp.now().millisecondsSinceEpoch
        if let date = answer.field("Date").flatMap({ Timestamp(date: $0) }) {
            // The field is in whole seconds, cut off.
            let theirs = date.millisecondsSinceEpoch + 500
            self.clockLead = .milliseconds(sent + (received - sent) / 2 - theirs)
        }
        return answer
    }
}
