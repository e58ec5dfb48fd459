import Contract
import Foundation
import KiiPushCore
import KiiPushEmulator
import Testing

final class ContractWorld: Sendable {
    let contract: Contract
    let cloud: any CloudUnderTest
    private let counter = Locked(0)

    init(_ cloud: any CloudUnderTest) throws {
        self.contract = try Contract.load()
        self.cloud = cloud
    }

    /// An unused name.
    func name(_ stem: String) -> String {
        self.counter.withLock { counter in
            counter += 1
            return "\(stem)-\(counter)"
        }
    }

    func send(_ request: ContractRequest, method: String? = nil) async throws -> CloudAnswer {
        try await self.cloud.send(request.incoming(to: self.cloud, method: method))
    }

    /// Sends a request and requires success.
    @discardableResult
    func succeed(_ request: ContractRequest) async throws -> JSONValue {
        let answer = try await self.send(request)
        let text = "\(request.variant): \(answer.status) \(answer.json)"
        try #require((200..<300).contains(answer.status), "\(text)")
        return answer.json
    }

    /// Makes the prior call `id` in the scope and with the parameters of `request`.
    @discardableResult
    func first(
        _ id: String,
        _ request: ContractRequest,
        as credentials: ContractRequest.Credentials? = nil,
        _ body: JSONValue? = nil,
        bytes: [UInt8]? = nil
    ) async throws -> JSONValue {
        var prior = try self.blank(id, like: request.variant, people: request.people)
        prior.parameters.merge(request.parameters) { $1 }
        if let credentials { prior.credentials = credentials }
        if let body { prior.body = body }
        prior.bytes = bytes
        return try await self.succeed(prior)
    }

    /// The call of `variant` with the contract's sample as its body, as a caller who may make it.
    func request(_ variant: Variant) async throws -> ContractRequest {
        try await self.request(variant, self.people())
    }

    func request(_ variant: Variant, _ people: People) throws -> ContractRequest {
        let endpoint = variant.endpoint
        let scopeToken =
            switch variant.labels["scope"] {
            case "user scope", "group scope": people.user.token
            case "thing scope": people.thing.token
            case "app scope": people.admin
            default: people.user.token
            }
        let credentials: ContractRequest.Credentials =
            switch endpoint.auth {
            case .none: .none
            case .app: .app
            case .token: .token(scopeToken)
            case .administrator: .administrator
            }
        return ContractRequest(
            variant: variant,
            parameters: [
                "user": people.user.id, "thing": people.thing.id, "group": people.group,
                "subscribingUser": people.user.id, "subscribingThing": people.thing.id,
                "owner": "user:\(people.user.id)", "topic": self.name("topic"), "bucket": self.name("bucket"),
                "filter": "all", "object": self.name("object"), "verb": "SUBSCRIBE_TO_TOPIC",
                "subject": "UserID:\(people.user.id)", "target": "thing:\(people.thing.id)",
            ],
            credentials: credentials,
            body: endpoint.request.sample,
            mediaType: endpoint.request.mediaTypes.first,
            people: people
        )
    }

    /// The call `id`, with the choices of `variant` where both have them.
    func blank(_ id: String, like variant: Variant? = nil, people: People) throws -> ContractRequest {
        let endpoint = try #require(self.contract.endpoint(id), "\(id)")
        let candidates = self.contract.variants(of: endpoint)
        let like = candidates.first { candidate in
            candidate.labels.allSatisfy { name, label in
                let chosen = variant?.labels[name]
                return chosen == nil || chosen == label
            }
        }
        return try self.request(try #require(like), people)
    }

    /// Changes the emulator's settings until ``restore()``.
    func configure(_ settings: JSONValue) async throws {
        try await self.change("control.changeApp", settings)
    }

    /// Restores the settings from before ``configure(_:)`` and removes all faults.
    func restore() async throws {
        try await self.change(
            "control.changeApp",
            [
                "disabled": false, "endpointDelay": 0, "mqttTTL": .null, "tokenLifetime": .null,
                "refreshTokens": true, "requirePasswordForThingOwnership": false, "requestLimit": .null,
                "networks": ["gcm": true, "fcm": true, "apns": true, "jpush": true],
            ]
        )
        try await self.change("control.removeFaults", nil)
    }

    private func change(_ id: String, _ body: JSONValue?) async throws {
        var request = try self.blank(id, people: self.nobody)
        request.body = body
        try await self.succeed(request)
    }

    // MARK: - People

    func people() async throws -> People {
        let user = try await self.register()
        let thing = try await self.registerThing()
        let admin = try await self.admin()
        var people = People(
            user: user.account,
            userName: user.name,
            thing: thing.account,
            vendorThingID: thing.name,
            group: "",
            admin: admin
        )
        var owning = try self.blank("things.addOwner", people: people)
        owning.credentials = .token(admin)
        try await self.succeed(owning)
        var grouping = try self.blank("groups.create", people: people)
        grouping.body = ["name": "team"]
        people.group = try #require(try await self.succeed(grouping)["groupID"]?.string)
        return people
    }

    private var nobody: People {
        let none = CloudHarness.Account(id: "", token: "")
        return People(user: none, userName: "", thing: none, vendorThingID: "", group: "", admin: "")
    }

    func register() async throws -> (account: CloudHarness.Account, name: String) {
        let name = self.name("user")
        var request = try self.blank("users.register", people: self.nobody)
        request.body = [
            "loginName": JSONValue(name), "emailAddress": JSONValue("\(name)@example.com"),
            "password": JSONValue(People.password), "displayName": "Al",
        ]
        let id = try #require(try await self.succeed(request)["userID"]?.string)
        return (CloudHarness.Account(id: id, token: try await self.login(name)), name)
    }

    func login(_ name: String) async throws -> String {
        var login = try self.blank("token.user", people: self.nobody)
        login.body = ["username": JSONValue(name), "password": JSONValue(People.password)]
        return try #require(try await self.succeed(login)["access_token"]?.string)
    }

    func registerThing() async throws -> (account: CloudHarness.Account, name: String) {
        let name = self.name("thing")
        var request = try self.blank("things.registerWithToken", people: self.nobody)
        request.body = [
            "_vendorThingID": JSONValue(name), "_password": JSONValue(People.password), "_thingType": "lamp",
            "_vendor": "ACME",
        ]
        let thing = try await self.succeed(request)
        let id = try #require(thing["_thingID"]?.string)
        return (CloudHarness.Account(id: id, token: try #require(thing["_accessToken"]?.string)), name)
    }

    func admin() async throws -> String {
        var request = try self.blank("token.administrator", people: self.nobody)
        request.body = [
            "client_id": JSONValue(self.cloud.clientID), "client_secret": JSONValue(self.cloud.clientSecret),
        ]
        return try #require(try await self.succeed(request)["access_token"]?.string)
    }
}

enum Base64Text {
    static func encode(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
}
