import Foundation
import KiiPushCore
import KiiPushEmulator
import TestTraits
import Testing

/// Requests of Kii's clients that a strict server would refuse, byte by byte over the socket.
@Suite(.ownThreads) struct TrapTests {
    /// An emulator, a pseudo user and the beginning of the user's requests.
    private struct World {
        let client: EmulatorClient
        let root: String
        let userID: String
        let token: String

        init(_ client: EmulatorClient) async throws {
            self.client = client
            self.root = "/api/apps/\(client.emulator.appID)"
            let user = try await client.call("POST", "users", type: "RegistrationAndAuthorizationRequest", [:])
            self.userID = try #require(user.json["userID"]?.string)
            self.token = try #require(user.json["_accessToken"]?.string)
        }

        /// Sends the lines, an empty line and then `body`.
        func send(_ lines: [String], _ body: String = "") async throws -> RawAnswer {
            try await RawHTTP.exchange(
                port: self.client.port,
                lines.joined(separator: "\r\n") + "\r\n\r\n" + body
            )
        }
    }

    private static func inWorld(_ body: (World) async throws -> Void) async throws {
        try await withEmulator { client in try await body(World(client)) }
    }

    /// An absent body as different clients declare it: header fields, and the bytes after the head.
    private static let emptyBodies: [(fields: [String], body: String)] = [
        ([], ""), (["Content-Length: 0"], ""), (["Content-Type: application/json"], ""),
        (["Content-Type: application/json", "Content-Length: 0"], ""),
        (["Content-Type: text/plain; charset=utf-8", "Content-Length: 0"], ""),
        (["Transfer-Encoding: chunked"], "0\r\n\r\n"),
    ]

    @Test func bodiesThatAreEmptyAreTakenInEveryForm() async throws {
        try await TrapTests.inWorld { world in
            for (index, empty) in TrapTests.emptyBodies.enumerated() {
                let topic = "\(world.root)/users/me/topics/t\(index)"
                let steps = [
                    ("PUT", topic, 204), ("PUT", topic, 409), ("POST", "\(topic)/push/subscriptions/users", 204),
                    ("GET", "\(topic)/push/subscriptions/users/\(world.userID)", 204),
                    ("DELETE", "\(topic)/push/subscriptions/users/\(world.userID)", 204), ("DELETE", topic, 204),
                ]
                for (method, path, status) in steps {
                    let head = [
                        "\(method) \(path) HTTP/1.1", "Host: localhost", "Authorization: Bearer \(world.token)",
                    ]
                    let answer = try await world.send(head + ["Connection: close"] + empty.fields, empty.body)
                    #expect(answer.status == status, "\(method) \(path) with \(empty.fields)")
                    #expect(answer.body.isEmpty == (status == 204))
                }
            }
        }
    }

    @Test(
        arguments: [
            ["Authorization: Bearer"], ["authorization: bearer"], ["AUTHORIZATION: BEARER"],
            ["X-Kii-Appid: kiilocal", "X-Kii-Appkey: k", "Authorization: bearer"],
            ["x-kii-appid: kiilocal", "x-kii-appkey: wrong", "x-kii-sdk: sn=jss;sv=2.4.19", "Authorization: Bearer"],
        ]
    )
    func tokensCountWhateverStandsBesideThem(fields: [String]) async throws {
        try await TrapTests.inWorld { world in
            for version in ["1.0", "1.1"] {
                let authorized = fields.map { $0.lowercased().hasPrefix("auth") ? "\($0) \(world.token)" : $0 }
                let answer = try await world.send(
                    ["GET \(world.root)/users/me HTTP/\(version)", "Host: localhost", "Connection: close"] + authorized
                )
                #expect(answer.status == 200)
                #expect(answer.json["userID"]?.string == world.userID)
            }
        }
    }

    @Test(arguments: ["kiilocal:", "kiilocal:k", "kiilocal:any thing: at all", "kiilocal:é"])
    func basicTakesAnySecondPart(pair: String) async throws {
        try await TrapTests.inWorld { world in
            let basic = "Authorization: Basic \(Data(pair.utf8).base64EncodedString())"
            for type in ["RegistrationAndAuthorizationRequest", "registrationandauthorizationrequest"] {
                let answer = try await world.send(
                    [
                        "POST \(world.root)/users HTTP/1.0", basic, "Content-Length: 2",
                        "content-type: application/vnd.kii.\(type)+JSON;charset=UTF-8",
                    ],
                    "{}"
                )
                #expect(answer.status == 201)
                #expect(answer.json["_accessToken"]?.string?.isEmpty == false)
            }
        }
    }

    @Test(
        arguments: [
            (#"{"deviceType":"MQTT","development":"true"}"#, true),
            (#"{"deviceType":"MQTT","development":"false"}"#, false),
            (#"{"installationType":"MQTT","development":true}"#, true), (#"{"installationType":"MQTT"}"#, false),
            (#"{"installationType":"MQTT","development":null}"#, false),
        ]
    )
    func installationsAreWrittenInTwoWays(body: String, isDevelopment: Bool) async throws {
        try await TrapTests.inWorld { world in
            let fields = ["Host: localhost", "Authorization: bearer \(world.token)", "Connection: close"]
            let type = "Content-Type: application/vnd.kii.InstallationCreationRequest+json"
            let created = try await world.send(
                ["POST \(world.root)/installations HTTP/1.1", "Content-Length: \(body.utf8.count)", type] + fields,
                body
            )
            #expect(created.status == 201)
            let path = "\(world.root)/installations/\(created.json["installationID"]?.string ?? "")"
            let shown = try await world.send(["GET \(path) HTTP/1.1"] + fields)
            #expect(shown.json["deviceType"]?.string == "MQTT")
            #expect(shown.json["development"]?.bool == isDevelopment)
            let registration = created.json["installationRegistrationID"]?.string ?? ""
            let byName = try await world.send(
                ["DELETE \(world.root)/installations/MQTT:\(registration) HTTP/1.1"] + fields
            )
            #expect(byName.status == 204)
            #expect(try await world.send(["GET \(path) HTTP/1.1"] + fields).status == 404)
        }
    }

    @Test func theServerClosesWhenAskedToAndKeepsOtherwise() async throws {
        try await TrapTests.inWorld { world in
            let head = "Host: localhost\r\nAuthorization: Bearer \(world.token)\r\n"
            for (version, field, isClosed) in [
                ("1.1", "Connection: close\r\n", true), ("1.1", "", false), ("1.0", "", true),
                ("1.0", "Connection: Keep-Alive\r\n", false),
            ] {
                let connection = try RawConnection(port: world.client.port)
                let request = "GET \(world.root)/users/me HTTP/\(version)\r\n\(head)\(field)\r\n"
                try connection.send(Array(request.utf8))
                #expect(try connection.receive().status == 200)
                if isClosed {
                    #expect(try connection.isClosedByPeer())
                } else {
                    try connection.send(Array(request.utf8))
                    #expect(try connection.receive().status == 200)
                }
            }
        }
    }

    @Test func aThingOnboardsAsTheGatewayClientWritesIt() async throws {
        try await TrapTests.inWorld { world in
            let login = #"{"client_id":"kiilocal","client_secret":"\#(world.client.emulator.appKey.reveal())"}"#
            let anonymous = try await world.send(
                [
                    "POST /api/oauth2/token HTTP/1.1", "Host: localhost", "Connection: close",
                    "Content-Type: application/json", "Content-Length: \(login.utf8.count)",
                ],
                login
            )
            let token = try #require(anonymous.json["access_token"]?.string)
            let body = #"{"vendorThingID":"gateway-1","thingPassword":"secret","layoutPosition":"GATEWAY"}"#
            let answer = try await world.send(
                [
                    "POST /thing-if/apps/kiilocal/onboardings HTTP/1.1", "Host: localhost", "Connection: close",
                    "content-type: application/vnd.kii.onboardingWithVendorThingIDByThing+json",
                    "authorization: bearer \(token)", "Content-Length: \(body.utf8.count)",
                ],
                body
            )
            #expect(answer.status == 200)
            let endpoint = try #require(answer.json["mqttEndpoint"])
            let receiver = Receiver(
                userID: "",
                token: try #require(answer.json["accessToken"]?.string),
                installationID: try #require(endpoint["installationID"]?.string),
                topic: try #require(endpoint["mqttTopic"]?.string),
                username: try #require(endpoint["username"]?.string),
                password: try #require(endpoint["password"]?.string)
            )
            #expect(try await world.client.canConnect(receiver))
        }
    }
}
