import Contract
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// Each row of the error table, provoked at a running emulator, by raw HTTP and through ``KiiClient``.
@Suite struct ContractErrorTests {
    @Test func everyErrorReachesTheClientWithItsFacts() async throws {
        try await withEmulator { client in
            let loop = try EventLoop.patient()
            defer { loop.shutdown() }
            try await self.checkEveryError(of: CloudOverHTTP(client: client), through: loop)
        }
    }

    private func checkEveryError(of cloud: CloudOverHTTP, through transport: any HTTPTransport) async throws {
        let world = try ContractWorld(cloud)
        let root = "http://127.0.0.1:\(cloud.client.port)"
        let app = KiiApp(appID: cloud.appID, appKey: Secret(cloud.appKey), baseURL: root)
        let client = KiiClient(app: app, transport: transport, timeout: .seconds(600), retry: .none)
        for error in world.contract.errors {
            let request = try await world.provoke(error)
            expect(try await world.send(request), is: error, "\(error.code)")
            try await world.restore()
            var repeated = try await world.provoke(error)
            if repeated.call(to: cloud) == nil { repeated = try await world.fault(error) }
            let (call, token) = (try #require(repeated.call(to: cloud), "\(error.code)"), repeated.token)
            let told = await #expect(throws: KiiError.self, "\(error.code)") {
                try await client.perform(call, token: token)
            }
            if let told { self.check(told, is: error) }
            try await world.restore()
        }
    }

    private func check(_ told: KiiError, is error: ContractError) {
        #expect(told.status == error.status, "\(error.code)")
        #expect(told.errorCode == error.code)
        #expect(told.message?.isEmpty == false, "\(error.code)")
        #expect((told.retryAfter != nil) == error.hasRetryAfter, "\(error.code)")
        let sample = JSONValue(members: (error.context.members ?? []).filter { $0.key != "retryAfter" })
        let differences = JSONShape.differences(of: told.context, from: sample, optional: error.optional)
        #expect(differences == [], "\(error.code)")
    }
}

extension ContractWorld {
    /// A request that the emulator answers with `error`. Where no request can cause the error, a fault does.
    func provoke(_ error: ContractError) async throws -> ContractRequest {
        if let scenario = scenarios.first(where: { $0.code == error.code }) {
            return try await scenario.prepare(self, try #require(try self.variants(of: scenario).first))
        }
        guard error.extent != nil else { return try await self.fault(error) }
        let scenario = scenarios.first { scenario in
            guard scenario.code == nil, let endpoint = self.contract.endpoint(scenario.id) else { return false }
            // ``KiiClient`` always sends the app's ID and key, so only a call with `Auth.token` can lack credentials.
            return error.applies(to: endpoint) && (error.extent != .credentials || endpoint.auth == .token)
        }
        let chosen = try #require(scenario, "\(error.code)")
        var request = try await chosen.prepare(self, try #require(try self.variants(of: chosen).first))
        try await self.make(error, in: &request)
        return request
    }

    /// Changes the request so that it fails with `error`, which many calls share.
    func make(_ error: ContractError, in request: inout ContractRequest) async throws {
        switch error.extent {
        case .user:
            var switched = request
            switched.parameters["user"] = request.people.user.id
            try await self.first("control.switchUser", switched, as: .administrator, ["disabled": true])
            request.credentials = .token(request.people.user.token)
        case .thing:
            var switched = request
            switched.parameters["thing"] = request.people.thing.id
            try await self.first("control.switchThing", switched, as: .administrator, ["disabled": true])
            request.credentials = .token(request.people.thing.token)
        case .body, .credentials, .token, .app, nil: request.commonMistake(error)
        }
    }

    /// Adds a fault with `error`, and returns a request that meets the fault.
    func fault(_ error: ContractError) async throws -> ContractRequest {
        let endpoint = try #require(self.contract.endpoint("users.get"))
        let variant = try #require(self.contract.variants(of: endpoint).first)
        let request = try await self.request(variant)
        try await self.first(
            "control.addFault",
            request,
            as: .administrator,
            [
                "method": "GET", "path": "/api/apps/*/users/*", "status": JSONValue(error.status),
                "errorCode": JSONValue(error.code), "members": error.context,
            ]
        )
        return request
    }
}

extension ContractRequest {
    mutating func commonMistake(_ error: ContractError) {
        switch error.extent {
        case .credentials: self.credentials = .none
        case .token: self.credentials = .token("unknown")
        case .app: self.parameters["app"] = "another"
        case .body: self.bytes = Array((error.code == "INVALID_JSON" ? "{" : "[]").utf8)
        case .user, .thing, nil: break
        }
    }
}
