import KiiPushCore

let accountScenarios: [Scenario] = [
    .success("users.register") { $0.set(["loginName": JSONValue($1.name("alice"))]) },
    .refusal("users.register", "INVALID_INPUT_DATA") { request, _ in request.set(["password": "abc"]) },
    .refusal("users.register", "USER_ALREADY_EXISTS") { request, _ in
        request.set(["loginName": JSONValue(request.people.userName)])
    },
    .success("users.registerPseudo"),
    .refusal("users.registerPseudo", "INVALID_INPUT_DATA") { request, _ in request.set(["displayName": 1]) },
    .success("users.registerWithToken") { $0.set(["loginName": JSONValue($1.name("alice"))]) },
    .refusal("users.registerWithToken", "INVALID_INPUT_DATA") { request, _ in request.remove("loginName") },
    .refusal("users.registerWithToken", "USER_ALREADY_EXISTS") { request, _ in
        request.set(["loginName": JSONValue(request.people.userName)])
    },
    .success("users.get"),
    .success("users.update"),
    .refusal("users.update", "INVALID_INPUT_DATA") { request, _ in request.set(["password": "another"]) },
    .refusal("users.update", "USER_ALREADY_EXISTS") { request, world in
        request.set(["loginName": JSONValue(try await world.register().name)])
    },
    .refusal("users.update", "USER_NOT_FOUND") { request, _ in request.parameters["user"] = "nobody" },
    .refusal("users.get", "USER_NOT_FOUND") { request, _ in request.parameters["user"] = "nobody" },
    .success("users.changePassword") { request, _ in request.set(["oldPassword": JSONValue(People.password)]) },
    .refusal("users.changePassword", "PASSWORD_TOO_SHORT") { request, _ in request.set(["newPassword": "abc"]) },
    .refusal("users.changePassword", "INVALID_INPUT_DATA") { request, _ in request.remove("oldPassword") },
    .refusal("users.changePassword", "OPERATION_NOT_ALLOWED") { request, world in
        let pseudo = try await world.first("users.registerPseudo", request, as: .app)
        request.parameters["user"] = pseudo["userID"]?.string
        request.credentials = .token(pseudo["_accessToken"]?.string ?? "")
    },
    .refusal("users.changePassword", "WRONG_PASSWORD") { request, _ in request.set(["oldPassword": "another"]) },
    .refusal("users.changePassword", "USER_NOT_FOUND") { request, _ in
        request.parameters["user"] = "LOGIN_NAME:nobody"
    },
    .success("users.delete"),
    .refusal("users.delete", "USER_NOT_FOUND") { request, _ in request.parameters["user"] = "nobody" },
]

let addressScenarios: [Scenario] =
    [("users.changeEmailAddress", "emailAddress"), ("users.changePhoneNumber", "phoneNumber")].flatMap {
        id, field -> [Scenario] in
        [
            .success(id) { request, world in request.set([field: JSONValue(world.name("al") + "@example.com")]) },
            .refusal(id, "INVALID_INPUT_DATA") { request, _ in request.set([field: ""]) },
            .refusal(id, "UNAUTHORIZED") { request, _ in request.set(["verified": true]) },
            .refusal(id, "USER_ALREADY_EXISTS") { request, world in
                request.set([field: JSONValue(world.name("al") + "@example.com")])
                var other = request
                let account = try await world.register().account
                other.parameters["user"] = account.id
                other.credentials = .token(account.token)
                try await world.succeed(other)
            },
            .refusal(id, "USER_NOT_FOUND") { request, _ in request.parameters["user"] = "nobody" },
        ]
    }

let tokenScenarios: [Scenario] = [
    .success("token.user") { request, _ in
        request.set(["username": JSONValue(request.people.userName), "password": JSONValue(People.password)])
    },
    .refusal("token.user", "invalid_grant") { request, world in
        request.set(["username": JSONValue(world.name("nobody"))])
    },
    .refusal("token.user", "INVALID_INPUT_DATA") { request, _ in
        request.set(["username": JSONValue(request.people.userName), "expiresAt": 1])
    },
    .refusal("token.user", "OAUTH2_ERROR") { request, _ in request.set(["grant_type": "mind_reading"]) },
    .success("token.thing") { request, _ in
        request.set([
            "username": JSONValue("VENDOR_THING_ID:\(request.people.vendorThingID)"),
            "password": JSONValue(People.password),
        ])
    },
    .refusal("token.thing", "invalid_grant") { request, _ in
        request.set(["username": JSONValue("VENDOR_THING_ID:\(request.people.vendorThingID)"), "password": "x"])
    },
    .refusal("token.user", "USER_DISABLED") { request, world in
        try await world.first("control.switchUser", request, as: .administrator)
        request.set(["username": JSONValue(request.people.userName), "password": JSONValue(People.password)])
    },
    .refusal("token.thing", "THING_DISABLED") { request, world in
        try await world.first("control.switchThing", request, as: .administrator)
        request.set([
            "username": JSONValue("VENDOR_THING_ID:\(request.people.vendorThingID)"),
            "password": JSONValue(People.password),
        ])
    },
    .success("token.administrator") { request, world in
        request.set([
            "client_id": JSONValue(world.cloud.clientID), "client_secret": JSONValue(world.cloud.clientSecret),
        ])
    },
    .refusal("token.administrator", "invalid_client") { request, world in
        request.set(["client_id": JSONValue(world.cloud.clientID), "client_secret": "wrong"])
    },
    .refusal("token.administrator", "INVALID_INPUT_DATA") { request, _ in request.remove("client_secret") },
    .refusal("token.anonymous", "INVALID_INPUT_DATA") { request, _ in request.set(["client_id": 1]) },
    .success("token.anonymous") { request, world in
        request.set(["client_id": JSONValue(world.cloud.appID), "client_secret": JSONValue(world.cloud.appKey)])
    },
    .refusal("token.anonymous", "invalid_client") { request, world in
        request.set(["client_id": "another", "client_secret": JSONValue(world.cloud.appKey)])
    },
    .success("token.refresh") { request, world in
        request.set(["refresh_token": try await world.refreshToken(request)])
    },
    .refusal("token.refresh", "INVALID_INPUT_DATA") { request, _ in request.remove("refresh_token") },
    .refusal("token.refresh", "OPERATION_NOT_SUPPORTED") { request, world in
        request.set(["refresh_token": try await world.refreshToken(request)])
        try await world.configure(["refreshTokens": false])
    },
    .refusal("token.refresh", "WRONG_REFRESH_TOKEN") { request, world in
        request.set(["refresh_token": try await world.refreshToken(request)])
        try await world.succeed(request)
    },
]

extension ContractWorld {
    fileprivate func refreshToken(_ request: ContractRequest) async throws -> JSONValue {
        let login: JSONValue = [
            "username": JSONValue(request.people.userName), "password": JSONValue(People.password),
        ]
        return try await self.first("token.user", request, login)["refresh_token"] ?? .null
    }
}
