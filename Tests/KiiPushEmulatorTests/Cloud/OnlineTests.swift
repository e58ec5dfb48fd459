import KiiPushCore
import KiiPushEmulator
import Testing

/// What a thing's fields say of its connection.
@Suite struct OnlineTests {
    @Test func aThingSaysWhetherItIsConnectedAndSinceWhen() throws {
        var kii = CloudHarness()
        let thing = try kii.thing()
        let topic = try kii.installation(of: thing).topic
        let name = String(topic.dropFirst("push/".count))
        func fields() -> [JSONValue] {
            let shown = kii.call("GET", "things/VENDOR_THING_ID:lamp-1", token: thing.token).json
            return [shown["_online"], shown["_onlineStatusModifiedAt"]].compactMap { $0 }
        }
        // Nobody told who is connected.
        #expect(fields().isEmpty)
        let changedAt = Timestamp(millisecondsSinceEpoch: 7000)
        kii.cloud.presence = { ["somebody": .init(connections: 1, changedAt: changedAt)] }
        #expect(fields().isEmpty)
        for (connections, isOnline) in [(1, true), (0, false)] {
            kii.cloud.presence = { [name: .init(connections: connections, changedAt: changedAt)] }
            #expect(fields() == [JSONValue(isOnline), 7000])
        }
    }

    @Test func aThingWithoutAnInstallationHasNoConnection() throws {
        var kii = CloudHarness()
        let thing = try kii.thing()
        kii.cloud.presence = { [:] }
        #expect(kii.call("GET", "things/\(thing.id)", token: thing.token).json["_online"] == nil)
    }

    @Test func whetherThereIsAThingIsAskedWithHEAD() throws {
        var kii = CloudHarness()
        let (thing, stranger) = (try kii.thing(), try kii.user())
        let found = kii.call("HEAD", "things/VENDOR_THING_ID:lamp-1", token: thing.token)
        #expect(found.status == 204)
        #expect(found.response.body.isEmpty)
        #expect(kii.call("HEAD", "things/\(thing.id)", token: stranger.token).status == 204)
        expectRefusal(kii.call("HEAD", "things/th.none", token: stranger.token), "404 THING_NOT_FOUND")
    }
}
