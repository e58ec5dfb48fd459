import Contract
import KiiPushCore

let controlScenarios: [Scenario] = [
    .success("control.app"),
    .success("control.changeApp"),
    .refusal("control.changeApp", "INVALID_INPUT_DATA") { request, _ in request.set(["speed": 9]) },
    .success("control.switchUser"),
    .refusal("control.switchUser", "INVALID_INPUT_DATA") { request, _ in request.body = [:] },
    .refusal("control.switchUser", "USER_NOT_FOUND") { request, _ in request.parameters["user"] = "nobody" },
    .success("control.switchThing"),
    .refusal("control.switchThing", "INVALID_INPUT_DATA") { request, _ in request.set(["disabled": 1]) },
    .refusal("control.switchThing", "THING_NOT_FOUND") { request, _ in request.parameters["thing"] = "nothing" },
    .success("control.rotate") { request, world in try await world.install(&request) },
    .refusal("control.rotate", "INSTALLATION_NOT_FOUND") { request, _ in
        request.parameters["installation"] = "nothing"
    },
    .refusal("control.rotate", "MQTT_ENDPOINT_NOT_FOUND") { request, world in
        let device = JSONValue(world.name("device"))
        try await world.install(&request, ["deviceType": "IOS", "installationRegistrationID": device])
    },
    .success("control.faults") { request, world in try await world.first("control.addFault", request) },
    .success("control.addFault"),
    .refusal("control.addFault", "INVALID_INPUT_DATA") { request, _ in request.set(["status": 200]) },
    .refusal("control.addFault", "FAULT_PROXY_MISSING") { request, _ in request.body = ["script": "renumber"] },
    .success("control.removeFaults"),
    .success("control.reset"),
]

/// Refusals that every call can have, each provoked at one call.
let anywhereScenarios: [Scenario] = [
    .refusal("users.get", "APP_DISABLED") { _, world in try await world.configure(["disabled": true]) },
    .refusal("users.get", "TOO_MANY_REQUESTS") { request, world in
        try await world.configure(["requestLimit": ["requests": 1, "seconds": 60]])
        try await world.succeed(request)
    },
    .refusal("users.get", "USER_DISABLED") { request, world in
        try await world.first("control.switchUser", request, as: .administrator)
    },
    .refusal("things.get", "THING_DISABLED") { request, world in
        try await world.first("control.switchThing", request, as: .administrator)
        request.credentials = .token(request.people.thing.token)
    },
    .refusal("users.get", "RESOURCE_NOT_FOUND") { request, _ in request.variant.path = "/nowhere" },
    .refusal("users.get", "METHOD_NOT_ALLOWED") { request, _ in request.variant.endpoint.method = "PUT" },
]

let inspectionScenarios: [Scenario] = [
    .success("inspection.principals"),
    .success("inspection.installations") { request, world in
        let token = ContractRequest.Credentials.token(request.people.user.token)
        try await world.first("installations.create", request, as: token)
    },
    .success("inspection.topics") { request, world in try await world.first("topics.create", inUserScope: request) },
    .success("inspection.subscriptions") { request, world in
        try await world.first("topics.create", inUserScope: request)
        try await world.first("subscriptions.subscribe", inUserScope: request)
    },
    .success("inspection.buckets") { request, world in try await world.first("objects.put", inUserScope: request) },
    .success("inspection.messages") { request, world in
        _ = try await world.sent(request)
        request.query = "?after=0&limit=10"
    },
    .refusal("inspection.messages", "INVALID_INPUT_DATA") { request, _ in request.query = "?limit=many" },
    .success("inspection.message") { request, world in request.parameters["id"] = try await world.sent(request) },
    .refusal("inspection.message", "MESSAGE_NOT_FOUND") { request, _ in request.parameters["id"] = "nothing" },
]

extension ContractWorld {
    /// Makes a prior call in the scope of the scenario's user.
    fileprivate func first(_ id: String, inUserScope request: ContractRequest) async throws {
        var scoped = request
        scoped.variant.labels = ["scope": "user scope", "source": "topic", "subscriber": "user subscriber"]
        try await self.first(id, scoped, as: .token(request.people.user.token))
    }

    /// Sends a message to the scenario's user and returns the message's ID.
    fileprivate func sent(_ request: ContractRequest) async throws -> String? {
        let answer = try await self.first("messages.sendToUser", request, as: request.asAdministrator)
        return answer["pushMessageID"]?.string
    }
}
