import Foundation
import TestSupport
import Testing

/// A short `script/simulate`. The runner is a separate program, because the simulated disk replaces SQLite's file
/// system in its whole process.
@Suite struct SimulationTests {
    private static func run(_ arguments: [String]) async throws -> (status: Int32, text: String) {
        let program = productsDirectory.appending(path: "kii-push-simulate").path
        return try await onThread {
            let runner = try ChildProgram([program] + arguments, mergesErrors: true)
            return (runner.wait(), runner.output.all())
        }
    }

    @Test func twoThousandHistoriesKeepEveryPromise() async throws {
        let (status, text) = try await Self.run(["--seeds", "2000"])
        #expect(status == 0 && text.contains("histories       2000, 0 failed"), "\(text)")
    }

    @Test func oneSeedIsOneHistory() async throws {
        let (_, first) = try await Self.run(["--seed", "7"])
        let (_, second) = try await Self.run(["--seed", "7"])
        #expect(first.contains("process 0 begins"))
        #expect(first == second)
    }

    /// A patch that no longer applies would test nothing.
    @Test func everyMutantCanBeMade() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = root.appending(path: "Tests/Mutants").path
        let patches = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".patch") }
        #expect(patches.count >= 25)
        for patch in patches {
            let result = try await ForeignProgram("git", "-C", root.path, "apply", "--check", "\(folder)/\(patch)")
                .run()
            #expect(result.status == 0, "\(patch): \(result.errors)")
        }
    }

    @Test(arguments: [["--seeds", "0"], ["--only", "1"], ["--seed"], ["--often", "1"]])
    func whatCannotBeMeantIsRefused(_ arguments: [String]) async throws {
        let (status, text) = try await Self.run(arguments)
        #expect(status == 64)
        #expect(text.hasPrefix("usage: "))
    }
}
