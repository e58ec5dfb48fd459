package import KiiPushCore

/// Selects messages by kind, topic, bucket and sender. A list that is empty selects all.
package struct MessageFilter: Sendable {
    private let kinds: [ReceivedMessage.Kind]
    private let topics: [String]
    private let buckets: [String]
    private let senders: [String]

    package init(
        kinds: [ReceivedMessage.Kind] = [], topics: [String] = [], buckets: [String] = [], senders: [String] = []
    ) {
        self.kinds = kinds
        self.topics = topics
        self.buckets = buckets
        self.senders = senders
    }

    package var isEmpty: Bool {
        self.kinds.isEmpty && self.topics.isEmpty && self.buckets.isEmpty && self.senders.isEmpty
    }

    package func matches(_ message: ReceivedMessage) -> Bool {
        func fits(_ wanted: [String], _ value: @autoclosure () -> String?) -> Bool {
            wanted.isEmpty || value().map(wanted.contains) ?? false
        }
        return (self.kinds.isEmpty || self.kinds.contains(message.kind))
            && fits(self.topics, message.sourceTopic?.spelling)
            && fits(self.buckets, message.sourceBucket?.spelling)
            && fits(self.senders, message.sender?.text)
    }
}

extension ReceivedMessage.Kind: ExpressibleByArgument {
    private static let all: [Self] = [.pushToApp, .pushToUser, .directPush]

    package init?(argument: String) {
        guard let kind = Self.all.first(where: { $0.text == argument }) else { return nil }
        self = kind
    }

    package static var expectation: String { "one of " + Self.all.map(\.text).joined(separator: ", ") }
    package static var completion: CompletionKind { .words(Self.all.map(\.text)) }
}
