import KiiPushCommandLine
import KiiPushCore

struct FilterOptions: ParsableArguments {
    @Option(value: "KIND", help: "Only push-to-app, push-to-user or direct-push; may be given again.")
    var only: [ReceivedMessage.Kind] = []

    @Option(value: "TOPIC", help: "Only from this topic: alerts, user:me/todo, user:ID/todo; may be given again.")
    var topic: [TargetName] = []

    @Option(value: "BUCKET", help: "Only from this bucket: user:me/notes, user:ID/notes; may be given again.")
    var bucket: [TargetName] = []

    @Option(value: "SENDER", help: "Only of this sender: admin, user:me, user:ID, thing:ID; may be given again.")
    var from: [String] = []

    /// The filter, with the receiver's ID in place of `me`.
    ///
    /// - Parameter principal: the receiver; `nil` if unknown.
    /// - Throws: ``CommandFailure`` with exit 64 if `me` is unknown, or is a thing where the filter names a user, or
    ///   the reverse.
    func filter(for principal: Principal?) throws -> MessageFilter {
        func text(_ name: TargetName) throws -> String { try name.scope.resolved(for: principal).text(of: name.id) }
        return MessageFilter(
            kinds: self.only, topics: try self.topic.map(text), buckets: try self.bucket.map(text),
            senders: try self.from.map { try ScopeName($0)?.resolved(for: principal).text ?? $0 })
    }
}
