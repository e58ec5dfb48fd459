import Contract
import Foundation
import KiiPushCore
import KiiPushEmulator
import Testing

/// Malformed bodies and paths: the emulator refuses them with a status and code of the error table, and changes
/// nothing.
@Suite struct ContractInputTests {
    private static let withBodies = scenarios.filter { scenario in
        guard scenario.code == nil, let contract = try? Contract.load() else { return false }
        return contract.endpoint(scenario.id)?.request.sample != nil
    }

    @Test(arguments: withBodies)
    func malformedBodiesAreNoJSON(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        let deep = String(repeating: "[", count: 100_000)
        for text in ["{", "[1,2", "\u{0}", #"{"a":}"#, "nul", #"{"a":1}x"#, #"{"a":"\ud800"}"#, deep] {
            var request = try await world.anyRequest(of: scenario)
            request.bytes = Array(text.utf8)
            try await world.expectRefusal(of: request, ["INVALID_JSON"], "\(text.prefix(20))")
        }
        for text in ["[]", "1", "\"x\"", "null"] {
            var request = try await world.anyRequest(of: scenario)
            request.bytes = Array(text.utf8)
            try await world.expectRefusal(of: request, ["INVALID_INPUT_DATA"], text)
        }
    }

    @Test(arguments: withBodies)
    func membersOfOtherTypesAreRefused(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        let values: [(String, JSONValue)] = [
            ("string", "text"), ("boolean", true), ("integer", 7), ("number", 1.5), ("array", ["x"]),
            ("object", ["x": 1]),
        ]
        let endpoint = try #require(world.contract.endpoint(scenario.id))
        for member in endpoint.request.members {
            for (type, value) in values where !member.types.contains(type) {
                // Every integer is a number too.
                guard type != "integer" || !member.types.contains("number") else { continue }
                var request = try await world.anyRequest(of: scenario)
                request.set([member.name: value])
                let codes: Set = ["INVALID_INPUT_DATA", "OAUTH2_ERROR"]
                try await world.expectRefusal(of: request, codes, "\(member.name) as \(type)")
            }
        }
    }

    @Test(arguments: withBodies)
    func neededMembersAreMissed(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        let endpoint = try #require(world.contract.endpoint(scenario.id))
        for member in endpoint.request.members where member.isRequired {
            for isNull in [false, true] {
                var request = try await world.anyRequest(of: scenario)
                if isNull { request.set([member.name: .null]) } else { request.remove(member.name) }
                let codes: Set = ["INVALID_INPUT_DATA", "OAUTH2_ERROR"]
                try await world.expectRefusal(of: request, codes, "without \(member.name)")
            }
        }
    }

    @Test(arguments: withBodies)
    func furtherAndLongMembersDoNoHarm(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        let long = JSONValue(String(repeating: "x", count: 1 << 20))
        for value in [JSONValue(1), long, ["deep": ["er": [1, 2]]], .null] {
            var request = try await world.anyRequest(of: scenario)
            request.set(["further": value])
            try await world.expectOrder(request, "further \(value.kind)")
        }
        let endpoint = try #require(world.contract.endpoint(scenario.id))
        for member in endpoint.request.members where member.types.contains("string") {
            var request = try await world.anyRequest(of: scenario)
            request.set([member.name: long])
            try await world.expectOrder(request, "long \(member.name)")
        }
    }

    @Test(arguments: withBodies)
    func unknownMediaTypesAreRefused(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        for type in ["text/plain", "application/vnd.kii.Unknown+xml", "", "/", "json"] {
            var request = try await world.anyRequest(of: scenario)
            let rules = request.variant.endpoint.request
            guard !rules.takesAnyMediaType, !type.isEmpty || !rules.needsNoMediaType else { continue }
            request.mediaType = type
            try await world.expectRefusal(of: request, ["INVALID_INPUT_DATA"], type)
        }
    }

    @Test(arguments: scenarios.filter { $0.code == nil })
    func oddPathsLeadNowhere(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        let odd = [
            "..", ".", "%2e%2e", "a%2Fb", "%2F", "%00", "%0d%0aX-A:%20b", "%C3%28", "%zz", "%", "%F0%9F%92%A1", "a%20b",
            "a;b", "'--", "%3Cb%3E", String(repeating: "x", count: 8000), ":", "LOGIN_NAME:", "VENDOR_THING_ID:",
            "MQTT:",
        ]
        let prepared = try await world.anyRequest(of: scenario)
        for name in prepared.variant.parameterNames {
            for value in odd {
                var request = prepared
                request.parameters[name] = value
                try await world.expectOrder(request, "\(name) \(value.prefix(20))")
            }
        }
    }
}

extension ContractWorld {
    /// The request of a scenario in the first of its variants.
    func anyRequest(of scenario: Scenario) async throws -> ContractRequest {
        try await scenario.prepare(self, try #require(try self.variants(of: scenario).first))
    }

    /// Expects a refusal with one of `codes`, and an unchanged state.
    func expectRefusal(of request: ContractRequest, _ codes: Set<String>, _ what: String) async throws {
        let before = try await self.state()
        let answer = try await self.send(request)
        let comment: Comment = "\(request.variant), \(what): \(answer.status) \(answer.json)"
        #expect(answer.code.map { codes.contains($0) } ?? false, comment)
        #expect(answer.status == answer.code.flatMap { self.contract.error($0)?.status }, comment)
        #expect(answer.effects == EmulatedCloud.Effects(), comment)
        #expect(try await self.state() == before, comment)
    }

    /// Expects success, or a refusal with a code of the error table and an unchanged state.
    func expectOrder(_ request: ContractRequest, _ what: String) async throws {
        let before = try await self.state()
        let answer = try await self.send(request)
        let comment: Comment = "\(request.variant), \(what): \(answer.status) \(answer.json)"
        if (200..<300).contains(answer.status) { return }
        #expect(answer.status < 500, comment)
        #expect(answer.status == answer.code.flatMap { self.contract.error($0)?.status }, comment)
        self.expectListed(answer, request, method: request.variant.endpoint.method, comment)
        if let effects = answer.effects { #expect(effects == EmulatedCloud.Effects(), comment) }
        #expect(try await self.state() == before, comment)
    }

    /// Expects that the contract lists the answer's code for the call.
    func expectListed(_ answer: CloudAnswer, _ request: ContractRequest, method: String, _ comment: Comment) {
        let target = request.incoming(to: self.cloud).target
        // A path that cannot be percent-decoded belongs to no known call.
        guard target.removingPercentEncoding != nil, let code = answer.code else { return }
        let names = request.variant.parameterNames.compactMap { request.parameters[$0] }
        guard names.allSatisfy({ !$0.isEmpty && !$0.contains("/") }) else { return }
        let endpoint = request.variant.endpoint
        let codes = self.contract.codes(for: method, at: request.variant.path, of: endpoint.service)
        #expect(codes.contains(code), "not in the contract: \(method) \(request.variant) \(code); \(comment)")
    }

    /// All lists and settings that the emulator shows.
    func state() async throws -> [JSONValue] {
        var state: [JSONValue] = []
        for path in ["app", "faults", "principals", "installations", "topics", "subscriptions", "buckets", "messages"] {
            let pair = Base64Text.encode("\(self.cloud.clientID):\(self.cloud.clientSecret)")
            let request = IncomingRequest(
                method: "GET",
                target: "/__kii/\(path)",
                fields: [HTTPField("Authorization", "Basic \(pair)")],
                body: []
            )
            let answer = try await self.cloud.send(request)
            try #require(answer.status == 200)
            state.append(answer.json)
        }
        return state
    }
}
