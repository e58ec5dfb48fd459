import KiiPushCore

/// What a profile is to be subscribed to, as a file declares it: `{"topics": [...], "buckets": [...]}`.
package struct DeclaredSubscriptions: Sendable, Hashable {
    var topics: [TargetName]
    var buckets: [TargetName]

    static let members = ["topics", "buckets"]

    /// Reads the object at `pointer` of `document`; throws ``CommandFailure`` with exit 78 that names the place.
    init(_ value: JSONValue, at pointer: JSONPointer, in document: ConfigurationDocument) throws {
        try document.requireMembers(Self.members, of: value, at: pointer)
        func names(_ key: String) throws -> [TargetName] {
            guard let list = value[key] else { return [] }
            let place = pointer.appending(key)
            guard let elements = list.array else { throw document.failure(at: place, "must be a list of names") }
            return try elements.enumerated().map { index, element in
                guard let name = element.string.flatMap({ TargetName(argument: $0) }) else {
                    throw document.failure(at: place.appending(index), "must be " + TargetName.expectation)
                }
                return name
            }
        }
        self.topics = try names("topics")
        self.buckets = try names("buckets")
    }

    /// Reads a file that holds nothing else.
    ///
    /// - Throws: ``CommandFailure`` with exit 66 when it cannot be read, and with 78 when it is wrong.
    init(reading path: String) throws {
        let document = try ConfigurationDocument(path: path, bytes: InputFile.read(path))
        try self.init(document.root, at: JSONPointer(), in: document)
    }

    /// What the names stand for.
    func targets(of principal: Principal) throws -> [SubscriptionTarget] {
        var seen: Set<SubscriptionTarget> = []
        return try SubscriptionTarget.targets(topics: self.topics, buckets: self.buckets, of: principal)
            .filter { seen.insert($0).inserted }
    }
}
