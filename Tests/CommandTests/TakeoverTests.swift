import Foundation
import KiiPushCore
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct TakeoverTests {
    private func copy(of session: EmulatorSession) throws -> Tool {
        let elsewhere = try Tool()
        for name in ["state", "config", "run/kii-push/emulator.json"] {
            let copy = elsewhere.home.appending(path: name)
            if FileManager.default.fileExists(atPath: copy.path) { try FileManager.default.removeItem(at: copy) }
            try FileManager.default.copyItem(at: session.tool.home.appending(path: name), to: copy)
        }
        return elsewhere
    }

    /// All directories differ; the machine and the user are the same.
    @Test func onOneMachineTheSecondIsToldWhateverItsDirectories() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let elsewhere = try self.copy(of: session)
        let first = try session.ready(["listen"])
        let second = try elsewhere("listen", "-t", "5m")
        #expect(second.exit == 75)
        let words = "kii-push: process \(first.processID) receives as this profile"
        #expect(second.error.hasPrefix(words), "\(second.error)")
        first.stop()
    }

    /// A receiver on another machine does not share the lock. This test uses a program that knows no lock.
    @Test func listenSaysThatThereIsAnotherReceiver() throws {
        let session = try EmulatorSession()
        try session.succeed("register")
        let state = session.tool.home.path + "/state/kii-push/profiles/default/agents/default.json"
        let endpoint = try #require(try JSONValue(parsing: [UInt8](Data(contentsOf: URL(filePath: state))))["endpoint"])
        func value(_ name: String) throws -> String {
            try #require(endpoint[name]?.string ?? endpoint[name]?.int64.map { String($0) })
        }
        let topic = try value("mqttTopic")
        let first = try session.ready(["listen"])
        // mosquitto_sub reconnects 1 s after each disconnection.
        let other = try ChildProgram([
            "mosquitto_sub", "-h", "127.0.0.1", "-p", value("portSSL"), "--cafile",
            #require(try session.runtimeFile()["caFile"]?.string), "-i", topic, "-t", topic, "-q", "1", "-c",
            "-u", value("username"), "-P", value("password"),
        ])
        let text = first.error(containing: "taken over")
        let line = #/  !  taken over {5}another receiver probably uses this installation: the broker closed \d c/#
        #expect(text.contains(line), "\(text)")
        #expect(text.contains("stop the other one, or receive as another user or thing\n"))
        other.signal(SIGKILL)
        first.stop()
    }
}
