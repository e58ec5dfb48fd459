import Foundation
import FuzzTargets
import Testing

/// Each input that the fuzzer kept, and each input that once failed, goes through its target again.
@Suite struct CorpusTests {
    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fuzz/Corpora")

    @Test(arguments: FuzzTarget.allCases)
    func everyInputThatWasKeptHolds(target: FuzzTarget) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.corpora.appending(path: target.rawValue), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let input = [UInt8](try Data(contentsOf: file))
            #expect(target.violations(input) == [], "\(file.lastPathComponent)")
        }
    }

    /// A corpus whose sessions all end at once would prove nothing.
    @Test func itsSessionsComeFar() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.corpora.appending(path: "session"), includingPropertiesForKeys: nil)
        let runs = try files.map { SessionFuzzing.run([UInt8](try Data(contentsOf: $0))).model }
        #expect(runs.map(\.acknowledged).reduce(0, +) > 100)
        #expect(runs.map(\.proven).reduce(0, +) > 20)
        #expect(runs.map(\.subscribed).reduce(0, +) > 50)
        #expect(runs.map(\.ends).reduce(0, +) > 50)
    }

    /// A corpus whose requests are all refused would prove nothing.
    @Test func itsRequestsAreAnswered() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.corpora.appending(path: "emulator"), includingPropertiesForKeys: nil)
        let statuses = try files.flatMap { EmulatorFuzzing.run([UInt8](try Data(contentsOf: $0))).statuses }
        for status in [200, 201, 204, 400, 401, 403, 404, 405, 409, 429] {
            #expect(statuses.contains(status), "\(status)")
        }
    }

    @Test func theyAreSmall() throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: Self.corpora.path)
        let sizes = try files.map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: Self.corpora.path + "/" + name)
            return attributes[.type] as? FileAttributeType == .typeRegular ? attributes[.size] as? Int ?? 0 : 0
        }
        #expect(sizes.reduce(0, +) < 1_000_000)
    }
}
