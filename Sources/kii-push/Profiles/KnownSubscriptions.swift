import Glibc
package import KiiPushCommandLine
package import KiiPushCore

/// The subscriptions made through a profile: `subscriptions.json` in its directory. The cloud has no call that lists
/// subscriptions. A subscription that is neither in this file, nor declared, nor in a list of topics cannot be found
/// again.
package struct KnownSubscriptions: Sendable {
    private let path: String

    init(directory: String) { self.path = directory + "/subscriptions.json" }

    /// In the order of subscribing. Leaves out entries that are no target.
    func read() throws -> [SubscriptionTarget] {
        try ConfigurationDocument.read(trustedAt: self.path).map { Self.targets(in: $0) } ?? []
    }

    package static func targets(in file: ConfigurationDocument) -> [SubscriptionTarget] {
        (file.value["subscriptions"]?.array ?? []).compactMap { SubscriptionTarget(remembered: $0) }
    }

    /// Removes all subscriptions: they were another principal's.
    func forget() { unlink(self.path) }

    func note(_ target: SubscriptionTarget, isSubscribed: Bool) throws {
        var targets = try self.read()
        guard targets.contains(target) != isSubscribed else { return }
        if isSubscribed { targets.append(target) } else { targets.removeAll { $0 == target } }
        try ConfigurationDocument.write(Self.members(targets), to: self.path)
    }

    /// The members of the file beside its version.
    package static func members(_ targets: [SubscriptionTarget]) -> [(String, JSONValue)] {
        [("subscriptions", JSONValue(targets.map { JSONValue.object($0.json) }))]
    }
}

extension Profile {
    /// Records targets before the calls that subscribe to them, so that they are found even when no file declares them
    /// any more. A subscription that fails does no harm: commands ask the cloud about each.
    func note(_ targets: [SubscriptionTarget], _ console: Console) {
        do {
            for target in targets { try KnownSubscriptions(directory: self.directory).note(target, isSubscribed: true) }
        } catch {
            console.warning("'kii-push subscriptions' may not find all: \(CommandFailure(describing: error).message)")
        }
    }
}

extension SubscriptionTarget {
    fileprivate init?(remembered json: JSONValue) {
        guard let name = json["name"]?.string, let text = json["scope"]?.string,
            // Without a principal `me` is no scope; the file never has it.
            let scope = try? ScopeName(text)?.resolved(for: nil)
        else { return nil }
        switch json["kind"]?.string {
        case "topic": self = .topic(Topic(name, in: scope))
        case "bucket": self = .bucket(Bucket(name, in: scope))
        default: return nil
        }
    }
}
