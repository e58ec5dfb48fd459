import Glibc
package import KiiPushCommandLine
package import KiiPushCore

/// The subscriptions made through a profile: `subscriptions.json` in its directory. The cloud has no call that lists
/// subscriptions. One that is neither in this file, nor declared, nor in a list of topics cannot be found again.
package struct KnownSubscriptions: Sendable {
    private let path: String

    init(directory: String) { self.path = directory + "/subscriptions.json" }

    /// In the order in which they were made. What cannot be read as a target is left out.
    func read() throws -> [SubscriptionTarget] {
        try ConfigurationDocument.read(trustedAt: self.path).map { Self.targets(in: $0) } ?? []
    }

    package static func targets(in file: ConfigurationDocument) -> [SubscriptionTarget] {
        (file.value["subscriptions"]?.array ?? []).compactMap { SubscriptionTarget(remembered: $0) }
    }

    /// Forgets all: they were another principal's.
    func forget() { unlink(self.path) }

    func note(_ target: SubscriptionTarget, isSubscribed: Bool) throws {
        var targets = try self.read()
        guard targets.contains(target) != isSubscribed else { return }
        if isSubscribed { targets.append(target) } else { targets.removeAll { $0 == target } }
        try ConfigurationDocument.write(Self.members(targets), to: self.path)
    }

    /// What the file holds beside its version.
    package static func members(_ targets: [SubscriptionTarget]) -> [(String, JSONValue)] {
        [("subscriptions", JSONValue(targets.map { JSONValue.object($0.json) }))]
    }
}

extension Profile {
    /// Notes what is going to be subscribed, so that it is found when nobody declares it any more. One that comes to
    /// nothing does no harm: the cloud is asked about each.
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
            // Without a principal there is no 'me', which is never written down.
            let scope = try? ScopeName(text)?.resolved(for: nil)
        else { return nil }
        switch json["kind"]?.string {
        case "topic": self = .topic(Topic(name, in: scope))
        case "bucket": self = .bucket(Bucket(name, in: scope))
        default: return nil
        }
    }
}
