import KiiPushCore

extension SubscriptionTarget {
    static func targets(
        topics: [TargetName], buckets: [TargetName], of principal: Principal
    ) throws -> [SubscriptionTarget] {
        try topics.map { .topic(Topic($0.id, in: try $0.scope.resolved(for: principal))) }
            + buckets.map { .bucket(Bucket($0.id, in: try $0.scope.resolved(for: principal))) }
    }
}
