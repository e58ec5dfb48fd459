import Contract
import KiiPushCore
import Testing

private let never = testNow + .seconds(2_147_483_647)

extension ClientCall {
    static let tokens: [ClientCall] = [
        ClientCall(id: "token.user", method: "login(_:expiresAt:)") { client, _ in
            let token = try await client.login(.user(name: "alice", password: "pass word"))
            #expect(token == AccessToken(principal: alice, token: "at", refreshToken: "rt", expiresAt: never))
        },
        ClientCall(
            id: "token.user",
            method: "login(_:expiresAt:)",
            body: [
                "grant_type": "password", "username": "alice", "password": "pass word",
                "expiresAt": 9_007_199_254_740_993,
            ],
            reply: ["id": "u1", "access_token": "at", "expires_in": 3600, "new": ["x": 1]]
        ) { client, _ in
            let end = Timestamp(millisecondsSinceEpoch: 9_007_199_254_740_993)
            let token = try await client.login(.user(name: "alice", password: "pass word"), expiresAt: end)
            #expect(token.expiresAt?.millisecondsSinceEpoch == 1_000_003_600_000)
        },
        ClientCall(id: "token.thing", method: "login(_:expiresAt:)") { client, _ in
            let token = try await client.login(.thing(vendorThingID: "v-1", password: "pw-1"))
            #expect(token.principal == lamp)
        },
        ClientCall(id: "token.administrator", method: "login(_:expiresAt:)") { client, _ in
            let token = try await client.login(.administrator(clientID: "ci", clientSecret: "cs"))
            #expect(token.principal == nil)
        },
        ClientCall(id: "token.anonymous", method: "login(_:expiresAt:)") { client, _ in
            let token = try await client.login(.anonymous)
            #expect(token.principal == nil && token.token == "at")
        },
        ClientCall(id: "token.refresh", method: "refresh(_:)") { client, _ in
            let token = try await client.refresh(AccessToken(principal: alice, token: "at", refreshToken: "rt"))
            #expect(token == AccessToken(principal: alice, token: "at2", refreshToken: "rt2", expiresAt: never))
        },
        ClientCall(
            id: "token.refresh",
            method: "refresh(_:)",
            note: "of a thing, with less in the reply",
            reply: ["access_token": "at2", "refresh_token": "rt2"]
        ) { client, _ in
            let token = try await client.refresh(AccessToken(principal: lamp, token: "at", refreshToken: "rt"))
            #expect(token == AccessToken(principal: lamp, token: "at2", refreshToken: "rt2"))
        },
    ]
}
