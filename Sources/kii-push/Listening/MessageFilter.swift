import KiiPushCore

/// Which messages are meant: those that fit one of each list that is not empty.
struct MessageFilter: Sendable {
    var kinds: [ReceivedMessage.Kind] = []
    var topics: [String] = []
    var buckets: [String] = []
    var senders: [String] = []

    var isEmpty: Bool { self.kinds.isEmpty && self.topics.isEmpty && self.buckets.isEmpty && self.senders.isEmpty }

    func matches(_ message: ReceivedMessage) -> Bool {
        func fits(_ wanted: [String], _ value: @autoclosure () -> String?) -> Bool {
            wanted.isEmpty || value().map(wanted.contains) ?? false
        }
        return (self.kinds.isEmpty || self.kinds.contains(message.kind))
            && fits(self.topics, message.sourceTopic.map { $0.scope.text(of: $0.id) })
            && fits(self.buckets, message.sourceBucket.map { $0.scope.text(of: $0.id) })
            && fits(self.senders, message.sender?.text)
    }
}

struct FilterOptions: ParsableArguments {
    @Option(value: "KIND", help: "Only push-to-app, push-to-user or direct-push; may be given again.")
    var only: [ReceivedMessage.Kind] = []

    @Option(value: "TOPIC", help: "Only from this topic: alerts, user:me/todo, user:ID/todo; may be given again.")
    var topic: [TargetName] = []

    @Option(value: "BUCKET", help: "Only from this bucket: user:me/notes, user:ID/notes; may be given again.")
    var bucket: [TargetName] = []

    @Option(value: "SENDER", help: "Only of this sender: admin, user:me, user:ID, thing:ID; may be given again.")
    var from: [String] = []

    /// The filter with `me` replaced.
    ///
    /// - Parameter principal: who receives; `nil` where that is unknown.
    /// - Throws: ``CommandFailure`` with exit 64 when `me` is unknown, or the other kind of principal.
    func filter(for principal: Principal?) throws -> MessageFilter {
        func text(_ name: TargetName) throws -> String { try name.scope.resolved(for: principal).text(of: name.id) }
        return MessageFilter(
            kinds: self.only, topics: try self.topic.map(text), buckets: try self.bucket.map(text),
            senders: try self.from.map { try ScopeName($0)?.resolved(for: principal).text ?? $0 })
    }
}

extension ReceivedMessage.Kind: ExpressibleByArgument {
    private static let all: [Self] = [.pushToApp, .pushToUser, .directPush]

    init?(argument: String) {
        guard let kind = Self.all.first(where: { $0.text == argument }) else { return nil }
        self = kind
    }

    static var expectation: String { "one of " + Self.all.map(\.text).joined(separator: ", ") }
    static var completion: CompletionKind { .words(Self.all.map(\.text)) }
}
