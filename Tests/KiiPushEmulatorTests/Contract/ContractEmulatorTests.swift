import Contract
import KiiPushCore
import KiiPushEmulator
import Testing

/// The scenarios that provoke each of the contract's answers.
let scenarios: [Scenario] = [
    accountScenarios, addressScenarios, groupScenarios, tokenScenarios, thingScenarios, ownershipScenarios,
    onboardingScenarios,
    installationScenarios, topicScenarios, topicAccessScenarios, subscriptionScenarios, messageScenarios,
    objectScenarios, commandScenarios, controlScenarios, inspectionScenarios, anywhereScenarios,
].flatMap { $0 }

/// The emulator has exactly the contract's calls, and gives every answer of the contract.
@Suite struct ContractEmulatorTests {
    @Test func theRoutesAreTheContracts() throws {
        let contract = try Contract.load()
        let routes = Set(
            RouteTable.listing.map { line in
                let words = line.split(separator: " ")
                return Contract.route(String(words[0]), String(words[1]))
            }
        )
        #expect(contract.routes.subtracting(routes).sorted() == [])
        #expect(routes.subtracting(contract.routes).sorted() == [])
    }

    @Test func everyAnswerHasAScenario() throws {
        let contract = try Contract.load()
        for endpoint in contract.endpoints {
            let own = scenarios.filter { $0.id == endpoint.id }
            let successes = own.filter { $0.code == nil }
            for reply in endpoint.replies {
                #expect(
                    successes.contains { $0.status ?? endpoint.replies.first?.status == reply.status },
                    "\(endpoint.id) \(reply.status)"
                )
            }
            for error in endpoint.errors {
                #expect(own.contains { $0.code == error.code }, "\(endpoint.id) \(error.code)")
            }
        }
        for error in contract.errors where error.extent == nil && !error.isFault {
            #expect(scenarios.contains { $0.code == error.code }, "\(error.code)")
        }
        let known = Set(contract.endpoints.map { $0.id })
        #expect(scenarios.filter { !known.contains($0.id) }.map { $0.id } == [])
    }

    @Test(arguments: scenarios.filter { $0.code == nil })
    func answersAsTheContractSays(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        for variant in try world.variants(of: scenario) {
            let endpoint = variant.endpoint
            let status = scenario.status ?? endpoint.replies.first?.status
            let reply = try #require(endpoint.replies.first { $0.status == status })
            for mediaType in endpoint.request.mediaTypes.isEmpty
                ? [nil] : endpoint.request.mediaTypes.map(Optional.some)
            {
                var request = try await scenario.prepare(world, variant)
                request.mediaType = mediaType
                let answer = try await world.send(request)
                expect(answer, is: reply, "\(variant) \(mediaType ?? "")")
            }
            for path in endpoint.alsoAt {
                let request = try await scenario.prepare(world, variant)
                let answer = try await world.cloud.send(request.incoming(to: world.cloud, alsoAt: path))
                expect(answer, is: reply, "\(variant) \(path)")
            }
            if endpoint.hasHead {
                let answer = try await world.send(try await scenario.prepare(world, variant), method: "HEAD")
                #expect(answer.status == reply.status)
            }
        }
    }

    @Test(arguments: scenarios.filter { $0.code != nil })
    func refusesAsTheContractSays(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        let error = try #require(scenario.code.flatMap { world.contract.error($0) })
        for variant in try world.variants(of: scenario) {
            let answer = try await world.send(try await scenario.prepare(world, variant))
            expect(answer, is: error, "\(variant)")
        }
    }

    /// The refusals that many calls share: without credentials, with an unknown token, of another app, without JSON.
    @Test(arguments: scenarios.filter { $0.code == nil })
    func refusesWhatNoCallTakes(_ scenario: Scenario) async throws {
        let world = try ContractWorld(CloudInMemory())
        for variant in try world.variants(of: scenario) {
            // The errors share one preparation, because a refused request changes nothing.
            let prepared = try await scenario.prepare(world, variant)
            for error in world.contract.errors where error.applies(to: variant.endpoint) {
                var request = prepared
                try await world.make(error, in: &request)
                expect(try await world.send(request), is: error, "\(variant)")
                try await world.enable(prepared.people)
            }
        }
    }
}

extension ContractWorld {
    fileprivate func enable(_ people: People) async throws {
        for (id, principal) in [("control.switchUser", people.user.id), ("control.switchThing", people.thing.id)] {
            var request = try self.blank(id, people: people)
            request.parameters[id == "control.switchUser" ? "user" : "thing"] = principal
            request.set(["disabled": false])
            try await self.succeed(request)
        }
    }

    func variants(of scenario: Scenario) throws -> [Variant] {
        let endpoint = try #require(self.contract.endpoint(scenario.id))
        // An error that the contract does not list for the call can come from each of the call's variants.
        let error = self.contract.errors(of: endpoint).first { $0.code == scenario.code }
        return self.contract.variants(of: endpoint).filter { scenario.makes($0) && error?.applies(to: $0) ?? true }
    }
}

/// Expects the status, media type, headers and members of the contract's reply.
func expect(
    _ answer: CloudAnswer,
    is reply: Endpoint.Reply,
    _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard answer.status == reply.status else {
        Issue.record("\(comment): \(answer.status) \(answer.json)", sourceLocation: sourceLocation)
        return
    }
    #expect(answer.mediaType == reply.mediaType, comment, sourceLocation: sourceLocation)
    for header in reply.headers {
        #expect(answer.response.field(header)?.isEmpty == false, "\(header)", sourceLocation: sourceLocation)
    }
    guard let sample = reply.sample else { return }
    let differences = JSONShape.differences(of: answer.json, from: sample, optional: reply.optional)
    #expect(differences == [], comment, sourceLocation: sourceLocation)
}

/// Expects a refusal's status, code, media type and members, and that it changed nothing.
func expect(
    _ answer: CloudAnswer,
    is error: ContractError,
    _ comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    guard answer.status == error.status, answer.code == error.code else {
        Issue.record(
            "\(comment): \(answer.status) \(answer.json) instead of \(error.code)", sourceLocation: sourceLocation)
        return
    }
    #expect(answer.mediaType == error.mediaType, comment, sourceLocation: sourceLocation)
    let facts = Set(error.facts(message: "").map { $0.0 })
    for fact in facts {
        #expect(answer.json[fact]?.string?.isEmpty == false, comment, sourceLocation: sourceLocation)
    }
    let context = (answer.json.members ?? []).filter { !facts.contains($0.key) }
    var differences: [String] = []
    if (error.context.members ?? []).isEmpty {
        differences = context.map { "/\($0.key) is not in the contract" }
    } else {
        differences = JSONShape.differences(
            of: JSONValue(members: context),
            from: error.context,
            optional: error.optional
        )
    }
    #expect(differences == [], comment, sourceLocation: sourceLocation)
    #expect((answer.response.field("Retry-After") != nil) == error.hasRetryAfter, comment)
    if let effects = answer.effects {
        #expect(effects == EmulatedCloud.Effects(), comment, sourceLocation: sourceLocation)
    }
}
