import Contract
import KiiPushCore
import Testing

/// The preparation and the request that provoke one of the contract's answers.
struct Scenario: Sendable, CustomTestStringConvertible {
    /// The call's ID in the contract.
    var id: String
    /// The refusal's code; `nil` for success.
    var code: String?
    /// The expected status, if the call has several statuses of success.
    var status: Int?
    /// Whether the scenario is possible with the variant's choices.
    var makes: @Sendable (Variant) -> Bool
    /// Prepares the cloud and returns the request.
    var prepare: @Sendable (ContractWorld, Variant) async throws -> ContractRequest

    typealias Change = @Sendable (inout ContractRequest, ContractWorld) async throws -> Void

    var testDescription: String { "\(self.id) \(self.code ?? self.status.map { "\($0)" } ?? "succeeds")" }

    /// A call that succeeds without preparation.
    static func success(_ id: String, _ status: Int? = nil) -> Scenario {
        .success(id, status, where: { _ in true }) { _, _ in }
    }

    /// A call that succeeds after `change`.
    static func success(
        _ id: String,
        _ status: Int? = nil,
        where makes: @escaping @Sendable (Variant) -> Bool = { _ in true },
        _ change: @escaping Change
    ) -> Scenario {
        Scenario(id: id, code: nil, status: status, makes: makes) { world, variant in
            var request = try await world.request(variant)
            try await change(&request, world)
            return request
        }
    }

    /// A call that fails with `code` after `change`.
    static func refusal(
        _ id: String,
        _ code: String,
        where makes: @escaping @Sendable (Variant) -> Bool = { _ in true },
        _ change: @escaping Change
    ) -> Scenario {
        var scenario = Scenario.success(id, where: makes, change)
        scenario.code = code
        return scenario
    }
}

extension Variant {
    func isIn(_ label: String) -> Bool { self.labels.values.contains(label) }
}

extension ContractRequest {
    /// Replaces or adds members of the body.
    mutating func set(_ members: KeyValuePairs<String, JSONValue>) {
        self.body = JSONValue(
            members: (self.body?.members ?? []) + members.map { JSONMember(key: $0.key, value: $0.value) }
        )
    }

    mutating func remove(_ names: String...) {
        self.body = JSONValue(members: (self.body?.members ?? []).filter { !names.contains($0.key) })
    }

    var asAdministrator: Credentials { .token(self.people.admin) }
}
