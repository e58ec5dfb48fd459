import Contract
import KiiPushCore

let thingScenarios: [Scenario] =
    ["things.register", "things.registerWithToken"].flatMap { id -> [Scenario] in
        [
            .success(id) { $0.set(["_vendorThingID": JSONValue($1.name("lamp"))]) },
            .refusal(id, "INVALID_INPUT_DATA") { request, _ in request.set(["_vendorThingID": "a b"]) },
            .refusal(id, "THING_ALREADY_EXISTS") { request, _ in
                request.set(["_vendorThingID": JSONValue(request.people.vendorThingID)])
            },
        ]
    } + [
        .success("things.get"),
        .success("things.get", 204) { request, _ in request.variant.endpoint.method = "HEAD" },
        .refusal("things.get", "THING_NOT_FOUND") { request, _ in request.parameters["thing"] = "th.nothing" },
        .success("things.update"),
        .refusal("things.update", "INVALID_INPUT_DATA") { request, _ in request.set(["_lot": 7]) },
        .success("things.status"),
        .success("things.changeStatus"),
        .refusal("things.changeStatus", "INVALID_INPUT_DATA") { request, _ in request.body = [:] },
        .refusal("things.changeStatus", "UNAUTHORIZED") { request, _ in
            request.credentials = .token(request.people.thing.token)
        },
        .success("things.delete"),
    ]
    + ["things.update", "things.status", "things.changeStatus", "things.delete"].map { id -> Scenario in
        .refusal(id, "THING_NOT_FOUND") { request, _ in request.parameters["thing"] = "th.nothing" }
    }

/// Onboarding by the vendor's ID registers a new thing; onboarding by thing ID uses the scenario's thing.
let onboardingScenarios: [Scenario] =
    ["onboarding.byThing", "onboarding.byOwner"].flatMap { id -> [Scenario] in
        [
            .success(id) { request, world in request.onboard(id, world.name("lamp")) },
            .refusal(id, "INVALID_INPUT_DATA") { request, _ in request.onboard(id, "a b") },
            .refusal(id, "WRONG_PASSWORD") { request, _ in
                request.onboard(id, request.people.vendorThingID)
                request.set(["thingPassword": "another"])
            },
            .refusal(id, "THING_DISABLED") { request, world in
                try await world.first("control.switchThing", request, as: .administrator)
                request.onboard(id, request.people.vendorThingID)
            },
        ]
    }
    + ["onboarding.byThingWithThingID", "onboarding.byOwnerWithThingID"].flatMap { id -> [Scenario] in
        [
            .success(id) { request, _ in request.onboard(id, request.people.thing.id) },
            .refusal(id, "INVALID_INPUT_DATA") { request, _ in
                request.onboard(id, request.people.thing.id)
                request.remove("thingPassword")
            },
            .refusal(id, "THING_NOT_FOUND") { request, _ in request.onboard(id, "th.nothing") },
            .refusal(id, "WRONG_PASSWORD") { request, _ in
                request.onboard(id, request.people.thing.id)
                request.set(["thingPassword": "another"])
            },
            .refusal(id, "THING_DISABLED") { request, world in
                try await world.first("control.switchThing", request, as: .administrator)
                request.onboard(id, request.people.thing.id)
            },
        ]
    }
    + ["onboarding.byOwner", "onboarding.byOwnerWithThingID"].flatMap { id in
        [("user", "USER_NOT_FOUND"), ("group", "GROUP_NOT_FOUND")].map { kind, code in
            .refusal(id, code) { request, world in
                request.onboard(id, world.name("lamp"))
                request.set(["owner": JSONValue("\(kind):nobody")])
                request.credentials = request.asAdministrator
            }
        }
    }

extension ContractRequest {
    /// Names the thing by the vendor's ID or the thing ID, as the call expects, and the owner if the call needs one.
    fileprivate mutating func onboard(_ id: String, _ thing: String) {
        let isRegistered = id.hasSuffix("WithThingID")
        self.set([
            isRegistered ? "thingID" : "vendorThingID": JSONValue(thing),
            "thingPassword": JSONValue(People.password),
        ])
        if id.contains("byOwner") { self.set(["owner": JSONValue("user:\(self.people.user.id)")]) }
    }
}
