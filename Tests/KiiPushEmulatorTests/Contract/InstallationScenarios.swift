import KiiPushCore

let installationScenarios: [Scenario] = [
    .success("installations.create"),
    .success("installations.create") { request, world in try await world.succeed(request) },
    .success("installations.create") { request, _ in request.set(["payload": "apns"]) },
    .refusal("installations.create", "INVALID_INPUT_DATA") { request, _ in request.set(["deviceType": "FAX"]) },
    .refusal("installations.create", "USER_NOT_FOUND") { request, _ in
        request.credentials = request.asAdministrator
        request.set(["userID": "nobody"])
    },
    .refusal("installations.create", "THING_NOT_FOUND") { request, _ in
        request.credentials = request.asAdministrator
        request.set(["thingID": "nothing"])
    },
    .success("installations.list") { request, world in
        try await world.first("installations.create", request)
        request.query = "?userID=\(request.people.user.id)"
    },
    .refusal("installations.list", "INVALID_INPUT_DATA") { request, _ in request.query = "?userID=a&thingID=b" },
    .refusal("installations.list", "USER_NOT_FOUND") { request, _ in request.query = "?userID=nobody" },
    .refusal("installations.list", "THING_NOT_FOUND") { request, _ in request.query = "?thingID=nothing" },
    .success("installations.get") { request, world in try await world.install(&request) },
    .refusal("installations.get", "INSTALLATION_NOT_FOUND") { request, _ in
        request.parameters["installation"] = "nothing"
    },
    .success("installations.delete") { request, world in try await world.install(&request) },
    .refusal("installations.delete", "INSTALLATION_NOT_FOUND") { request, _ in
        request.parameters["installation"] = "IOS:nothing"
    },
    .success("installations.endpoint") { request, world in try await world.install(&request) },
    .refusal("installations.endpoint", "INSTALLATION_NOT_FOUND") { request, _ in
        request.parameters["installation"] = "nothing"
    },
    .refusal("installations.endpoint", "MQTT_ENDPOINT_NOT_READY") { request, world in
        try await world.configure(["endpointDelay": 60])
        try await world.install(&request)
    },
    .refusal("installations.endpoint", "MQTT_ENDPOINT_NOT_FOUND") { request, world in
        let device = JSONValue(world.name("device"))
        try await world.install(&request, ["deviceType": "IOS", "installationRegistrationID": device])
    },
]

extension ContractWorld {
    /// Creates an installation of the caller, and makes `request` about this installation.
    func install(_ request: inout ContractRequest, _ body: JSONValue? = nil) async throws {
        let installation = try await self.first("installations.create", request, body)
        request.parameters["installation"] = installation["installationID"]?.string
    }
}
