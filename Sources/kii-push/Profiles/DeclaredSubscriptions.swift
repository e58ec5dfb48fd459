import KiiPushCore

/// What a profile is to be subscribed to, as a file declares it: `{"topics": [...], "buckets": [...]}`.
package struct DeclaredSubscriptions: Sendable, Hashable {
    var topics: [TargetName]
    var buckets: [TargetName]

    static let members = ["topics", "buckets"]

    /// Throws ``CommandFailure`` with exit 78 that names the place of what is wrong.
    init(_ value: DocumentValue) throws {
        try value.requireMembers(Self.members)
        func names(_ key: String) throws -> [TargetName] {
            guard let list = value[key] else { return [] }
            guard let elements = list.json.array else { throw list.failure("must be a list of names") }
            return try elements.enumerated().map { index, element in
                guard let name = element.string.flatMap({ TargetName(argument: $0) }) else {
                    throw value.document.failure(at: list.pointer.appending(index), "must be " + TargetName.expectation)
                }
                return name
            }
        }
        self.topics = try names("topics")
        self.buckets = try names("buckets")
    }

    func targets(of principal: Principal) throws -> [SubscriptionTarget] {
        var seen: Set<SubscriptionTarget> = []
        return try SubscriptionTarget.targets(topics: self.topics, buckets: self.buckets, of: principal)
            .filter { seen.insert($0).inserted }
    }
}
