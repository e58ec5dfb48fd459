import Foundation
import Glibc
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct DoctorFaultTests {
    @Test func namesWhatIsWrong() async throws {
        let world = try DoctorWorld()
        var named = 0
        var table = ["fault                         expected         named            exit"]
        for fault in Fault.allCases {
            let profile = "\(fault)"
            try world.register(profile)
            let report = try await self.report(of: fault, profile, world)
            let name = report.firstFailure ?? "nothing"
            if name == fault.code { named += 1 }
            #expect(name == fault.code && report.exit == fault.exit, "\(fault): \(report)")
            let columns = [(fault.rawValue, 30), (fault.code, 17), (name, 17)]
            let row = columns.map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined()
            table.append(row + "\(report.exit)")
        }
        print(table.joined(separator: "\n") + "\n\(named) of \(Fault.allCases.count) named")
        #expect(named >= Fault.allCases.count - 1)
    }

    private func report(of fault: Fault, _ profile: String, _ world: DoctorWorld) async throws -> Report {
        switch fault {
        case .emulatorStopped:
            let other = try DoctorWorld()
            try other.register(profile)
            _ = other.session.stop()
            return try other.doctor(profile, trusting: false)
        case .unknownHost: return try world.doctor(profile, ["--base-url", "https://nowhere.invalid/api"])
        case .proxyGone: return try world.doctor(profile, ["--proxy", "http://127.0.0.1:\(try world.deadPort())"])
        case .authorityNotTrusted, .certificateExpired, .certificateOfAnother:
            return try self.reportOnCertificate(fault, profile, world)
        case .brokerDown, .clockSkewed, .brokerRefuses, .pushSwallowed:
            return try self.reportOnCloud(fault, profile, world)
        case .subscriptionRefused: return try self.report(onGrant: 0x80, profile, world)
        case .wrongAppKey:
            let key = try world.tool.write("another", to: "wrong-key")
            return try world.doctor(profile, ["--app-key-file", key])
        case .tokenRevoked:
            let other = try DoctorWorld()
            try other.register(profile)
            try await other.session.control("POST", "reset")
            return try other.doctor(profile)
        case .installationDeleted:
            try await world.deleteInstallation(profile)
            return try world.doctor(profile)
        case .credentialsOpen:
            let path = try world.tool.write(#"{"version":1}"#, to: "config/kii-push/credentials.json", mode: 0o644)
            defer { try? FileManager.default.removeItem(atPath: path) }
            return try world.doctor(profile)
        case .stateReadOnly: return try self.reportOnReadOnlyState(profile, world)
        case .inboxDamaged:
            let path = world.directory(profile) + "/inbox.sqlite"
            try Data("this was an inbox once\n".utf8).write(to: URL(filePath: path))
            return try world.doctor(profile)
        case .tooManyDeadLetters:
            let path = world.directory(profile) + "/inbox.sqlite"
            try SQLiteFile(path, for: .changing).execute(
                """
                WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
                INSERT INTO message (sequence, installation, state, bytes, updated_ms, received_ms, qos, duplicate, retain,
                    connection, topic, payload)
                SELECT n, (SELECT min(key) FROM installation), 5, 65, 0, 0, 1, 0, 0, 1, 't', x'' FROM numbers;
                UPDATE ledger SET last_sequence = 100000, received = 100000, rows5 = 100000, bytes5 = 6500000;
                """)
            return try world.doctor(profile)
        }
    }

    private func reportOnCertificate(_ fault: Fault, _ profile: String, _ world: DoctorWorld) throws -> Report {
        guard fault != .authorityNotTrusted else {
            let url = try #require(world.file["httpsBaseURL"]?.string)
            return try world.doctor(profile, ["--base-url", url], trusting: false)
        }
        let certificates = try TestCertificates(in: world.tool.home.path + "/" + profile)
        let (server, port) = try certificates.server(fault == .certificateExpired ? "expired" : "good")
        // libcurl resolves every name under "localhost" to the loopback address (RFC 6761 section 6.3).
        let host = fault == .certificateExpired ? "localhost" : "other.localhost"
        let url = "https://\(host):\(port)/api"
        let report = try world.doctor(profile, ["--base-url", url, "--cacert", certificates.authority])
        server.signal(SIGKILL)
        return report
    }

    private func reportOnCloud(_ fault: Fault, _ profile: String, _ world: DoctorWorld) throws -> Report {
        // The cloud's clock is an hour ahead of this machine's.
        let date = fault == .clockSkewed ? Date(timeIntervalSinceNow: 3600) : nil
        let port = try world.deadPort()
        let cloud = try world.cloud(for: profile, date: date) { endpoint in
            switch fault {
            case .brokerDown: endpoint["portSSL"] = JSONValue(Int(port))
            case .brokerRefuses: endpoint["password"] = "wrong"
            default: break
            }
        }
        let isSwallowed = fault == .pushSwallowed
        let report = try world.doctor(
            profile, ["--base-url", cloud.baseURL] + (isSwallowed ? ["--round-trip"] : []),
            environment: isSwallowed ? ["KII_PUSH_CLIENT_ID": "c", "KII_PUSH_CLIENT_SECRET": "s"] : [:],
            time: isSwallowed ? "120s" : "600s")
        withExtendedLifetime(cloud) {}
        return report
    }

    /// The report beside a broker that answers SUBSCRIBE with `grant`.
    private func report(onGrant grant: UInt8, _ profile: String, _ world: DoctorWorld) throws -> Report {
        let certificates = try TestCertificates(in: world.tool.home.path + "/" + profile)
        let (broker, port) = try certificates.broker(granting: grant)
        let cloud = try world.cloud(for: profile) { endpoint in
            endpoint["host"] = "localhost"
            endpoint["portSSL"] = JSONValue(Int(port))
        }
        let options = ["--base-url", cloud.baseURL, "--cacert", certificates.authority]
        let report = try world.doctor(profile, options)
        broker.signal(SIGKILL)
        withExtendedLifetime(cloud) {}
        return report
    }

    @Test func namesADowngradeAndGoesOn() throws {
        let world = try DoctorWorld()
        try world.register("default")
        let report = try self.report(onGrant: 0, "default", world)
        #expect(report.exit == 0)
        let suback = try #require(report.check("SUBACK"))
        #expect(suback["outcome"] == "warning")
        #expect(suback["evidence"]?.string?.hasPrefix("QoS 0 was granted, QoS 1 was asked for") == true)
        // The test's certificates are valid for two days.
        #expect(report.check("TLS-EXPIRY broker")?["outcome"] == "warning")
        #expect(report.check("ROUND-TRIP")?["evidence"] == "not asked for: --round-trip")
    }

    private func reportOnReadOnlyState(_ profile: String, _ world: DoctorWorld) throws -> Report {
        let directory = world.directory(profile)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory) }
        guard geteuid() == 0 else { return try world.doctor(profile) }
        // Root may write everywhere, so the user nobody owns the state and runs `doctor`.
        let nobody: UInt32 = 65_534
        let paths = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        for path in [directory] + paths.map({ directory + "/" + $0 }) { try #require(chown(path, nobody, nobody) == 0) }
        let parts = ["", "/state", "/state/kii-push", "/state/kii-push/profiles"]
        for part in parts { try #require(chmod(world.tool.home.path + part, 0o755) == 0) }
        return try world.doctor(profile, trusting: false, as: nobody)
    }
}
