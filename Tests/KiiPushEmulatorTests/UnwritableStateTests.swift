import CSQLite
import Glibc
import KiiPushCore
import KiiPushEmulator
import Testing

/// A change that the emulator cannot write is refused and has no effect.
@Suite struct UnwritableStateTests {
    /// Holds the write lock of the emulator's database for its lifetime.
    private final class WriteLock {
        private var database: OpaquePointer?

        init(_ emulator: Emulator) throws {
            try #require(sqlite3_open(emulator.directory + "/state.sqlite", &self.database) == SQLITE_OK)
            try #require(sqlite3_exec(self.database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        }

        deinit { sqlite3_close(self.database) }
    }

    private func refused(_ client: EmulatorClient, _ request: () async throws -> RawAnswer) async throws {
        let lock = try WriteLock(client.emulator)
        let answer = try await request()
        withExtendedLifetime(lock) {
            #expect(answer.status == 503)
            #expect(answer.json["errorCode"]?.string == "RESOURCE_TEMPORARILY_UNAVAILABLE")
        }
    }

    private func sequences(_ client: EmulatorClient) async throws -> [Int64] {
        let messages = try await client.control("GET", "messages").json["messages"]?.array
        return (messages ?? []).compactMap { $0["sequence"]?.int64 }
    }

    @Test func anEventOfAChangeThatWasNotWrittenIsNotLogged() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let bucket = "users/me/buckets/notes"
            let subscriptions = "\(bucket)/filters/all/push/subscriptions/users"
            #expect(try await client.call("POST", subscriptions, token: receiver.token).status == 204)
            func put(_ object: String) async throws -> RawAnswer {
                try await client.call("PUT", "\(bucket)/objects/\(object)", token: receiver.token, type: "Note", [:])
            }
            #expect(try await put("o1").status == 201)
            try await self.refused(client) { try await put("o2") }
            #expect(try await client.call("GET", "\(bucket)/objects/o2", token: receiver.token).status == 404)
            #expect(try await put("o3").status == 201)
            #expect(try await self.sequences(client) == [1, 2])
        }
    }

    @Test func aResetThatWasNotWrittenForgetsNothing() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let admin = try await client.adminToken()
            #expect(try await client.push(1, to: receiver, admin: admin).status == 200)
            let fault: JSONValue = ["path": "/api/never", "status": 500]
            #expect(try await client.control("POST", "faults", fault).status == 201)
            try await self.refused(client) { try await client.control("POST", "reset") }
            #expect(try await client.call("GET", "users/me", token: receiver.token).status == 200)
            #expect(try await client.canConnect(receiver))
            #expect(try await self.sequences(client) == [1])
            #expect(try await client.control("GET", "faults").json["faults"]?.array?.count == 1)
        }
    }

    @Test func credentialsThatTheBrokerWasNotToldAreNotHandedOut() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            let (id, token) = try await client.installation()
            // The emulator's new password file cannot replace a directory.
            let passwords = client.emulator.directory + "/broker/passwords"
            try #require(unlink(passwords) == 0 && mkdir(passwords, 0o700) == 0)
            let refused = try await client.call("GET", "installations/\(id)/mqtt-endpoint", token: token)
            #expect(refused.status == 503)
            #expect(refused.field("Retry-After") == "1")
            try #require(rmdir(passwords) == 0)
            let renewed = try await client.receiver(userID: "", token: token)
            #expect(try await client.canConnect(renewed))
            #expect(try await client.canConnect(receiver))
        }
    }

    @Test func aRevocationThatCouldNotBeWrittenIsWrittenLater() async throws {
        try await withEmulator { client in
            let receiver = try await client.receiver()
            #expect(try await client.canConnect(receiver))
            let passwords = client.emulator.directory + "/broker/passwords"
            try #require(unlink(passwords) == 0 && mkdir(passwords, 0o700) == 0)
            let path = "installations/\(receiver.installationID)"
            let (id, token) = try await client.installation()
            #expect(try await client.call("DELETE", path, token: receiver.token).status == 204)
            // The broker processes revocation and grant in turn, so the refused grant shows that the revocation has
            // failed.
            #expect(try await client.call("GET", "installations/\(id)/mqtt-endpoint", token: token).status == 503)
            try #require(rmdir(passwords) == 0)
            // The emulator repeats the revocation without another request.
            while try await client.canConnect(receiver) { try await Task.sleep(for: .milliseconds(10)) }
        }
    }
}
