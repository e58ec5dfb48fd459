import KiiPushCore

let groupScenarios: [Scenario] =
    [
        "groups.get", "groups.rename", "groups.delete", "groups.changeOwner", "groups.members", "groups.addMember",
        "groups.removeMember",
    ].map { id -> Scenario in
        .refusal(id, "GROUP_NOT_FOUND") { request, _ in request.parameters["group"] = "nothing" }
    }
    + ["groups.create", "groups.createWithID"].flatMap { id -> [Scenario] in
        [
            .success(id) { request, world in request.parameters["group"] = world.name("team") },
            .refusal(id, "INVALID_INPUT_DATA") { request, world in
                request.parameters["group"] = world.name("team")
                request.remove("name")
            },
            .refusal(id, "USER_NOT_FOUND") { request, world in
                request.parameters["group"] = world.name("team")
                request.set(["owner": "nobody"])
            },
        ]
    } + [
        .refusal("groups.createWithID", "INVALID_INPUT_DATA") { request, _ in request.parameters["group"] = "Team" },
        .refusal("groups.createWithID", "GROUP_ALREADY_EXISTS") { _, _ in },
        .success("groups.list") { request, _ in request.query = "?is_member=\(request.people.user.id)" },
        .success("groups.list") { request, _ in request.query = "?owner=\(request.people.user.id)" },
        .success("groups.list") { request, _ in request.credentials = request.asAdministrator },
        .refusal("groups.list", "USER_NOT_FOUND") { request, _ in request.query = "?is_member=nobody" },
        .success("groups.get"),
        .success("groups.rename") { request, _ in request.bytes = Array("new name".utf8) },
        .refusal("groups.rename", "INVALID_INPUT_DATA") { request, _ in request.bytes = [] },
        .success("groups.delete"),
        .success("groups.changeOwner") { request, world in
            request.set(["owner": JSONValue(try await world.register().account.id)])
        },
        .refusal("groups.changeOwner", "INVALID_INPUT_DATA") { request, _ in request.remove("owner") },
        .refusal("groups.changeOwner", "USER_NOT_FOUND") { request, _ in request.set(["owner": "nobody"]) },
        .success("groups.members"),
        .success("groups.addMember") { request, world in
            request.parameters["user"] = try await world.register().account.id
        },
        .success("groups.addMember"),
        .refusal("groups.addMember", "USER_NOT_FOUND") { request, _ in request.parameters["user"] = "nobody" },
        .success("groups.removeMember"),
        .refusal("groups.removeMember", "USER_NOT_FOUND") { request, world in try await world.succeed(request) },
    ]
