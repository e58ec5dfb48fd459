import KiiPushCommandLine
import KiiPushCore

package struct DeclaredSubscriptions: Sendable, Hashable {
    var topics: [TargetName]
    var buckets: [TargetName]

    static let members = ["topics", "buckets"]

    init(_ value: ConfigurationDocument) throws {
        try value.object(Self.members)
        func names(_ key: String) throws -> [TargetName] {
            try value[key]?.elements().map { element in
                try element.read(TargetName.expectation) { $0.string.flatMap { TargetName(argument: $0) } }
            } ?? []
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
