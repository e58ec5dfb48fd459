import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

/// A user, a thing and a bystander, and a topic and a bucket in every scope: each push reaches only the subscribers of
/// its source.
@Suite struct ScopeDeliveryTests {
    private struct Party {
        let runtime: PushRuntime
        let agent: PushAgent
        let handler = RecordingHandler()
        let principal: Principal
        let token: Secret
        /// The sources of the messages that it must receive, in the order of sending.
        var expected: [SubscriptionTarget?] = []

        init(_ account: KiiAccount, _ emulator: Emulator, _ directory: String) async throws {
            self.runtime = try emulator.runtime(directory)
            self.agent = PushAgent(
                runtime: self.runtime,
                configuration: .init(app: emulator.app, account: account),
                handler: self.handler)
            self.principal = try await self.agent.register().principal
            self.token = try await self.agent.session().token().token
        }

        /// Expects the handler's calls, up to the test's last message.
        ///
        /// Message IDs follow reception without gaps. So an additional message shows in the IDs, even if its handler is
        /// called late.
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
            let group = try await client.perform(
                Self.createGroup(owner: user.principal.id, members: [parties.bystander.principal.id]),
                token: user.token)
            try await client.perform(
                Self.addOwner(user.principal.id, to: thing.principal.id), token: thing.token)

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
                    #expect(try await client.session(source.owner).createTopic(topic) == true)
                }
                for subscriber in source.subscribers {
                    let party = parties[keyPath: subscriber]
                    try await client.session(party.token).subscribe(to: source.target, as: party.principal)
                }
            }
            _ = try await client.session(admin).send(PushMessage(data: ["n": 0]), to: .user(user.principal.id))
            parties.user.expected.append(nil)
            for source in sources {
                switch source.target {
                case .topic(let topic):
                    _ = try await client.session(source.owner).send(PushMessage(data: ["n": 1]), to: .topic(topic))
                case .bucket(let bucket):
                    _ = try await client.session(source.owner).createObject(["n": 1], in: bucket)
                }
                for subscriber in source.subscribers { parties[keyPath: subscriber].expected.append(source.target) }
            }
            for party in [parties.user, parties.thing, parties.bystander] {
                try await whileRunning(party.agent) { await party.checkCalls() }
                await party.runtime.shutdown()
            }
        }
    }

    /// `POST /groups`; the library has no method for this call.
    private static func createGroup(owner: String, members: [String]) -> KiiCall<String> {
        let call = KiiCall(.post, KiiPath("groups"), statuses: [201]) { response throws(KiiResponseError) in
            try response.fields().string("groupID")
        }
        return call.with {
            $0.body = .json(
                [
                    "name": "family", "owner": JSONValue(owner),
                    "members": JSONValue(members.map { JSONValue($0) }),
                ],
                mediaType: "application/vnd.kii.GroupCreationRequest+json")
        }
    }

    /// `PUT /things/{thingID}/ownership/user:{userID}`; the library has no method for this call.
    private static func addOwner(_ userID: String, to thingID: String) -> KiiCall<Void> {
        let path = KiiPath("things").appending(thingID, as: .thingID).appending("ownership")
            .appending("user:\(userID)", as: .userID)
        return KiiCall(.put, path, statuses: [204]).with { $0.body = .empty }
    }
}
