import Contract
import KiiPushCore
import TestSupport
import Testing

extension ClientCall {
    static let users: [ClientCall] = [
        ClientCall(id: "users.register", method: "registerUser(_:)") { client, _ in
            let registration = UserRegistration(
                loginName: "alice",
                password: "pass word",
                profile: UserProfile(displayName: "Al", customFields: ["age": 7])
            )
            let userID = try await client.registerUser(registration)
            #expect(userID == "u1")
        },
        ClientCall(id: "users.registerPseudo", method: "registerPseudoUser(_:)") { client, _ in
            let token = try await client.registerPseudoUser()
            #expect(token == AccessToken(principal: .user("u1"), token: "at", refreshToken: "rt"))
        },
        ClientCall(
            id: "users.get",
            method: "user(_:)",
            parameters: ["user": "me"]
        ) { client, _ in
            let user = try await client.session(testToken).user()
            #expect(user.userID == "u1" && user.loginName == "alice" && user.hasPassword == true)
            #expect(user.profile.displayName == "Al")
        },
        ClientCall(
            id: "users.get",
            method: "user(_:)",
            note: "by address",
            parameters: ["user": "EMAIL:al%2B1%40example.com"],
            reply: ["userID": "u1", "emailAddress": "al+1@example.com", "emailAddressVerified": true]
        ) { client, _ in
            let user = try await client.session(testToken).user(.emailAddress("al+1@example.com"))
            #expect(user.emailAddress == "al+1@example.com" && user.isEmailAddressVerified == true)
        },
        ClientCall(id: "users.changePassword", method: "changePassword(from:to:of:)") { client, _ in
            try await client.session(testToken).changePassword(from: "pass word", to: "new word", of: .id("u1"))
        },
        ClientCall(
            id: "users.changePassword",
            method: "changePassword(from:to:of:)",
            note: "by an administrator",
            parameters: ["user": "LOGIN_NAME:alice"],
            body: ["newPassword": "new word"]
        ) { client, _ in
            try await client.session(testToken).changePassword(from: nil, to: "new word", of: .loginName("alice"))
        },
    ]
}
