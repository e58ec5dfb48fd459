import Contract
import KiiPushCore

/// The refusals of a call in a scope that does not exist.
private func missingScopes(_ id: String) -> [Scenario] {
    [
        ("user scope", "user", "USER_NOT_FOUND"), ("group scope", "group", "GROUP_NOT_FOUND"),
        ("thing scope", "thing", "THING_NOT_FOUND"),
    ].map { label, parameter, code in
        .refusal(id, code, where: { $0.isIn(label) }) { request, _ in
            request.credentials = request.asAdministrator
            request.parameters[parameter] = "nobody"
        }
    }
}

let topicScenarios: [Scenario] =
    [
        "topics.create", "topics.check", "topics.delete", "topics.list", "topics.acl.list",
        "topics.acl.holders", "topics.acl.get",
        "topics.acl.grant", "topics.acl.revoke", "messages.sendToTopic", "objects.create", "objects.get", "objects.put",
        "objects.patch", "objects.delete", "objects.body.put", "objects.body.get", "objects.body.delete",
        "buckets.create", "buckets.get", "buckets.delete", "subscriptions.subscribe", "subscriptions.check",
        "subscriptions.unsubscribe",
    ].flatMap { missingScopes($0) } + [
        .success("topics.create"),
        .refusal("topics.check", "INVALID_INPUT_DATA") { request, _ in request.parameters["topic"] = "a.b" },
        .refusal("topics.delete", "INVALID_INPUT_DATA") { request, _ in request.parameters["topic"] = "a.b" },
        .refusal("topics.acl.list", "INVALID_INPUT_DATA") { request, _ in request.parameters["topic"] = "a.b" },
        .refusal("topics.create", "INVALID_INPUT_DATA") { request, _ in request.parameters["topic"] = "a.b" },
        .refusal("topics.create", "TOPIC_ALREADY_EXISTS") { request, world in try await world.succeed(request) },
        .success("topics.check") { request, world in try await world.first("topics.create", request) },
        .refusal("topics.check", "TOPIC_NOT_FOUND") { _, _ in },
        .success("topics.delete") { request, world in try await world.first("topics.create", request) },
        .refusal("topics.delete", "TOPIC_NOT_FOUND") { request, world in
            try await world.first("topics.create", request)
            try await world.succeed(request)
        },
        .success("topics.list") { request, world in try await world.first("topics.create", request) },
    ]

let messageScenarios: [Scenario] =
    ["messages.sendToTopic", "messages.sendToUser"].flatMap { id in
        [("gcm", "GCMKEY_NOT_FOUND"), ("apns", "APNSKEY_NOT_FOUND"), ("jpush", "JPUSHKEY_NOT_FOUND")]
            .map { network, code in
                .refusal(id, code) { request, world in
                    try await world.configure(["networks": [network: false]])
                    request.credentials = request.asAdministrator
                    try await world.first("topics.create", request, as: request.credentials)
                    request.set([network: ["enabled": true]])
                }
            }
    } + [
        .success("messages.sendToTopic") { request, world in try await world.first("topics.create", request) },
        .refusal("messages.sendToTopic", "INVALID_INPUT_DATA") { request, world in
            try await world.first("topics.create", request)
            request.remove("mqtt")
        },
        .refusal("messages.sendToTopic", "TOPIC_NOT_FOUND") { _, _ in },
        .success("messages.sendToUser") { request, _ in request.credentials = request.asAdministrator },
        .refusal("messages.sendToUser", "INVALID_INPUT_DATA") { request, _ in
            request.set(["data": ["nested": ["a": 1]]])
        },
        .refusal("messages.sendToUser", "USER_NOT_FOUND") { request, _ in
            request.credentials = request.asAdministrator
            request.parameters["user"] = "nobody"
        },
    ]

let topicAccessScenarios: [Scenario] =
    ["topics.acl.get", "topics.acl.grant", "topics.acl.revoke"].flatMap { id -> [Scenario] in
        [
            .refusal(id, "TOPIC_NOT_FOUND") { _, _ in },
            .refusal(id, "INVALID_INPUT_DATA") { request, world in
                try await world.first("topics.create", request)
                request.parameters["verb"] = "READ"
            },
        ]
            + [("UserID", "USER_NOT_FOUND"), ("GroupID", "GROUP_NOT_FOUND"), ("ThingID", "THING_NOT_FOUND")]
            .map { kind, code in
                .refusal(id, code) { request, world in
                    try await world.first("topics.create", request)
                    request.parameters["subject"] = "\(kind):nobody"
                }
            }
    } + [
        .success("topics.acl.list") { request, world in try await world.first("topics.create", request) },
        .refusal("topics.acl.list", "TOPIC_NOT_FOUND") { _, _ in },
        .success("topics.acl.holders") { request, world in try await world.first("topics.create", request) },
        .refusal("topics.acl.holders", "TOPIC_NOT_FOUND") { _, _ in },
        .refusal("topics.acl.holders", "INVALID_INPUT_DATA") { request, _ in request.parameters["verb"] = "READ" },
        .success("topics.acl.get") { request, world in try await world.grant(&request) },
        .refusal("topics.acl.get", "ACL_NOT_FOUND") { request, world in
            try await world.grant(&request)
            try await world.first("topics.acl.revoke", request)
        },
        .success("topics.acl.grant") { request, world in
            try await world.grant(&request)
            try await world.first("topics.acl.revoke", request)
        },
        .refusal("topics.acl.grant", "ACL_ALREADY_EXISTS") { request, world in try await world.grant(&request) },
        .success("topics.acl.revoke") { request, world in try await world.grant(&request) },
        .refusal("topics.acl.revoke", "ACL_NOT_FOUND") { request, world in
            try await world.grant(&request)
            try await world.succeed(request)
        },
    ]

extension ContractWorld {
    /// Creates the request's topic and grants a right on it to another user.
    fileprivate func grant(_ request: inout ContractRequest) async throws {
        request.parameters["subject"] = "UserID:\(try await self.register().account.id)"
        try await self.first("topics.create", request)
        try await self.first("topics.acl.grant", request)
    }
}
