import Glibc
package import KiiPushCommandLine
package import KiiPushCore

/// The subscriptions made through a profile: `subscriptions.json` in its directory. The file is necessary because no
/// call of the cloud lists subscriptions.
package struct KnownSubscriptions: Sendable {
    private let path: String

    init(directory: String) { self.path = directory + "/subscriptions.json" }

    func read() throws -> [SubscriptionTarget] {
        try ConfigurationDocument.read(trustedAt: self.path).map { Self.targets(in: $0) } ?? []
    }

    package static func targets(in file: ConfigurationDocument) -> [SubscriptionTarget] {
        (file.value["subscriptions"]?.array ?? []).compactMap { SubscriptionTarget(remembered: $0) }
    }

    /// Deletes the file, for a profile that is registered anew.
    func forget() { unlink(self.path) }

    func note(_ target: SubscriptionTarget, isSubscribed: Bool) throws {
        var targets = try self.read()
        guard targets.contains(target) != isSubscribed else { return }
        if isSubscribed { targets.append(target) } else { targets.removeAll { $0 == target } }
        try ConfigurationDocument.write(Self.members(targets), to: self.path)
    }

    package static func members(_ targets: [SubscriptionTarget]) -> [(String, JSONValue)] {
        [("subscriptions", JSONValue(targets.map { JSONValue.object($0.json) }))]
    }
}

extension Profile {
    /// Records subscriptions that the profile has made, ended, or is about to make: so they are known even if no file
    /// declares them later. A failure is only a warning. The file may contain targets whose call failed: commands ask
    /// the cloud about each target.
    func note(_ targets: [SubscriptionTarget], isSubscribed: Bool, _ console: Console) {
        do {
            let known = KnownSubscriptions(directory: self.directory)
            for target in targets { try known.note(target, isSubscribed: isSubscribed) }
        } catch {
            let names = targets.map(\.text).joined(separator: ", ")
            let reason = CommandFailure(describing: error).message
            console.warning("'kii-push subscriptions' may not find \(names): \(reason)")
        }
    }
}

extension SubscriptionTarget {
    fileprivate init?(remembered json: JSONValue) {
        guard let name = json["name"]?.string, let text = json["scope"]?.string,
            let scope = try? ScopeName(text)?.resolved(for: nil)
        else { return nil }
        switch json["kind"]?.string {
        case "topic": self = .topic(Topic(name, in: scope))
        case "bucket": self = .bucket(Bucket(name, in: scope))
        default: return nil
        }
    }
}
