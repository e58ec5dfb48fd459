import Foundation
import KiiPushCore
import TestTraits
import Testing

/// The broker gets a certificate of a new authority while an agent runs. The new authority's file replaces the old one.
@Suite(.ownThreads) struct RotatedAuthorityTests {
    @Test func anAgentTrustsTheNewAuthorityAtOnce() throws {
        let session = try EmulatorSession(keepsState: true)
        try session.succeed("register")
        let trusted = session.tool.home.appending(path: "trusted.pem")
        func trustTheEmulator() throws -> String {
            let file = try #require(try session.runtimeFile()["caFile"]?.string)
            try Data(contentsOf: URL(filePath: file)).write(to: trusted, options: .atomic)
            return file
        }
        let authority = try trustTheEmulator()
        let run = try session.tool.start(["run", "--exec", "true", "--cacert", trusted.path])
        #expect(run.error(containing: "> Ready. ").contains("> Ready. "))
        #expect(session.stop().exit == 0)
        try FileManager.default.removeItem(at: URL(filePath: authority).deletingLastPathComponent())
        try session.startAgain()
        #expect(run.error(containing: "certificate").contains("certificate"))
        #expect(try trustTheEmulator() == authority)
        let said = run.error(until: { $0.components(separatedBy: "> Ready. ").count > 2 })
        #expect(said.components(separatedBy: "> Ready. ").count > 2, "\(said)")
        run.stop()
    }
}
