import KiiPushCore

private let sends = ["commands.send", "commands.sendByTraits"]
private let reports = ["commands.report", "commands.reportByTraits"]
private let onCommands = ["commands.get"] + reports
private let onTargets = ["commands.list"] + sends + onCommands

let commandScenarios: [Scenario] =
    sendScenarios + reportScenarios + lookScenarios
    + onCommands.map { id -> Scenario in .refusal(id, "COMMAND_NOT_FOUND") { _, _ in } }
    + onTargets.map { id -> Scenario in
        .refusal(id, "TARGET_NOT_FOUND") { request, _ in request.parameters["target"] = "thing:th.nothing" }
    }

private let sendScenarios = sends.flatMap { id -> [Scenario] in
    [
        .success(id) { request, _ in request.issue() },
        .refusal(id, "WRONG_COMMAND") { request, _ in
            request.issue()
            request.set(["actions": []])
        },
        .refusal(id, "INVALID_INPUT_DATA") { request, _ in
            request.issue()
            request.set(["title": JSONValue(String(repeating: "x", count: 51))])
        },
        .refusal(id, "USER_NOT_FOUND") { request, _ in request.set(["issuer": "user:nobody"]) },
        .refusal(id, "GROUP_NOT_FOUND") { request, _ in request.set(["issuer": "group:nobody"]) },
    ]
}

private let reportScenarios = zip(reports, sends).flatMap { id, send -> [Scenario] in
    [
        .success(id) { request, world in
            try await world.command(send, for: &request)
            request.credentials = .token(request.people.thing.token)
        },
        .refusal(id, "INVALID_INPUT_DATA") { request, world in
            try await world.command(send, for: &request)
            request.set(["actionResults": []])
        },
    ]
}

private let lookScenarios: [Scenario] = [
    .success("commands.get") { request, world in try await world.command("commands.send", for: &request) },
    .success("commands.list") { request, world in
        try await world.command("commands.send", for: &request)
        request.query = "?bestEffortLimit=10"
    },
    .refusal("commands.list", "INVALID_INPUT_DATA") { request, _ in request.query = "?bestEffortLimit=0" },
]

extension ContractRequest {
    /// Names the scenario's user, who owns the thing, as the issuer.
    fileprivate mutating func issue() { self.set(["issuer": JSONValue("user:\(self.people.user.id)")]) }
}

extension ContractWorld {
    /// Sends a command to the scenario's thing, and makes `request` about this command.
    fileprivate func command(_ id: String, for request: inout ContractRequest) async throws {
        var prior = try self.blank(id, people: request.people)
        prior.issue()
        request.parameters["command"] = try await self.succeed(prior)["commandID"]?.string
    }
}
