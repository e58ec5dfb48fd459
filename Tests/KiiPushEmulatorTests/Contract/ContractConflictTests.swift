import Contract
import KiiPushCore
import KiiPushEmulator
import Testing

/// Two equal requests at the same moment: exactly one succeeds.
@Suite struct ContractConflictTests {
    private static let conflicts: [(id: String, codes: Set<String>)] = [
        ("users.register", ["USER_ALREADY_EXISTS"]), ("things.registerWithToken", ["THING_ALREADY_EXISTS"]),
        ("topics.create", ["TOPIC_ALREADY_EXISTS"]), ("topics.delete", ["TOPIC_NOT_FOUND"]),
        ("topics.acl.grant", ["ACL_ALREADY_EXISTS"]), ("topics.acl.revoke", ["ACL_NOT_FOUND"]),
        ("subscriptions.subscribe", ["PUSH_SUBSCRIPTION_ALREADY_EXISTS"]),
        ("subscriptions.unsubscribe", ["PUSH_SUBSCRIPTION_NOT_FOUND"]),
        ("installations.delete", ["INSTALLATION_NOT_FOUND"]), ("objects.delete", ["OBJECT_NOT_FOUND"]),
        ("buckets.delete", ["BUCKET_NOT_FOUND"]), ("token.refresh", ["WRONG_REFRESH_TOKEN"]),
        ("things.addOwner", ["THING_OWNERSHIP_ALREADY_EXISTS"]),
        ("things.addOwnerWithPassword", ["THING_OWNERSHIP_ALREADY_EXISTS"]),
        ("things.confirmOwner", ["INVALID_VERIFICATION_CODE"]),
        ("groups.createWithID", ["GROUP_ALREADY_EXISTS"]), ("groups.delete", ["GROUP_NOT_FOUND"]),
        ("groups.removeMember", ["USER_NOT_FOUND"]), ("things.delete", ["THING_NOT_FOUND"]),
        // The first request ends the token that both requests use.
        ("users.changePassword", ["WRONG_TOKEN", "WRONG_PASSWORD"]), ("users.delete", ["WRONG_TOKEN"]),
    ]

    @Test func exactlyOneOfTwoWins() async throws {
        try await withEmulator { client in
            let world = try ContractWorld(CloudOverHTTP(client: client))
            for (id, codes) in Self.conflicts {
                let scenario = try #require(scenarios.first { $0.id == id && $0.code == nil })
                for _ in 0..<5 {
                    let request = try await world.anyRequest(of: scenario)
                    async let first = world.send(request)
                    async let second = world.send(request)
                    let answers = try await [first, second]
                    let winners = answers.filter { (200..<300).contains($0.status) }
                    #expect(winners.count == 1, "\(id): \(answers.map { $0.status })")
                    for answer in answers where !(200..<300).contains(answer.status) {
                        #expect(answer.code.map { codes.contains($0) } ?? false, "\(id): \(answer.json)")
                    }
                }
            }
        }
    }
}
