import Contract
import Foundation
import KiiPushCore
import TestSupport
import Testing

private let calls: [ClientCall] = [
    ClientCall.users, ClientCall.tokens, ClientCall.things, ClientCall.installations, ClientCall.topics,
    ClientCall.topicAccess, ClientCall.subscriptions, ClientCall.messages, ClientCall.objects, ClientCall.commands,
].flatMap { $0 }

@Suite struct ContractClientTests {
    @Test func everyCallOfTheContractIsMade() throws {
        let contract = try Contract.load()
        for endpoint in contract.endpoints where endpoint.bindsClient {
            let methods = Set(calls.filter { $0.id == endpoint.id }.map { $0.method })
            #expect(methods == Set(endpoint.client), "\(endpoint.id)")
            #expect(!methods.isEmpty, "\(endpoint.id)")
        }
        let known = Set(contract.endpoints.filter { $0.bindsClient }.map { $0.id })
        #expect(calls.filter { !known.contains($0.id) }.map { $0.id } == [])
    }

    /// The names include every label in the order of the declaration, so readers of the pages can call the methods.
    @Test func theMethodsOfTheContractAreTheClients() throws {
        let folder = Contract.documentation.deletingLastPathComponent().appending(path: "Sources/KiiPushCore/Cloud")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var declared: Set<String> = []
        for file in files {
            let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            declared.formUnion(PublicFunctions.names(in: source))
        }
        for endpoint in try Contract.load().endpoints {
            for method in endpoint.client { #expect(declared.contains(method), "\(endpoint.id): \(method)") }
        }
    }

    @Test func namesHaveTheLabelsOfTheDeclaration() {
        let source = """
            public func one() {}
            public func two<A>(_ a: A, b: [Int: (x: Int, y: Int)] = [:], c d: (Int, Int) -> Void) async {}
            func three(a: Int) {}
            """
        #expect(PublicFunctions.names(in: source) == ["one()", "two(_:b:c:)"])
    }

    @Test(arguments: calls)
    func sendsTheRequestAndReadsEveryReply(_ row: ClientCall) async throws {
        for variant in try self.variants(of: row) {
            for status in variant.endpoint.accepted {
                let (requests, result) = await exchange(self.answer(status, row, variant)) {
                    try await row.call($0, variant)
                }
                #expect(throws: Never.self, "\(variant) \(status)") { try result.get() }
                try #require(requests.count == 1)
                try self.expect(requests[0], is: row, variant)
            }
        }
    }

    @Test(arguments: calls)
    func takesNoOtherStatusForSuccess(_ row: ClientCall) async throws {
        for variant in try self.variants(of: row) {
            for status in [200, 201, 202, 204, 206] where !variant.endpoint.accepted.contains(status) {
                let (_, result) = await exchange(self.answer(status, row, variant)) { try await row.call($0, variant) }
                let error = #expect(throws: KiiResponseError.self, "\(variant)") { try result.get() }
                #expect(error?.rule == .other("has a status that this call never has"))
                #expect(error?.status == status)
            }
        }
    }

    @Test(arguments: calls)
    func passesOnEveryRefusalWithItsFacts(_ row: ClientCall) async throws {
        let contract = try Contract.load()
        for variant in try self.variants(of: row) {
            let named = contract.errors(of: variant.endpoint).filter { $0.applies(to: variant) }.map { $0.code }
            let anytime = contract.errors.filter { $0.status >= 429 && $0.code != "MQTT_ENDPOINT_NOT_READY" }
            for code in named + anytime.map({ $0.code }) where !row.answers.contains(code) {
                let error = try #require(contract.error(code))
                let (_, result) = await exchange(error.answer) { try await row.call($0, variant) }
                let told = #expect(throws: KiiError.self, "\(variant) \(code)") { try result.get() }
                #expect(told?.status == error.status)
                #expect(told?.errorCode == code)
                #expect(told?.message == error.meaning)
                #expect(told?.context == error.expectedContext)
                #expect(told?.retryAfter == (error.hasRetryAfter ? .seconds(3) : nil))
                #expect(told?.operation.method.rawValue == variant.endpoint.method)
                #expect(try told?.operation.path == self.path(row, variant))
            }
        }
    }

    @Test func everyErrorOfTheTableReachesTheCaller() async throws {
        for error in try Contract.load().errors {
            let (_, result) = await exchange(error.answer) {
                try await $0.session(testToken).deleteTopic(Topic("news"))
            }
            let told = #expect(throws: KiiError.self, "\(error.code)") { try result.get() }
            #expect(told?.status == error.status && told?.errorCode == error.code)
            #expect(told?.context == error.expectedContext)
        }
    }

    private func variants(of row: ClientCall) throws -> [Variant] {
        let contract = try Contract.load()
        let endpoint = try #require(contract.endpoint(row.id))
        return contract.variants(of: endpoint).filter(row.makes)
    }

    private func path(_ row: ClientCall, _ variant: Variant) throws -> String {
        let contract = try Contract.load()
        return variant.path { row.parameters[$0] ?? contract.sample(of: $0) ?? "" }
    }

    private func answer(_ status: Int, _ row: ClientCall, _ variant: Variant) -> HTTPResponse {
        let replies = variant.endpoint.replies
        let reply = replies.first { $0.status == status } ?? replies.first
        let body = status == 204 ? nil : row.reply ?? reply?.sample
        return .status(status, body?.text ?? "")
    }

    private func expect(_ request: HTTPRequest, is row: ClientCall, _ variant: Variant) throws {
        let endpoint = variant.endpoint
        #expect(request.method == endpoint.method)
        let root = "https://cloud.test/\(endpoint.service.rawValue)"
        #expect(try request.url == root + self.path(row, variant) + row.query)
        let authorization: String? =
            switch endpoint.auth {
            case .none, .administrator: nil
            case .app: "Basic YTE6ay1zZWNyZXQ="  // a1:k-secret
            case .token: "Bearer t-secret"
            }
        let expected: [HTTPField?] = [
            HTTPField("X-Kii-AppID", "a1"), HTTPField("X-Kii-AppKey", "k-secret"),
            authorization.map { HTTPField("Authorization", $0) },
            (row.mediaType ?? endpoint.request.mediaTypes.first).map { HTTPField("Content-Type", $0) },
        ]
        #expect(request.fields == expected.compactMap { $0 })
        if let sample = row.body ?? endpoint.request.sample {
            #expect(try JSONValue(parsing: request.body ?? []) == sample)
        } else if endpoint.request.bytes != nil {
            #expect(request.body != nil)
        } else {
            #expect(request.body == (endpoint.request.isEmpty ? [] : nil))
        }
    }
}

extension ContractError {
    fileprivate var answer: HTTPResponse {
        var fields = [HTTPField("Content-Type", "\(self.mediaType);charset=UTF-8")]
        if self.hasRetryAfter { fields.append(HTTPField("Retry-After", "3")) }
        let context = (self.context.members ?? []).map { ($0.key, $0.value) }
        return .status(self.status, JSONValue.object(self.facts(message: self.meaning) + context).text, fields: fields)
    }

    /// The context without the waiting time, for which the client has a property.
    fileprivate var expectedContext: JSONValue {
        JSONValue(members: (self.context.members ?? []).filter { $0.key != "retryAfter" })
    }
}
