import KiiPushCore

/// In all of these scenarios the user owns the thing, and the group does not.
let ownershipScenarios: [Scenario] = ownerScenarios + ownershipRequestScenarios + missingOwnershipScenarios

private let ownerScenarios: [Scenario] = [
    .success("things.owners"),
    .success("things.checkOwner"),
    .refusal("things.checkOwner", "USER_NOT_FOUND") { request, world in
        request.parameters["owner"] = "user:\(try await world.register().account.id)"
    },
    .refusal("things.checkOwner", "GROUP_NOT_FOUND") { request, _ in request.nameGroup() },
    .success("things.addOwner") { request, _ in request.nameGroup() },
    .refusal("things.addOwner", "UNAUTHORIZED") { request, world in
        request.nameGroup()
        try await world.configure(["requirePasswordForThingOwnership": true])
    },
    .success("things.addOwnerWithPassword") { request, _ in request.nameGroup() },
    .refusal("things.addOwnerWithPassword", "INVALID_INPUT_DATA") { request, _ in request.remove("userID") },
    .refusal("things.addOwnerWithPassword", "WRONG_PASSWORD") { request, world in
        request.nameGroup()
        try await world.configure(["requirePasswordForThingOwnership": true])
    },
    .refusal("things.addOwnerWithPassword", "USER_NOT_FOUND") { request, _ in request.set(["userID": "nobody"]) },
    .refusal("things.addOwnerWithPassword", "GROUP_NOT_FOUND") { request, _ in
        request.remove("userID")
        request.set(["groupID": "nobody"])
    },
    .refusal("things.addOwnerWithPassword", "THING_OWNERSHIP_ALREADY_EXISTS") { request, _ in
        request.set(["userID": JSONValue(request.people.user.id)])
    },
    .success("things.removeOwner"),
    .refusal("things.removeOwner", "UNAUTHORIZED") { request, _ in
        request.credentials = .token(request.people.thing.token)
    },
    .refusal("things.removeOwner", "USER_NOT_FOUND") { request, _ in request.parameters["owner"] = "user:nobody" },
    .refusal("things.removeOwner", "GROUP_NOT_FOUND") { request, _ in request.nameGroup() },
]

private let ownershipRequestScenarios: [Scenario] = [
    .success("things.requestOwner") { request, _ in request.nameGroup() },
    .success("things.confirmOwner") { request, world in try await world.ask(&request) },
    .refusal("things.confirmOwner", "INVALID_INPUT_DATA") { request, _ in request.remove("code") },
    .refusal("things.confirmOwner", "UNAUTHORIZED") { request, world in
        try await world.ask(&request)
        request.credentials = .token(request.people.thing.token)
    },
    .refusal("things.confirmOwner", "INVALID_VERIFICATION_CODE") { request, world in
        try await world.ask(&request)
        try await world.succeed(request)
    },
    .refusal("things.confirmOwner", "THING_OWNERSHIP_ALREADY_EXISTS") { request, world in
        try await world.ask(&request)
        try await world.first("things.addOwner", request)
    },
]

/// Refusals because of missing users, groups and things, existing owners and malformed names.
private let missingOwnershipScenarios: [Scenario] =
    ["things.addOwner", "things.requestOwner"].flatMap { id -> [Scenario] in
        [
            .refusal(id, "USER_NOT_FOUND") { request, _ in request.parameters["owner"] = "user:nobody" },
            .refusal(id, "GROUP_NOT_FOUND") { request, _ in request.parameters["owner"] = "group:nobody" },
            .refusal(id, "THING_OWNERSHIP_ALREADY_EXISTS") { _, _ in },
        ]
    }
    + ["things.checkOwner", "things.addOwner", "things.requestOwner", "things.removeOwner"].map { id -> Scenario in
        .refusal(id, "INVALID_INPUT_DATA") { request, _ in request.parameters["owner"] = "me" }
    }
    + [
        "things.owners", "things.checkOwner", "things.addOwner", "things.addOwnerWithPassword", "things.requestOwner",
        "things.confirmOwner", "things.removeOwner",
    ].map { id -> Scenario in
        .refusal(id, "THING_NOT_FOUND") { request, _ in request.parameters["thing"] = "VENDOR_THING_ID:nothing" }
    }

extension ContractRequest {
    /// Names the group as the owner, in the path or in the body.
    fileprivate mutating func nameGroup() {
        self.parameters["owner"] = "group:\(self.people.group)"
        guard self.body != nil else { return }
        self.remove("userID")
        self.set(["groupID": JSONValue(self.people.group)])
    }
}

extension ContractWorld {
    /// Requests the group as an owner, as the thing, and puts the code into `request`.
    fileprivate func ask(_ request: inout ContractRequest) async throws {
        request.parameters["owner"] = "group:\(request.people.group)"
        let thing = ContractRequest.Credentials.token(request.people.thing.token)
        request.set(["code": try await self.first("things.requestOwner", request, as: thing)["code"] ?? .null])
    }
}
