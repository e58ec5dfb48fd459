import KiiPushCore
import KiiPushEmulator
import Testing

/// The recipients of a message: the subscribers who have the right when it is sent.
@Suite struct RecipientTests {
    /// A group with a topic and a bucket, to which its owner, a member and a thing are subscribed.
    private struct World {
        var all: TopicTests.World
        let group: String
        /// The MQTT topics of the group's owner, a member and a thing.
        let owner: String
        let member: String
        let thing: String

        var membership: String { "\(self.group)/members/\(self.all.member.id)" }

        init() throws {
            var all = try TopicTests.World()
            self.group = "groups/\(all.group)"
            self.owner = try all.kii.installation(of: all.user).topic
            self.member = try all.kii.installation(of: all.member).topic
            self.thing = try all.kii.installation(of: all.thing).topic
            all.kii.call("PUT", "\(self.group)/topics/x", token: all.user.token)
            for target in ["topics/x", "buckets/notes/filters/all"] {
                let path = "\(self.group)/\(target)/push/subscriptions"
                for account in [all.user, all.member] { all.kii.call("POST", "\(path)/users", token: account.token) }
                // The thing has no right in the group, so only the administrator can subscribe it.
                all.kii.call("PUT", "\(path)/things/\(all.thing.id)", token: all.admin)
            }
            self.all = all
        }

        /// Sends a message and returns the MQTT topics that it goes to.
        mutating func sent(to path: String? = nil) -> Set<String> {
            let message: JSONValue = ["data": ["a": "b"], "mqtt": ["enabled": true]]
            let sent = self.all.kii.call(
                "POST", "\(path ?? "\(self.group)/topics/x")/push/messages", token: self.all.admin,
                type: "SendPushMessageRequest", message)
            #expect(sent.status == 200)
            return Set(sent.published.map { $0.topic })
        }

        /// Creates an object in the group's bucket and returns the MQTT topics of its event.
        mutating func announced() -> Set<String> {
            let made = self.all.kii.call(
                "POST", "\(self.group)/buckets/notes/objects", token: self.all.user.token, type: "note", [:])
            #expect(made.status == 201)
            return Set(made.published.map { $0.topic })
        }
    }

    @Test func whoLeavesAGroupIsToldNothingUntilTheyAreAddedAgain() throws {
        var world = try World()
        let (everybody, others) = ([world.owner, world.member, world.thing], [world.owner, world.thing])
        #expect(world.sent() == Set(everybody))
        #expect(world.announced() == Set(everybody))
        for token in [world.all.user.token, world.all.member.token] {
            #expect(world.all.kii.call("DELETE", world.membership, token: token).status == 204)
            #expect(world.sent() == Set(others))
            #expect(world.announced() == Set(others))
            #expect(world.all.kii.call("PUT", world.membership, token: world.all.user.token).status == 204)
            #expect(world.sent() == Set(everybody))
            #expect(world.announced() == Set(everybody))
        }
    }

    @Test(arguments: ["topics/x", "buckets/notes/filters/all"])
    func aFormerMemberDoesNotSeeTheSubscriptionAndMayEndIt(target: String) throws {
        var world = try World()
        let (member, admin) = (world.all.member, world.all.admin)
        let path = "\(world.group)/\(target)/push/subscriptions/users/\(member.id)"
        #expect(world.all.kii.call("GET", path, token: member.token).status == 204)
        world.all.kii.call("DELETE", world.membership, token: member.token)
        expectRefusal(world.all.kii.call("GET", path, token: member.token), "401 UNAUTHORIZED")
        #expect(world.all.kii.call("GET", path, token: admin).status == 204)
        #expect(world.all.kii.call("DELETE", path, token: member.token).status == 204)
        expectRefusal(world.all.kii.call("GET", path, token: admin), "404 PUSH_SUBSCRIPTION_NOT_FOUND")
        expectRefusal(world.all.kii.call("PUT", path, token: member.token), "401 UNAUTHORIZED")
    }

    @Test func aGroupWithTheRightToATopicGivesItToItsMembersAlone() throws {
        var world = try World()
        let (member, admin) = (world.all.member, world.all.admin)
        world.all.kii.call("PUT", "topics/news", token: admin)
        let right = "topics/news/acl/SUBSCRIBE_TO_TOPIC"
        world.all.kii.call("DELETE", "\(right)/UserID:ANY_AUTHENTICATED_USER", token: admin)
        world.all.kii.call("PUT", "\(right)/GroupID:\(world.all.group)", token: admin)
        world.all.kii.call("POST", "topics/news/push/subscriptions/users", token: member.token)
        #expect(world.sent(to: "topics/news") == [world.member])
        world.all.kii.call("DELETE", world.membership, token: member.token)
        #expect(world.sent(to: "topics/news") == [])
        world.all.kii.call("PUT", "\(right)/UserID:\(member.id)", token: admin)
        #expect(world.sent(to: "topics/news") == [world.member])
        world.all.kii.call("DELETE", "\(right)/UserID:\(member.id)", token: admin)
        #expect(world.sent(to: "topics/news") == [])
    }

    @Test func aGroupThatOwnsAThingIsToldOfItThroughItsMembers() throws {
        var world = try World()
        let (member, thing) = (world.all.member, world.all.thing)
        let ownership = "things/\(thing.id)/ownership/group:\(world.all.group)"
        world.all.kii.call("PUT", ownership, token: world.all.admin)
        let topic = "things/\(thing.id)/topics/x"
        world.all.kii.call("PUT", topic, token: thing.token)
        world.all.kii.call("POST", "\(topic)/push/subscriptions/things", token: thing.token)
        world.all.kii.call("POST", "\(topic)/push/subscriptions/users", token: member.token)
        #expect(world.sent(to: topic) == [world.member, world.thing])
        world.all.kii.call("DELETE", world.membership, token: member.token)
        #expect(world.sent(to: topic) == [world.thing])
    }

    @Test func whoNeedsARightIsRememberedOverARestart() throws {
        var world = try World()
        world.all.kii.call("DELETE", world.membership, token: world.all.member.token)
        var state = CloudState()
        for change in world.all.kii.changes {
            guard case .save(let table, _, let value) = change else { continue }
            let isUnderstood = state.load(table: table, value: value)
            #expect(isUnderstood)
        }
        world.all.kii = CloudHarness(state: state)
        #expect(world.sent() == [world.owner, world.thing])
        let path = "\(world.group)/topics/x/push/subscriptions/things/\(world.all.thing.id)"
        #expect(world.all.kii.call("GET", path, token: world.all.thing.token).status == 204)
    }

    @Test func aSubscriptionOfAStateThatDoesNotSayNeedsARight() throws {
        var world = try World()
        var state = CloudState()
        for change in world.all.kii.changes {
            guard case .save(let table, _, let value) = change else { continue }
            let members = (value.members ?? []).filter { $0.key != "needsRight" }
            let isUnderstood = state.load(table: table, value: JSONValue(members: members))
            #expect(isUnderstood)
        }
        world.all.kii = CloudHarness(state: state)
        #expect(world.sent() == [world.owner, world.member])
    }
}
