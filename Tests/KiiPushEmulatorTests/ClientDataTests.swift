import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

/// Objects, buckets, topics and things as Kii's SDKs for Unity, JavaScript and Java use them.
///
/// The facts are from the sources and the live tests of these clients, and from Kii's guides; the words are not.
@Suite(.ownThreads) struct ClientDataTests {
    private func withClient(_ body: (WireClient) async throws -> Void) async throws {
        try await withEmulator { try await body(WireClient(emulator: $0)) }
    }

    // MARK: - Objects

    /// Kii answers with the whole object. Unity needs `_created` and `_modified`; older programs read `createdAt` and
    /// `modifiedAt`.
    @Test func aPatchIsAnsweredWithTheObject() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let objects = "users/\(user.id)/buckets/notes/objects"
            func patch(_ id: String, _ body: JSONValue) throws -> RawAnswer {
                let field = "X-HTTP-Method-Override: PATCH"
                let path = "\(objects)/\(id)"
                return try client.sdk(
                    "POST", path, token: user.token, type: "application/json", fields: [field], body)
            }
            let created = try client.sdk(
                "POST", objects, token: user.token, type: "application/json", ["score": 1, "name": "game1"])
            let id = try #require(created.json["objectID"]?.string)
            let answer = try patch(id, ["score": 5000])
            #expect(answer.status == 200)
            #expect(answer.field("ETag") == "\"2\"")
            let read = try client.sdk("GET", "\(objects)/\(id)", token: user.token).json
            for member in read.members ?? [] { #expect(answer.json[member.key] == member.value, "\(member.key)") }
            #expect(answer.json["_created"] == created.json["createdAt"])
            #expect(answer.json["createdAt"] == answer.json["_created"])
            #expect(answer.json["modifiedAt"] == answer.json["_modified"])
            #expect(answer.json["_modified"]?.int64 != nil && answer.json["score"]?.int64 == 5000)
            // The app's own field `createdAt` replaces the cloud's.
            #expect(try patch(id, ["createdAt": "in spring"]).json["createdAt"]?.string == "in spring")
        }
    }

    /// Unity and the JavaScript SDK write back the object that they read, with the cloud's own fields in it.
    @Test func anObjectIsPutBackAsItWasRead() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let path = "users/\(user.id)/buckets/notes/objects/one"
            func write(_ method: String, _ body: JSONValue) throws -> RawAnswer {
                try client.sdk(method, path, token: user.token, type: "application/json", body)
            }
            #expect(try write("PUT", ["a": 1, "_calculated": 7]).status == 201)
            let read = try client.sdk("GET", path, token: user.token).json
            #expect(read["_calculated"] == nil)
            #expect(try write("PUT", read).status == 200)
            #expect(try write("PATCH", ["_id": "another", "b": 2]).status == 200)
            let last = try client.sdk("GET", path, token: user.token).json
            #expect(last["_id"]?.string == "one" && last["_version"]?.string == "3")
            #expect(last["a"]?.int64 == 1 && last["b"]?.int64 == 2)
            let collection = "users/\(user.id)/buckets/notes/objects"
            let made = try client.sdk(
                "POST", collection, token: user.token, type: "application/json", ["_owner": "me", "c": 3])
            #expect(made.status == 201)
        }
    }

    // MARK: - Buckets

    /// From a live test of the Java client, in each scope. The statuses of HEAD are from Kii's guide.
    @Test(arguments: [("", "rw"), ("CRYPTO:", "crypto"), ("default:", "rw")])
    func aBucketIsMadeReadAndDeleted(prefix: String, type: String) async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let thing = try client.thing()
            let owning = "things/\(thing.id)/ownership/user:\(user.id)"
            #expect(try client.sdk("PUT", owning, token: user.token).status == 204)
            let group = try client.sdk(
                "POST", "groups", token: user.token, type: "GroupCreationRequest",
                ["name": "MyGroup", "owner": JSONValue(user.id)])
            let groupID = try #require(group.json["groupID"]?.string)
            for scope in ["", "users/\(user.id)/", "groups/\(groupID)/", "things/\(thing.id)/"] {
                let path = "\(scope)buckets/\(prefix)my_bucket"
                func call(_ method: String, _ path: String, _ type: String? = nil, _ body: JSONValue? = nil) throws
                    -> RawAnswer
                { try client.sdk(method, path, token: user.token, type: type, body) }
                #expect(try call("GET", path).json["errorCode"]?.string == "BUCKET_NOT_FOUND", "\(scope)")
                #expect(try call("HEAD", path).status == 404)
                let made = try call("PUT", path, "BucketCreationRequest", ["bucketType": JSONValue(type)])
                #expect(made.status == 204, "\(path)")
                let subscription = "\(path)/filters/all/push/subscriptions/users/\(user.id)"
                #expect(try call("GET", subscription).status == 404)
                #expect(try call("PUT", subscription).status == 204)
                #expect(try call("POST", "\(path)/objects", "application/json", ["score": 1]).status == 201)
                let read = try call("GET", path)
                #expect(read.status == 200 && read.mediaType == "application/vnd.kii.BucketRetrievalResponse+json")
                #expect(read.json == ["bucketType": JSONValue(type), "size": 1])
                // Creating an existing bucket changes nothing.
                #expect(try call("PUT", path).status == 204)
                #expect(try call("HEAD", path).status == 204)
                #expect(try call("GET", subscription).status == 204)
                #expect(try call("DELETE", path).status == 204)
                #expect(try call("GET", path).status == 404)
            }
        }
    }

    @Test func aBucketIsOfItsNamesKind() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            func make(_ name: String, _ type: String) throws -> RawAnswer {
                try client.sdk(
                    "PUT", "users/me/buckets/\(name)", token: user.token, type: "BucketCreationRequest",
                    ["bucketType": JSONValue(type)])
            }
            for (name, type) in [("notes", "crypto"), ("CRYPTO:notes", "rw"), ("notes", "heap")] {
                #expect(try make(name, type).json["errorCode"]?.string == "INVALID_INPUT_DATA", "\(name) \(type)")
            }
            for name in ["CRYPTO:", "CRYPTO:n", "CRYPTO:CRYPTO:notes", "other:notes", "default:users"] {
                #expect(try make(name, "rw").json["errorCode"]?.string == "INVALID_BUCKET", "\(name)")
            }
            // `notes` and `CRYPTO:notes` are two buckets. In Kii's reference, `default:notes` is `notes`.
            #expect(try make("notes", "rw").status == 204)
            let names = ["notes", "default:notes", "CRYPTO:notes"]
            let statuses = try names.map {
                try client.sdk("GET", "users/me/buckets/\($0)", token: user.token).status
            }
            #expect(statuses == [200, 200, 404])
            let stranger = try client.user("bob")
            let foreign = "users/\(user.id)/buckets/notes"
            #expect(try client.sdk("GET", foreign, token: stranger.token).status == 401)
            #expect(try client.sdk("PUT", foreign, token: stranger.token).status == 401)
        }
    }

    // MARK: - Topics

    /// The Java client asks for one verb and expects a list.
    @Test func theHoldersOfOneRightAreListed() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let topic = "users/\(user.id)/topics/news"
            #expect(try client.sdk("PUT", topic, token: user.token).status == 204)
            let all = "UserID:ANY_AUTHENTICATED_USER"
            let grant = try client.sdk("PUT", "\(topic)/acl/SUBSCRIBE_TO_TOPIC/\(all)", token: user.token)
            #expect(grant.status == 204)
            func list(_ verb: String, _ token: String) throws -> RawAnswer {
                try client.sdk("GET", "\(topic)/acl/\(verb)", token: token)
            }
            let subscribers = try list("SUBSCRIBE_TO_TOPIC", user.token)
            #expect(subscribers.status == 200)
            #expect(subscribers.mediaType == "application/vnd.kii.ACLVerbRetrievalResponse+json")
            let own: JSONValue = ["userID": JSONValue(user.id)]
            let ids = Set((subscribers.json.array ?? []).compactMap { $0["userID"]?.string })
            #expect(ids == [user.id, "ANY_AUTHENTICATED_USER"])
            #expect(try list("SEND_MESSAGE_TO_TOPIC", user.token).json == [own])
            #expect(try list("READ", user.token).json["errorCode"]?.string == "INVALID_INPUT_DATA")
            let stranger = try client.user("bob")
            #expect(try list("SEND_MESSAGE_TO_TOPIC", stranger.token).status == 401)
        }
    }

    // MARK: - Things

    /// thing-node asks as a user who does not own the thing yet. The thing's fields stay hidden from that user.
    @Test func whoOwnsNothingMayAskWhatThereIs() async throws {
        try await self.withClient { client in
            let (owner, stranger) = (try client.user("ann"), try client.user("bob"))
            let thing = try client.thing()
            let path = "things/\(thing.id)"
            #expect(try client.sdk("PUT", "\(path)/ownership/user:\(owner.id)", token: owner.token).status == 204)
            let rows = [
                ("HEAD", path, 204), ("HEAD", "things/VENDOR_THING_ID:test1", 204), ("HEAD", "things/th.none", 404),
                ("HEAD", "\(path)/ownership/user:\(stranger.id)", 404),
                ("HEAD", "\(path)/ownership/user:\(owner.id)", 204), ("GET", path, 401),
                ("GET", "\(path)/ownership", 401), ("DELETE", "\(path)/ownership/user:\(owner.id)", 401),
            ]
            for (method, path, status) in rows {
                #expect(try client.sdk(method, path, token: stranger.token).status == status, "\(method) \(path)")
            }
            // The app's key alone identifies no user.
            #expect(try client.sdk("HEAD", path).status == 401)
        }
    }

    /// The JavaScript SDK sends all fields of a thing by PATCH; the Java client sends POST with
    /// `X-HTTP-Method-Override`.
    @Test func aThingIsSentBackWithChanges() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let thing = try client.thing()
            let path = "things/\(thing.id)"
            #expect(try client.sdk("PUT", "\(path)/ownership/user:\(user.id)", token: user.token).status == 204)
            let read = try client.sdk("GET", path, token: user.token).json
            #expect(read["_disabled"]?.bool == false)
            let own = [
                JSONMember(key: "_productName", value: "NewKiiCloud"), JSONMember(key: "colour", value: "red"),
                JSONMember(key: "_vendorThingID", value: "other"), JSONMember(key: "_password", value: "other"),
                JSONMember(key: "_created", value: 1), JSONMember(key: "_thingID", value: "th.other"),
            ]
            let body = JSONValue(members: (read.members ?? []) + own)
            let changed = try client.sdk("PATCH", path, token: user.token, type: "ThingUpdateRequest", body)
            #expect(changed.status == 200)
            #expect(changed.mediaType == "application/vnd.kii.ThingUpdateResponse+json")
            #expect(changed.json["modifiedAt"]?.int64 != nil)
            let override = ["X-HTTP-Method-Override: PATCH"]
            let second: JSONValue = ["_firmwareVersion": "v2"]
            let patched = try client.sdk(
                "POST", path, token: thing.token, type: "ThingUpdateRequest", fields: override, second)
            #expect(patched.status == 200)
            let last = try client.sdk("GET", path, token: thing.token).json
            #expect(last["_productName"]?.string == "NewKiiCloud" && last["_firmwareVersion"]?.string == "v2")
            #expect(last["colour"]?.string == "red" && last["_thingType"]?.string == "light")
            for name in ["_vendorThingID", "_created", "_thingID"] { #expect(last[name] == read[name], "\(name)") }
            let login: JSONValue = ["username": "VENDOR_THING_ID:test1", "password": "1234"]
            #expect(try client.sdk("POST", "oauth2/token", type: "OauthTokenRequest", login).status == 200)

            let stranger = try client.user("bob")
            let foreign = try client.sdk("PATCH", path, token: stranger.token, type: "ThingUpdateRequest", second)
            #expect(foreign.json["errorCode"]?.string == "UNAUTHORIZED")
            let wrong = try client.sdk("PATCH", path, token: user.token, type: "ThingUpdateRequest", ["_lot": 7])
            #expect(wrong.json["errorCode"]?.string == "INVALID_INPUT_DATA")
        }
    }

    /// From a live test of the Java client. In thing-node's test, the thing itself is refused.
    @Test func anOwnerSwitchesAThingOffAndOn() async throws {
        try await self.withClient { client in
            let user = try client.user("ann")
            let thing = try client.thing()
            let (path, other) = ("things/\(thing.id)/status", "things/VENDOR_THING_ID:test1/status")
            let owner = "things/\(thing.id)/ownership/user:\(user.id)"
            #expect(try client.sdk("PUT", owner, token: user.token).status == 204)
            func change(_ path: String, _ token: String, _ body: JSONValue) throws -> RawAnswer {
                try client.sdk("PUT", path, token: token, type: "ThingStatusUpdateRequest", body)
            }
            let before = try client.sdk("GET", path, token: thing.token)
            #expect(before.mediaType == "application/vnd.kii.ThingStatusRetrievalResponse+json")
            #expect(before.json == ["disabled": false])
            #expect(try change(path, thing.token, ["disabled": true]).json["errorCode"]?.string == "UNAUTHORIZED")
            #expect(try change(path, user.token, [:]).json["errorCode"]?.string == "INVALID_INPUT_DATA")
            // Kii's SDK documents that the call may be repeated.
            for _ in 0..<2 { #expect(try change(path, user.token, ["disabled": true]).status == 204) }
            #expect(try client.sdk("GET", other, token: user.token).json == ["disabled": true])
            let refused = try client.sdk("GET", path, token: thing.token)
            #expect(refused.json["errorCode"]?.string == "THING_DISABLED")
            #expect(try client.sdk("GET", "things/\(thing.id)", token: user.token).json["_disabled"]?.bool == true)
            #expect(try change(other, user.token, ["disabled": false]).status == 204)
            #expect(try client.sdk("GET", path, token: thing.token).json == ["disabled": false])
            let stranger = try client.user("bob")
            #expect(try client.sdk("GET", path, token: stranger.token).status == 401)
            #expect(try change(path, stranger.token, ["disabled": true]).status == 401)
        }
    }
}
