import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// A user, a thing and a bystander, a topic and a bucket in every scope: each push reaches those who subscribed to its
/// source, and nobody else.
@Suite struct ScopeDeliveryTests {
    /// An agent, what it was handed, and who it is.
    private struct Party {
        let runtime: PushRuntime
        let agent: PushAgent
        let handler = RecordingHandler()
        let principal: Principal
        let token: Secret
        /// What it is to receive, in the order of sending.
        var expected: [SubscriptionTarget?] = []

        init(_ account: KiiAccount, _ emulator: Emulator, _ directory: String) async throws {
            self.runtime = try emulator.runtime(directory)
            self.agent = PushAgent(
                runtime: self.runtime,
                configuration: .init(app: emulator.app, account: account),
                handler: self.handler)
            self.principal = try await self.agent.register().principal
            self.token = try await self.agent.accessToken().token
        }

        /// What the agent has received up to and with the message that ends the test.
        ///
        /// Numbers of an inbox have no gaps and follow reception, so a message too many shows in the numbers even if its
        /// handler comes late.
        func checkCalls(sourceLocation: SourceLocation = #_sourceLocation) async {
            let calls = await self.handler.next(self.expected.count).sorted {
                $0.context.messageID < $1.context.messageID
            }
            let sources = calls.map { call in
                call.message.sourceTopic.map { SubscriptionTarget.topic($0) }
                    ?? call.message.sourceBucket.map { .bucket($0) }
            }
            #expect(sources == self.expected, sourceLocation: sourceLocation)
            #expect(
                calls.map(\.context.messageID) == (1...Int64(self.expected.count)).map { $0 },
                sourceLocation: sourceLocation)
        }
    }

    /// A source of pushes, who owns it, and which of the parties subscribe.
    private struct Source {
        var target: SubscriptionTarget
        var owner: Secret
        var subscribers: [WritableKeyPath<Parties, Party>]
    }

    private struct Parties {
        var user: Party
        var thing: Party
        var bystander: Party
    }

    @Test func pushesOfEveryScopeReachTheirSubscribersAlone() async throws {
        try await withEmulator { emulator, directory in
            var parties = Parties(
                user: try await Party(.pseudoUser, emulator, "\(directory)/user"),
                thing: try await Party(
                    .thing(vendorThingID: "lamp-1", password: "secret"), emulator, "\(directory)/thing"),
                bystander: try await Party(.pseudoUser, emulator, "\(directory)/bystander"))
            let (user, thing) = (parties.user, parties.thing)
            let client = user.agent.client
            let admin = try await emulator.adminToken(client)
            let group = try await client.execute(
                CreateGroup(owner: user.principal.id, members: [parties.bystander.principal.id]), token: user.token)
            try await client.execute(
                AddOwner(userID: user.principal.id, thingID: thing.principal.id), token: thing.token)

            let scopes: [(Scope, Secret, [WritableKeyPath<Parties, Party>])] = [
                (.app, admin, [\.user, \.thing]),
                (.user(user.principal.id), user.token, [\.user]),
                (.group(group), user.token, [\.user]),
                (.thing(thing.principal.id), thing.token, [\.thing, \.user]),
            ]
            var sources = scopes.flatMap { scope, owner, subscribers in
                [
                    Source(target: .topic(Topic("news", in: scope)), owner: owner, subscribers: subscribers),
                    Source(target: .bucket(Bucket("notes", in: scope)), owner: owner, subscribers: subscribers),
                ]
            }
            sources += [
                Source(target: .topic(Topic("for-users")), owner: admin, subscribers: [\.user]),
                Source(target: .topic(Topic("for-things")), owner: admin, subscribers: [\.thing]),
                Source(target: .topic(Topic("for-nobody")), owner: admin, subscribers: []),
                Source(target: .topic(Topic("end")), owner: admin, subscribers: [\.user, \.thing, \.bystander]),
            ]
            for source in sources {
                if case .topic(let topic) = source.target {
                    #expect(try await client.createTopic(topic, token: source.owner) == .created)
                }
                for subscriber in source.subscribers {
                    let party = parties[keyPath: subscriber]
                    try await client.subscribe(party.principal, to: source.target, token: party.token)
                }
            }
            _ = try await client.send(PushMessage(data: ["n": 0]), toUser: user.principal.id, token: admin)
            parties.user.expected.append(nil)
            for source in sources {
                switch source.target {
                case .topic(let topic):
                    _ = try await client.send(PushMessage(data: ["n": 1]), to: topic, token: source.owner)
                case .bucket(let bucket):
                    _ = try await client.createObject(["n": 1], in: bucket, token: source.owner)
                }
                for subscriber in source.subscribers { parties[keyPath: subscriber].expected.append(source.target) }
            }
            for party in [parties.user, parties.thing, parties.bystander] {
                try await whileRunning(party.agent) { await party.checkCalls() }
                await party.runtime.shutdown()
            }
        }
    }

    /// `POST /groups`, which the library has no call for.
    private struct CreateGroup: KiiEndpoint {
        var owner: String
        var members: [String]

        var method: HTTPMethod { .post }
        var successStatuses: Set<Int> { [201] }
        var body: KiiBody {
            .json(
                [
                    "name": "family", "owner": JSONValue(self.owner),
                    "members": JSONValue(self.members.map { JSONValue($0) }),
                ],
                mediaType: "application/vnd.kii.GroupCreationRequest+json")
        }

        func path(in app: KiiApp) -> KiiPath { .app(app).appending("groups") }

        func decode(_ response: KiiResponse) throws(KiiResponseError) -> String {
            guard let id = try response.json()["groupID"]?.string else {
                throw KiiResponseError(.missing, in: response)
            }
            return id
        }
    }

    /// `PUT /things/{thingID}/ownership/user:{userID}`, which the library has no call for either.
    private struct AddOwner: KiiEndpoint {
        var userID: String
        var thingID: String

        var method: HTTPMethod { .put }
        var successStatuses: Set<Int> { [204] }
        var body: KiiBody { .empty }

        func path(in app: KiiApp) -> KiiPath {
            .app(app).appending("things").appending(self.thingID, as: .thingID).appending("ownership")
                .appending("user:\(self.userID)", as: .userID)
        }

        func decode(_ response: KiiResponse) throws(KiiResponseError) {}
    }
}
