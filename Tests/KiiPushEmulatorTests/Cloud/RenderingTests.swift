import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct RenderingTests {
    /// A user subscribed to a topic and a bucket of its own, with one installation for each network.
    struct World {
        var all: TopicTests.World
        var user: CloudHarness.Account { self.all.user }
        var app: String { self.all.kii.app.appID }
        var installations: [String: String] = [:]

        init() throws {
            self.all = try TopicTests.World()
            let token = self.all.user.token
            self.all.kii.call("PUT", "users/me/topics/x", token: token)
            self.all.kii.call("POST", "users/me/topics/x/push/subscriptions/users", token: token)
            self.all.kii.call("POST", "users/me/buckets/notes/filters/all/push/subscriptions/users", token: token)
            for type in ["ANDROID", "IOS", "JPUSH", "MQTT"] {
                var body: [(String, JSONValue)] = [("deviceType", JSONValue(type))]
                if type != "MQTT" { body.append(("installationRegistrationID", JSONValue("token-of-\(type)"))) }
                let outcome = self.all.kii.call(
                    "POST", "installations", token: token, type: "InstallationCreationRequest", .object(body))
                self.installations[type] = try #require(outcome.json["installationID"]?.string)
            }
        }

        mutating func send(_ body: String, to path: String = "users/me/topics/x", token: String? = nil) throws
            -> Outcome
        {
            self.all.kii.call(
                "POST",
                "\(path)/push/messages",
                token: token ?? self.user.token,
                type: "SendPushMessageRequest",
                try JSONValue(parsing: body)
            )
        }

        /// The latest message, as `/__kii/messages/{id}` shows it.
        mutating func logged() throws -> JSONValue {
            let last = self.all.kii.control("GET", "messages").json["messages"]?.array?.last
            let id = try #require(last?["pushMessageID"]?.string)
            return self.all.kii.control("GET", "messages/\(id)").json
        }

        mutating func rendering(_ network: String) throws -> String {
            let rendering = try #require(try self.logged()["renderings"]?[network])
            return String(decoding: rendering.serialized(), as: UTF8.self)
        }

        /// The installations that the latest message reached, for each network.
        mutating func reached() throws -> [String: [String]] {
            let members = try self.logged()["installations"]?.members ?? []
            return Dictionary(
                uniqueKeysWithValues: members.map { ($0.key, ($0.value.array ?? []).compactMap { $0.string }) }
            ).filter { !$0.value.isEmpty }
        }
    }

    private static let when = CloudHarness.start.millisecondsSinceEpoch

    @Test(arguments: ["gcm", "fcm"])
    func googleGetsStringsAlone(network: String) throws {
        var world = try World()
        let outcome = try world.send(
            """
            {"data":{"n":1.50,"on":true,"text":"x","both":"common"},"sendWhen":true,"\(network)":{"enabled":true,
            "data":{"both":"own"},"notification":{"title":"T","clickAction":"OPEN"},"collapseKey":"k",
            "timeToLive":60,"delayWhileIdle":false,"restrictedPackageName":"com.example"}}
            """
        )
        #expect(outcome.status == 200)
        #expect(
            try world.rendering(network) == """
                {"data":{"n":"1.50","on":"true","text":"x","both":"own","sender":"\(world.user.id)","topic":"x",\
                "objectScopeAppID":"\(world.app)","objectScopeType":"APP_AND_USER",\
                "objectScopeUserID":"\(world.user.id)","when":"\(RenderingTests.when)"},\
                "notification":{"title":"T","click_action":"OPEN"},"collapse_key":"k","delay_while_idle":false,\
                "time_to_live":60,"restricted_package_name":"com.example"}
                """
        )
        #expect(try world.reached() == [network: [try #require(world.installations["ANDROID"])]])
    }

    @Test func appleGetsDashesAndShortKeys() throws {
        var world = try World()
        let outcome = try world.send(
            """
            {"data":{"msg":"hi"},"sendWhen":true,"sendOrigin":true,"sendAppID":true,"pushMessageType":"NEWS",
            "apns":{"enabled":true,"data":{"aps":"spoofed","k":2},"alert":{"title":"T","subtitle":"S","body":"B",
            "actionLocKey":"A","locKey":"L","locArgs":["a"],"launchImage":"I"},"sound":"default","badge":1,
            "contentAvailable":true,"mutableContent":2,"category":"C"}}
            """
        )
        #expect(outcome.status == 200)
        #expect(
            try world.rendering("apns") == """
                {"aps":{"alert":{"title":"T","subtitle":"S","body":"B","action-loc-key":"A","loc-key":"L",\
                "loc-args":["a"],"launch-image":"I"},"badge":1,"sound":"default","content-available":1,\
                "mutable-content":1,"category":"C"},"msg":"hi","k":2,"s":"\(world.user.id)","to":"x",\
                "sa":"\(world.app)","st":"APP_AND_USER","su":"\(world.user.id)","w":"\(RenderingTests.when)",\
                "o":"EXPLICIT","a":"\(world.app)","t":"NEWS"}
                """
        )
        #expect(try world.reached() == ["apns": [try #require(world.installations["IOS"])]])
    }

    @Test func anInstallationForMQTTCanGetWhatAppleGets() throws {
        var world = try World()
        func become(_ payload: JSONValue) throws {
            let outcome = world.all.kii.call(
                "POST", "installations", token: world.user.token, type: "InstallationCreationRequest",
                .object([("deviceType", "MQTT")] + (payload.isNull ? [] : [("payload", payload)])))
            #expect(outcome.json["installationID"]?.string == world.installations["MQTT"])
        }
        try become("apns")
        // An installation without `payload` keeps the earlier choice.
        try become(.null)
        let alert = #"{"sendObjectScope":false,"apns":{"enabled":true,"alert":{"body":"B"}}}"#
        let payloads = try world.send(alert).effects.publications.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(payloads == [#"{"aps":{"alert":{"body":"B"}},"s":"\#(world.user.id)","to":"x"}"#])
        #expect(
            try world.reached() == [
                "apns": try [#require(world.installations["IOS"]), #require(world.installations["MQTT"])].sorted()
            ])
        let plain = #"{"data":{"n":1},"mqtt":{"enabled":true}}"#
        #expect(try world.send(plain).effects.publications.isEmpty)
        let shown = world.all.kii.control("GET", "installations").json["installations"]?.array ?? []
        #expect(shown.compactMap { $0["payload"]?.string } == ["apns"])
        try become("mqtt")
        #expect(try world.send(alert).effects.publications.isEmpty)
        #expect(try world.send(plain).effects.publications.count == 1)
    }

    @Test(arguments: ["", #","contentAvailable":false"#, #","contentAvailable":0,"mutableContent":0"#, #","alert":{}"#])
    func whatIsOffIsNotInAps(fields: String) throws {
        var world = try World()
        let outcome = try world.send(
            #"{"sendSender":false,"sendTopicID":false,"sendObjectScope":false,"apns":{"enabled":true\#(fields)}}"#)
        #expect(outcome.status == 200)
        #expect(try world.rendering("apns") == #"{"aps":{}}"#)
    }

    @Test func jpushKeepsTypes() throws {
        var world = try World()
        _ = try world.send(#"{"data":{"n":1,"on":true},"sendObjectScope":false,"jpush":{"enabled":true}}"#)
        #expect(
            try world.rendering("jpush")
                == #"{"extras":{"n":1,"on":true,"sender":"\#(world.user.id)","topic":"x"}}"#
        )
        #expect(try world.reached() == ["jpush": [try #require(world.installations["JPUSH"])]])
    }

    @Test func aDirectPushHasNoTopicAndOfUsersAloneASender() throws {
        var world = try World()
        let body = #"{"data":{"a":"b"},"gcm":{"enabled":true},"apns":{"enabled":true}}"#
        let path = "users/\(world.user.id)"
        _ = try world.send(body, to: path, token: world.all.admin)
        #expect(try world.rendering("gcm") == #"{"data":{"a":"b"}}"#)
        #expect(try world.rendering("apns") == #"{"aps":{},"a":"b"}"#)
        #expect(try world.logged()["kind"]?.string == "DIRECT_PUSH")
        #expect(try world.logged()["sender"]?.string == "admin")
        _ = try world.send(body, to: path)
        #expect(try world.rendering("gcm") == #"{"data":{"a":"b","sender":"\#(world.user.id)"}}"#)
        #expect(try world.rendering("apns") == #"{"aps":{},"a":"b","s":"\#(world.user.id)"}"#)
        #expect(try world.logged()["sender"]?.string == "user:\(world.user.id)")
    }

    @Test func anEventIsForEveryNetwork() throws {
        var world = try World()
        world.all.kii.call("PUT", "users/me/buckets/notes/objects/o1", token: world.user.token, type: "note", [:])
        let (id, when) = (world.user.id, RenderingTests.when)
        let facts = """
            "appID":"\(world.app)","sender":"\(id)","objectScopeAppID":"\(world.app)",\
            "objectScopeType":"APP_AND_USER","objectScopeUserID":"\(id)","bucketID":"notes","bucketType":"rw",\
            "objectID":"o1"
            """
        #expect(
            try world.rendering("fcm") == """
                {"data":{"type":"DATA_OBJECT_CREATED","origin":"EVENT","when":"\(when)","modifiedAt":"\(when)",\
                \(facts)},"collapse_key":"notes"}
                """
        )
        #expect(
            try world.rendering("jpush") == """
                {"extras":{"type":"DATA_OBJECT_CREATED","origin":"EVENT","when":\(when),"modifiedAt":\(when),\(facts)}}
                """
        )
        #expect(
            try world.rendering("apns") == """
                {"aps":{"content-available":1},"t":"DATA_OBJECT_CREATED","w":"\(when)","om":"\(when)",\
                "sa":"\(world.app)","st":"APP_AND_USER","su":"\(id)","bi":"notes","bt":"rw","oi":"o1"}
                """
        )
        let reached = try world.reached()
        #expect(Set(reached.keys) == ["fcm", "apns", "jpush", "mqtt"])
        #expect(reached["fcm"] == [try #require(world.installations["ANDROID"])])
        #expect(try world.logged()["kind"]?.string == "PUSH_TO_APP")
        #expect(try world.logged()["source"]?.string == "kiicloud://users/\(id)/buckets/notes/objects/o1")
    }

    @Test func googlesNewNetworkGoesFirst() throws {
        var world = try World()
        _ = try world.send(#"{"data":{"a":"b"},"fcm":{"enabled":true},"gcm":{"enabled":true}}"#)
        #expect(try world.reached() == ["fcm": [try #require(world.installations["ANDROID"])]])
        #expect(try world.logged()["renderings"]?["gcm"] != nil)
    }

    @Test func aDryRunReachesNobodyOfGoogles() throws {
        var world = try World()
        let outcome = try world.send(
            #"{"data":{"a":"b"},"gcm":{"enabled":true,"dryRun":true},"mqtt":{"enabled":true}}"#)
        #expect(outcome.status == 200)
        #expect(outcome.published.count == 1)
        #expect(try world.logged()["renderings"]?["gcm"]?["dry_run"]?.bool == true)
        #expect(try world.reached() == ["mqtt": [try #require(world.installations["MQTT"])]])
    }

    @Test(
        arguments: [
            ("gcm", "gcm", "GCMKEY"), ("fcm", "fcm", "GCMKEY"), ("apns", "apns", "APNSKEY"),
            ("jpush", "jpush", "JPUSHKEY"),
        ]
    )
    func aNetworkNeedsItsKey(section: String, key: String, code: String) throws {
        var world = try World()
        let networks = JSONValue.object([(key, JSONValue(false))])
        #expect(world.all.kii.control("PATCH", "app", ["networks": networks]).status == 200)
        let body = #"{"data":{"a":"b"},"\#(section)":{"enabled":true},"mqtt":{"enabled":true}}"#
        expectRefusal(try world.send(body), "404 \(code)_NOT_FOUND")
        let disabled = #"{"data":{"a":"b"},"\#(section)":{"enabled":false},"mqtt":{"enabled":true}}"#
        #expect(try world.send(disabled).status == 200)
        // An event goes only to the networks that have keys.
        world.all.kii.call("PUT", "users/me/buckets/notes/objects/o1", token: world.user.token, type: "note", [:])
        #expect(try world.reached()[section] == nil)
        #expect(try world.reached()["mqtt"]?.count == 1)
        if section == "fcm" { #expect(try world.reached()["gcm"]?.count == 1) }
    }

    @Test(
        arguments: [
            #""gcm":{"enabled":true,"timeToLive":60}"#, #""gcm":{"enabled":true,"collapseKey":"k","timeToLive":-1}"#,
            #""gcm":{"enabled":true,"collapseKey":"k","timeToLive":1.5}"#, #""gcm":{"enabled":true,"collapseKey":1}"#,
            #""gcm":{"enabled":true,"delayWhileIdle":"no"}"#, #""gcm":{"enabled":true,"dryRun":1}"#,
            #""gcm":{"enabled":true,"restrictedPackageName":false}"#,
            #""gcm":{"enabled":true,"notification":{"subtitle":"x"}}"#,
            #""fcm":{"enabled":true,"notification":{"title":1}}"#, #""fcm":{"enabled":true,"notification":"x"}"#,
            #""apns":{"enabled":true,"alert":"plain"}"#, #""apns":{"enabled":true,"alert":{"body":1}}"#,
            #""apns":{"enabled":true,"alert":{"locArgs":"a"}}"#, #""apns":{"enabled":true,"alert":{"locArgs":[1]}}"#,
            #""apns":{"enabled":true,"badge":"1"}"#, #""apns":{"enabled":true,"sound":1}"#,
            #""apns":{"enabled":true,"category":true}"#, #""apns":{"enabled":true,"contentAvailable":"yes"}"#,
            #""apns":{"enabled":true,"mutableContent":{}}"#, #""apns":{"enabled":true,"data":{"a":{}}}"#,
            #""jpush":{"enabled":true,"data":{"a":[]}}"#,
        ]
    )
    func illegalFieldsAreRefused(section: String) throws {
        var world = try World()
        expectRefusal(try world.send(#"{"data":{"a":"b"},\#(section)}"#), "400 INVALID_INPUT_DATA")
        #expect(world.all.kii.control("GET", "messages").json["messages"]?.array?.isEmpty == true)
    }
}
