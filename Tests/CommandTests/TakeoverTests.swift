import Foundation
import Testing

/// Two receivers as one profile, each on a machine of its own, where no lock keeps them apart.
@Suite(.timeLimit(.minutes(15))) struct TakeoverTests {
    @Test func listenSaysThatThereIsAnotherReceiver() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let elsewhere = try Tool()
        for name in ["state", "config", "run/kii-push/emulator.json"] {
            let copy = elsewhere.home.appending(path: name)
            try FileManager.default.removeItemIfExists(at: copy)
            try FileManager.default.copyItem(at: session.tool.home.appending(path: name), to: copy)
        }
        let first = try session.tool.start(["listen"])
        #expect(first.error(containing: "> Ready.").contains("> Ready."))
        let second = try elsewhere.start(["listen"])
        #expect(second.error(containing: "> Ready.").contains("> Ready."))
        // Three connections of the second are closed after 1 to 3, to 9 and to 9 s, the first's own delays.
        let line = #/  !  taken over {5}another receiver probably uses this installation: the broker closed 3 c/#
        var said = ""
        // Either of the two may be the one that says so.
        for _ in 1...600 where said.firstMatch(of: line) == nil {
            said = second.error(containing: "taken over", within: 1) + first.error(containing: "> Ready.")
        }
        #expect(said.firstMatch(of: line) != nil, "\(said)")
        #expect(said.contains("stop the other one, or receive as another user or thing\n"))
        for listener in [first, second] { listener.signal(SIGTERM) }
        #expect(first.waitForExit().exit == 0 && second.waitForExit().exit == 0)
    }
}

extension FileManager {
    fileprivate func removeItemIfExists(at url: URL) throws {
        if self.fileExists(atPath: url.path) { try self.removeItem(at: url) }
    }
}
