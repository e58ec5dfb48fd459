import Foundation
import Glibc
import KiiPushEmulator
import Testing

/// The mosquitto of an emulator, found by its configuration file.
struct BrokerProcess {
    let pid: pid_t

    init?(directory: String) {
        guard let first = BrokerProcess.all(directory: directory).first else { return nil }
        self = first
    }

    private init(pid: pid_t) {
        self.pid = pid
    }

    static func all(directory: String) -> [BrokerProcess] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { pid_t($0) }.filter { pid in
            guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else { return false }
            let words = String(decoding: data, as: UTF8.self).split(separator: "\0").map { String($0) }
            return words.first?.hasSuffix("mosquitto") == true && words.last == "\(directory)/broker/mosquitto.conf"
        }.map { BrokerProcess(pid: $0) }
    }

    static func require(_ emulator: Emulator) throws -> BrokerProcess {
        try #require(BrokerProcess(directory: emulator.directory))
    }

    func signal(_ number: Int32) { kill(self.pid, number) }

    /// Suspends the process while `body` runs, and resumes it afterwards, also after an error.
    func paused<Result>(_ body: () async throws -> Result) async throws -> Result {
        self.signal(SIGSTOP)
        defer { self.signal(SIGCONT) }
        return try await body()
    }
}

/// A temporary directory that is removed with this object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("kii push é \(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.resolvingSymlinksInPath().path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}

extension BrokerPatience {
    /// Patience of ten minutes, for tests of other behaviour on a busy machine.
    static let long: BrokerPatience = {
        var patience = BrokerPatience()
        patience.start = .seconds(600)
        patience.grant = .seconds(600)
        patience.publish = .seconds(600)
        patience.stop = .seconds(600)
        return patience
    }()
}

/// Runs `body` with an emulator and stops the emulator afterwards, also after an error. The emulator waits up to ten
/// minutes for its broker unless the configuration sets another patience.
func withEmulator<Result>(
    _ configuration: Emulator.Configuration = .init(),
    _ body: (EmulatorClient) async throws -> Result
) async throws -> Result {
    var configuration = configuration
    if configuration.patience == BrokerPatience() { configuration.patience = .long }
    let emulator = try await Emulator.start(configuration)
    do {
        let result = try await body(EmulatorClient(emulator))
        await emulator.stop()
        return result
    } catch {
        await emulator.stop()
        throw error
    }
}

func mode(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.posixPermissions] as? Int
}
