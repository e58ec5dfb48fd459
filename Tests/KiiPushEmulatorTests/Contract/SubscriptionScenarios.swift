import Contract
import KiiPushCore

private let ids = ["subscriptions.subscribe", "subscriptions.check", "subscriptions.unsubscribe"]

/// Refusals because of a missing subscriber, scope, topic or filter.
private func absences(_ id: String) -> [Scenario] {
    [
        .refusal(id, "USER_NOT_FOUND", where: { $0.isIn("user subscriber") }) { request, world in
            try await world.makeTopic(&request)
            request.parameters["subscribingUser"] = "nobody"
        },
        .refusal(id, "THING_NOT_FOUND", where: { $0.isIn("thing subscriber") }) { request, world in
            try await world.makeTopic(&request)
            request.parameters["subscribingThing"] = "nothing"
        },
        .refusal(id, "INVALID_INPUT_DATA", where: { $0.isIn("topic") }) { request, _ in
            request.parameters["topic"] = "a.b"
        },
        .refusal(id, "INVALID_BUCKET", where: { $0.isIn("bucket") }) { request, _ in request.parameters["bucket"] = "b"
        },
        .refusal(id, "TOPIC_NOT_FOUND", where: { $0.isIn("topic") }) { request, _ in
            request.credentials = request.asAdministrator
        },
        .refusal(id, "FILTER_NOT_FOUND", where: { $0.isIn("bucket") }) { request, _ in
            request.credentials = request.asAdministrator
            request.parameters["filter"] = "some"
        },
    ]
}

let subscriptionScenarios: [Scenario] =
    ids.flatMap { absences($0) } + [
        .success("subscriptions.subscribe") { request, world in try await world.makeTopic(&request) },
        .refusal("subscriptions.subscribe", "PUSH_SUBSCRIPTION_ALREADY_EXISTS") { request, world in
            try await world.makeTopic(&request)
            try await world.succeed(request)
        },
        .success("subscriptions.check") { request, world in try await world.subscribe(&request) },
        .refusal("subscriptions.check", "PUSH_SUBSCRIPTION_NOT_FOUND") { request, world in
            try await world.subscribe(&request)
            try await world.first("subscriptions.unsubscribe", request, as: request.credentials)
        },
        .success("subscriptions.unsubscribe") { request, world in try await world.subscribe(&request) },
        .refusal("subscriptions.unsubscribe", "PUSH_SUBSCRIPTION_NOT_FOUND") { request, world in
            try await world.subscribe(&request)
            try await world.succeed(request)
        },
    ] + selfScenarios

/// Subscriptions by the subscriber itself. A thing has no rights in the scopes of its owner.
private let selfScenarios: [Scenario] =
    ["subscriptions.subscribeSelf", "subscriptions.subscribeSelfByPut"].flatMap { id -> [Scenario] in
        let isPossible: @Sendable (Variant) -> Bool = { variant in
            variant.isIn("user caller") || variant.isIn("app scope") || variant.isIn("thing scope")
        }
        return [
            .success(id, where: isPossible) { request, world in
                try await world.makeTopic(&request)
                request.credentials = request.asSubscriber
            },
            .refusal(id, "PUSH_SUBSCRIPTION_ALREADY_EXISTS", where: isPossible) { request, world in
                try await world.makeTopic(&request)
                request.credentials = request.asSubscriber
                try await world.succeed(request)
            },
            .refusal(id, "INVALID_INPUT_DATA", where: { $0.isIn("topic") }) { request, _ in
                request.credentials = request.asSubscriber
                request.parameters["topic"] = "a.b"
            },
            .refusal(id, "INVALID_BUCKET", where: { $0.isIn("bucket") }) { request, _ in
                request.credentials = request.asSubscriber
                request.parameters["bucket"] = "b"
            },
            .refusal(id, "USER_NOT_FOUND", where: { $0.isIn("user scope") }) { request, _ in
                request.credentials = request.asSubscriber
                request.parameters["user"] = "nobody"
            },
            .refusal(id, "GROUP_NOT_FOUND", where: { $0.isIn("group scope") }) { request, _ in
                request.credentials = request.asSubscriber
                request.parameters["group"] = "nothing"
            },
            .refusal(id, "THING_NOT_FOUND", where: { $0.isIn("thing scope") }) { request, _ in
                request.credentials = request.asSubscriber
                request.parameters["thing"] = "nothing"
            },
            .refusal(id, "TOPIC_NOT_FOUND", where: { isPossible($0) && $0.isIn("topic") }) { request, _ in
                request.credentials = request.asSubscriber
            },
            .refusal(id, "FILTER_NOT_FOUND", where: { isPossible($0) && $0.isIn("bucket") }) { request, _ in
                request.credentials = request.asSubscriber
                request.parameters["filter"] = "some"
            },
        ]
    }

extension ContractRequest {
    fileprivate var asSubscriber: Credentials {
        .token(self.variant.isIn("user caller") ? self.people.user.token : self.people.thing.token)
    }
}

extension ContractWorld {
    /// Creates the topic if the request names one, and gives the request the administrator's credentials.
    fileprivate func makeTopic(_ request: inout ContractRequest) async throws {
        request.credentials = request.asAdministrator
        if request.variant.isIn("topic") { try await self.first("topics.create", request, as: request.credentials) }
    }

    fileprivate func subscribe(_ request: inout ContractRequest) async throws {
        try await self.makeTopic(&request)
        try await self.first("subscriptions.subscribe", request, as: request.credentials)
    }
}
