import CInspector
import KiiPushCore

/// Answers the requests of the emulator's page: its files, the stream of events, and questions about receivers on this
/// machine. Other requests go to the cloud.
final class Inspector: Sendable {
    private static let maximumReaders = 100
    /// The browser may load scripts and styles only from the emulator.
    private static let pageFields = [
        HTTPField(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        HTTPField("X-Content-Type-Options", "nosniff"), HTTPField("Referrer-Policy", "no-referrer"),
        HTTPField("Cache-Control", "no-store"),
    ]

    private let service: CloudService
    private let log: ActivityLog
    private let receivers: Receivers
    private let token: Secret
    private let greeting: String
    private let explain: (@Sendable ([UInt8]) -> JSONValue)?
    private let readers = Locked(0)

    init(
        _ service: CloudService, log: ActivityLog, receivers: Receivers, settings: EmulatedCloud.Settings,
        explain: (@Sendable ([UInt8]) -> JSONValue)?
    ) {
        (self.service, self.log, self.receivers, self.explain) = (service, log, receivers, explain)
        self.token = settings.pageToken ?? ""
        let hello = JSONValue.object(all: [
            "start": Timestamp.now().json, "app": settings.app.appID, "root": "/api/apps/\(settings.app.appID)",
            "httpsBaseURL": settings.httpsBaseURL,
        ])
        self.greeting = "event: hello\ndata: \(hello.text)\n\n"
    }

    func handle(_ request: IncomingRequest, _ pending: PendingAnswer) {
        do throws(KiiFailure) {
            if try self.answer(request, pending) { return }
            self.service.handle(request) { pending.give($0) }
        } catch {
            pending.give(error.response)
        }
    }

    private func answer(_ request: IncomingRequest, _ pending: PendingAnswer) throws(KiiFailure) -> Bool {
        guard request.target.hasPrefix("/__kii/"), let target = try? RequestTarget(parsing: request.target) else {
            return false
        }
        let path = target.path.dropFirst()
        switch (request.method == "HEAD" ? "GET" : request.method, path.first ?? "", path.count) {
        case ("GET", "ui", 1): pending.give(try self.file("index.html"))
        case ("GET", "ui", 2): pending.give(try self.file(target.path[2]))
        case ("GET", "events", 1): pending.give(try self.stream(request, target, pending))
        case ("GET", "receivers", 1):
            try self.ask(request, target, pending) { ["receivers": JSONValue($0.map { $0.summary })] }
        case ("GET", "receivers", 4) where target.path[3] == "messages":
            guard let id = Int64(target.path[4]) else { return false }
            try self.ask(request, target, pending) { receivers throws(KiiFailure) in
                ["events": JSONValue(try receivers.named(target.path[2]).events(of: id))]
            }
        case ("GET", "dead-letters", 1):
            try self.ask(request, target, pending) { ["deadLetters": JSONValue($0.flatMap { $0.deadLetters })] }
        case ("POST", "dead-letters", 4) where target.path[4] == "retry":
            guard let id = Int64(target.path[3]) else { return false }
            try self.ask(request, target, pending) { receivers throws(KiiFailure) in
                try receivers.named(target.path[2]).retry(id)
            }
        case ("POST", "dead-letters", 4) where target.path[4] == "drop":
            guard let id = Int64(target.path[3]) else { return false }
            try self.ask(request, target, pending) { receivers throws(KiiFailure) in
                try receivers.named(target.path[2]).drop(id)
            }
        case ("GET", "messages", 3) where target.path[3] == "explain":
            try self.service.requireAdministrator(request, target)
            pending.give(try self.explanation(of: self.service.message(target.path[2])))
        default: return false
        }
        return true
    }

    private func file(_ name: String) throws(KiiFailure) -> HTTPResponse {
        guard let file = cinspector_file(name)?.pointee else {
            throw KiiFailure(404, "RESOURCE_NOT_FOUND", "The page has no such file.")
        }
        let text = String(cString: file.text).replacing(bytesOf: "{{token}}", with: self.token.reveal())
        let type = HTTPField("Content-Type", String(cString: file.media_type))
        return HTTPResponse(status: 200, fields: [type] + Inspector.pageFields, body: Array(text.utf8))
    }

    private func ask(
        _ request: IncomingRequest, _ target: RequestTarget, _ pending: PendingAnswer,
        _ question: @escaping Receivers.Question
    ) throws(KiiFailure) {
        try self.service.requireAdministrator(request, target)
        self.receivers.ask(question) { pending.give($0) }
    }

    private func explanation(of message: LoggedMessage) throws(KiiFailure) -> HTTPResponse {
        // Receivers that use this package understand only the formats of these two networks.
        func rendering(_ network: PushNetwork) -> PushRendering? { message.renderings.first { $0.network == network } }
        guard let explain, let received = rendering(.mqtt) ?? rendering(.apns) else {
            throw KiiFailure(404, "EXPLANATION_NOT_FOUND", "`kii-push emulator` explains payloads for MQTT and APNs.")
        }
        return .json(200, nil, explain(received.message))
    }

    private func stream(
        _ request: IncomingRequest, _ target: RequestTarget, _ pending: PendingAnswer
    ) throws(KiiFailure) -> EventStream {
        guard ["same-origin", "none", nil].contains(request.field("Sec-Fetch-Site")) else { throw .foreignOrigin }
        let hasPlace = self.readers.withLock { count in
            guard count < Inspector.maximumReaders else { return false }
            count += 1
            return true
        }
        guard hasPlace else {
            throw KiiFailure(
                503, "TOO_MANY_READERS", "\(Inspector.maximumReaders) read what happens already; close some pages.")
        }
        self.log.follow()
        // A browser that reconnects sends the ID of the last event that it got. That ID overrides the query.
        let last = request.field("Last-Event-ID") ?? target.query["after"]
        return EventStream(
            self.log, for: pending, after: last.flatMap { Int64($0) }, greeting: self.greeting, readers: self.readers)
    }
}
