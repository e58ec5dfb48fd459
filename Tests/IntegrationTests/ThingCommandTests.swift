import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct ThingCommandTests {
    private struct Lamp: RemoteNotificationHandler, ThingCommandHandler {
        let session: KiiSession
        let thingID: String

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
        ) { completion(.noData) }

        func didReceiveThingCommand(
            _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
        ) {
            let names = (command.actions.array ?? []).flatMap { ($0.members ?? []).map(\.key) }
            let results = names.map { ThingActionResult($0, succeeded: true) }
            Task {
                do {
                    try await self.session.report(results, of: command.commandID, thing: self.thingID)
                    completion(.newData)
                } catch {
                    completion(.failed)
                }
            }
        }
    }

    private func issue(to thingID: String, by userID: String, _ session: KiiSession) async throws -> String {
        let path = KiiPath("targets").appending("thing:\(thingID)", as: .thingID).appending("commands")
        let call = KiiCall<String>(.post, path, statuses: [201]) { response throws(KiiResponseError) in
            try response.fields().string("commandID")
        }.with {
            $0.service = .thingIF
            $0.body = .json(
                [
                    "actions": [["turnPower": ["power": true]], ["setBrightness": ["brightness": 40]]],
                    "issuer": JSONValue("user:\(userID)"), "schema": "Lamp", "schemaVersion": 1,
                ], mediaType: "application/json")
        }
        return try await session.perform(call)
    }

    @Test func theIssuerIsToldWhenTheThingHasReported() async throws {
        try await withEmulator { emulator, directory in
            let runtime = try emulator.runtime("\(directory)/agents")
            let told = RecordingHandler()
            let owner = PushAgent(
                runtime: runtime, configuration: .init(name: "owner", app: emulator.app, account: .pseudoUser),
                handler: told)
            let user = try await owner.register().principal
            let session = try owner.session()
            let lamp = try await session.onboardThing(
                vendorThingID: "lamp-1", password: "of the lamp", owner: .user(user.id))
            let account = KiiAccount.thing(vendorThingID: "lamp-1", password: "of the lamp")
            let thing = PushAgent(
                runtime: runtime, configuration: .init(name: "lamp", app: emulator.app, account: account),
                handler: Lamp(
                    session: KiiSession(client: owner.client, token: lamp.accessToken), thingID: lamp.thingID))
            // After this registration, the broker queues messages for the thing.
            _ = try await thing.register()
            let (commandID, pushes) = try await whileRunning(owner) {
                try await whileRunning(thing) {
                    let commandID = try await self.issue(to: lamp.thingID, by: user.id, session)
                    return (commandID, await told.next(1))
                }
            }
            let message = try #require(pushes.first?.message)
            #expect(message.kind == .directPush && message.sender == .admin)
            #expect(message["commandID"]?.string == commandID)
            let command = try await session.command(commandID, of: lamp.thingID)
            #expect(command.state == "DONE")
            #expect(
                command.results == [
                    ThingActionResult("turnPower", succeeded: true),
                    ThingActionResult("setBrightness", succeeded: true),
                ])
            await runtime.shutdown()
        }
    }
}
