import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import Testing

@Suite struct RestartTests {
    @Test func stateSessionsAndPortsOutliveTheEmulator() async throws {
        let directory = try TemporaryDirectory()
        let configuration = Emulator.Configuration(directory: directory.path)
        let (receiver, admin, before) = try await withEmulator(configuration) { client in
            let receiver = try await client.receiver()
            try await Mosquitto(emulator: client.emulator, receiver: receiver).openSession()
            let admin = try await client.adminToken()
            for number in 1...3 {
                #expect(try await client.push(number, to: receiver, admin: admin).status == 200)
            }
            return (receiver, admin, client.emulator)
        }
        try await withEmulator(configuration) { client in
            #expect(client.emulator.baseURL == before.baseURL)
            #expect(client.emulator.mqttPort == before.mqttPort)
            #expect(client.emulator.mqttTLSPort == before.mqttTLSPort)
            #expect(client.emulator.webSocketPort == before.webSocketPort)
            #expect(client.emulator.webSocketTLSPort == before.webSocketTLSPort)
            #expect(client.emulator.appKey == before.appKey)
            #expect(client.emulator.adminClientSecret == before.adminClientSecret)
            // The restored session queues messages for its old topic before the client reconnects.
            #expect(try await client.push(4, to: receiver, admin: admin).status == 200)
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            #expect(try await mosquitto.receive(4).compactMap { $0["n"]?.int64 } == [1, 2, 3, 4])
            let again = try await client.receiver(userID: receiver.userID, token: receiver.token)
            #expect(again.topic == receiver.topic)
            #expect(again.password == receiver.password)
        }
    }

    @Test func aKilledEmulatorLeavesNoBrokerAndLosesNothing() async throws {
        let directory = try TemporaryDirectory()
        let runtimeFile = "\(directory.path)/emulator.json"
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = directory.path as String, runtimeFile = runtimeFile as String] in
            let configuration = Emulator.Configuration(directory: path, runtimeFile: runtimeFile)
            let client = try EmulatorClient(try await Emulator.start(configuration))
            let receiver = try await client.receiver(named: "ann")
            try await Mosquitto(emulator: client.emulator, receiver: receiver).openSession()
            let admin = try await client.adminToken()
            for number in 1...3 {
                let answer = try await client.push(number, to: receiver, admin: admin)
                try #require(answer.status == 200)
            }
            kill(getpid(), SIGKILL)
        }
        #expect(try PrivateFile.read(runtimeFile) != nil)
        // The kernel signals the broker when its emulator is killed. The new emulator waits until that broker has
        // ended.
        try await withEmulator(.init(directory: directory.path)) { client in
            #expect(BrokerProcess.all(directory: directory.path).count == 1)
            let receiver = try await client.receiver(loggingInAs: "ann")
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            #expect(try await mosquitto.receive(3).compactMap { $0["n"]?.int64 } == [1, 2, 3])
        }
    }

    @Test func aDirectoryHasOneEmulator() async throws {
        let directory = try TemporaryDirectory()
        try await withEmulator(.init(directory: directory.path)) { client in
            let error = await #expect(throws: EmulatorError.self) {
                _ = try await Emulator.start(.init(directory: directory.path))
            }
            #expect(error?.code == .directoryInUse(pid: getpid()))
            // The advice does not name this very process.
            #expect(error?.description.contains("\(getpid())") == false)
            #expect(error?.description.hasSuffix("stop the other emulator or use another directory") == true)
            _ = try await client.adminToken()
        }
    }

    @Test func stoppingLeavesNoProcessAndNoTemporaryDirectory() async throws {
        var configuration = Emulator.Configuration()
        configuration.patience = .long
        let emulator = try await Emulator.start(configuration)
        #expect(BrokerProcess(directory: emulator.directory) != nil)
        #expect(mode(of: emulator.directory) == 0o700)
        await emulator.stop()
        await emulator.stop()
        #expect(BrokerProcess(directory: emulator.directory) == nil)
        #expect(mode(of: emulator.directory) == nil)
    }

    @Test func aFailedStartLeavesNothingBehind() async throws {
        let directory = try TemporaryDirectory()
        let broken = Emulator.Configuration(directory: directory.path, mosquittoPath: "/bin/false")
        let error = await #expect(throws: EmulatorError.self) { _ = try await Emulator.start(broken) }
        #expect(error?.code == .brokerFailed)
        #expect(error?.detail.hasPrefix("mosquitto ended at its start: ") == true)
        let missing = Emulator.Configuration(directory: directory.path, mosquittoPath: "/nowhere/mosquitto")
        let absent = await #expect(throws: EmulatorError.self) { _ = try await Emulator.start(missing) }
        #expect(absent?.code == .programNotFound("/nowhere/mosquitto"))
        try Data("#!/bin/sh\nexec sleep 3600".utf8).write(to: URL(fileURLWithPath: "\(directory.path)/sleeper"))
        #expect(chmod("\(directory.path)/sleeper", 0o700) == 0)
        var silent = Emulator.Configuration(directory: directory.path, mosquittoPath: "\(directory.path)/sleeper")
        silent.patience.start = .milliseconds(50)
        let late = await #expect(throws: EmulatorError.self) { _ = try await Emulator.start(silent) }
        #expect(late?.code == .brokerFailed)
        #expect(late?.detail.hasPrefix("mosquitto takes no connections: ") == true)
        // The failed start has released the directory.
        try await withEmulator(.init(directory: directory.path)) { client in
            _ = try await client.adminToken()
        }
    }

    @Test func theRuntimeFileTellsTheUserAloneAndGoesAway() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/run/kii-push/emulator.json"
        try await withEmulator(.init(runtimeFile: path)) { client in
            #expect(mode(of: path) == 0o600)
            #expect(mode(of: "\(directory.path)/run/kii-push") == 0o700)
            let file = try JSONValue(parsing: #require(try PrivateFile.read(path)))
            #expect(file["version"] == 1)
            #expect(file["baseURL"]?.string == client.emulator.baseURL)
            #expect(file["httpsBaseURL"]?.string == client.emulator.httpsBaseURL)
            #expect(file["httpsBaseURL"]?.string?.hasPrefix("https://127.0.0.1:") == true)
            #expect(file["appID"]?.string == client.emulator.appID)
            #expect(file["appKey"]?.string == client.emulator.appKey.reveal())
            #expect(file["clientID"]?.string == client.emulator.adminClientID)
            #expect(file["clientSecret"]?.string == client.emulator.adminClientSecret.reveal())
            #expect(file["mqttPort"]?.int64 == Int64(client.emulator.mqttPort))
            #expect(file["mqttTLSPort"]?.int64 == Int64(client.emulator.mqttTLSPort))
            #expect(file["caFile"]?.string == client.emulator.certificateAuthorityFile)
            let process = try #require(ProcessIdentity(of: getpid()))
            #expect(file["pid"]?.int64 == Int64(process.processID))
            #expect(file["startTime"]?.int64 == Int64(process.startTime))
            #expect(file["bootID"]?.string == process.boot)
        }
        #expect(try PrivateFile.read(path) == nil)
    }

    @Test func theRuntimeFileOfAnotherEmulatorStays() async throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/emulator.json"
        try await withEmulator(.init(runtimeFile: path)) { _ in
            try await withEmulator(.init(runtimeFile: path)) { second in
                let file = try JSONValue(parsing: #require(try PrivateFile.read(path)))
                #expect(file["baseURL"]?.string == second.emulator.baseURL)
            }
            // The second emulator has removed its own file. A third emulator's file now has its place.
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            #expect(chmod(path, 0o600) == 0)
        }
        #expect(try PrivateFile.read(path) == Array("{}".utf8))
    }

    @Test func aDirectoryOfSomebodyElseIsRefused() async throws {
        let directory = try TemporaryDirectory()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(directory.path)/letter"))
        #expect(chmod(directory.path, 0o755) == 0)
        let error = await #expect(throws: EmulatorError.self) {
            _ = try await Emulator.start(.init(directory: directory.path))
        }
        #expect(error?.code == .system(EACCES))
        #expect(mode(of: directory.path) == 0o755)
        let file = await #expect(throws: EmulatorError.self) {
            _ = try await Emulator.start(.init(directory: "\(directory.path)/letter"))
        }
        #expect(file?.code == .system(ENOTDIR))
    }

    @Test func everyFileIsTheUsersAlone() async throws {
        let directory = try TemporaryDirectory()
        try await withEmulator(.init(directory: directory.path)) { client in
            let receiver = try await client.receiver()
            try await Mosquitto(emulator: client.emulator, receiver: receiver).openSession()
            let files = try #require(FileManager.default.enumerator(atPath: directory.path))
            var seen: Set<String> = []
            for case let name as String in files {
                // mosquitto replaces its database at any time, through a temporary file.
                guard let bits = mode(of: "\(directory.path)/\(name)") else { continue }
                seen.insert(name)
                // Certificates are public, but lie in a private directory.
                #expect(
                    bits & 0o077 == 0 || [".crt", ".csr", ".srl"].contains { name.hasSuffix($0) },
                    "\(name) has mode \(String(bits, radix: 8))")
            }
            let expected = [
                "broker", "broker.lock", "broker/access", "broker/certificates", "broker/certificates/ca.key",
                "broker/certificates/server.key", "broker/mosquitto.conf", "broker/mosquitto.db",
                "broker/mosquitto.log", "broker/passwords", "emulator.lock", "state.sqlite", "state.sqlite-wal",
            ]
            #expect(Set(expected).subtracting(seen) == [])
        }
    }

    @Test(arguments: [BrokerPersistence.everyChange, .everySecond])
    func aStoppedBrokerKeepsItsQueuesWhateverItsPersistence(persistence: BrokerPersistence) async throws {
        let directory = try TemporaryDirectory()
        let configuration = Emulator.Configuration(directory: directory.path, brokerPersistence: persistence)
        let receiver = try await withEmulator(configuration) { client in
            let receiver = try await client.receiver()
            try await Mosquitto(emulator: client.emulator, receiver: receiver).openSession()
            let admin = try await client.adminToken()
            #expect(try await client.push(1, to: receiver, admin: admin).status == 200)
            return receiver
        }
        try await withEmulator(configuration) { client in
            let mosquitto = Mosquitto(emulator: client.emulator, receiver: receiver)
            let messages = try await mosquitto.receive(1)
            #expect(messages.first?["n"]?.int64 == 1)
        }
    }

    @Test func storedSecretsAreInTheStateAlone() async throws {
        let directory = try TemporaryDirectory()
        try await withEmulator(.init(directory: directory.path)) { client in
            let receiver = try await client.receiver()
            let admin = try await client.adminToken()
            _ = try await client.push(1, to: receiver, admin: admin)
            let secrets = [
                receiver.password, receiver.token, admin, client.emulator.appKey.reveal(),
                client.emulator.adminClientSecret.reveal(),
            ]
            let files = try #require(FileManager.default.enumerator(atPath: directory.path))
            for case let name as String in files where !name.hasPrefix("state.sqlite") {
                let data = FileManager.default.contents(atPath: "\(directory.path)/\(name)") ?? Data()
                for secret in secrets {
                    #expect(data.range(of: Data(secret.utf8)) == nil, "a secret is in \(name)")
                }
            }
        }
    }
}
