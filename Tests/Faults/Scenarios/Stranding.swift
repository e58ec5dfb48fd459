import Foundation
import KiiPushCore

// The agent's file names another installation at the next start. Messages of the former installation are still in the
// inbox.
extension Scenario {
    static func stranded(messages: Int) -> Scenario {
        var settings = AgentReceiver.Settings()
        let share = messages / 2
        // One message of each half takes very long, so that the agent is still working at the check, also on a busy
        // machine.
        let held = share / 4 * 3
        settings.slow = (every: held, milliseconds: 25000)
        settings.slowsOnce = true
        return Scenario(
            "stranded",
            "the agent is killed amid its work and becomes another installation, of its user and then of another",
            with: .agent(settings)
        ) { play in
            try play.receiver.start()
            try await play.send(1...share)
            play.expect(try await play.observation.wait { $0.lastBegun == held }, "no progress")
            _ = try await play.observation.kill()
            let ofUser = try InboxReading(state: play.bench.state).open
            play.expect(ofUser > 0, "nothing was left")
            _ = try await play.becomeAnother { $0 }
            // The agent adopts and handles them by itself.
            try play.receiver.start()
            let agent = play.receiver as? AgentReceiver
            let isTold = try await play.observation.wait { _ in agent?.told.contains("adopted") == true }
            play.expect(isTold, "nothing says that messages were taken over")
            try await play.send(share + 1...messages)
            play.expect(try await play.observation.wait { $0.lastBegun == 2 * held }, "no progress")
            _ = try await play.observation.kill()
            let last = try await play.becomeAnother { "\($0)-other" }
            let stranded = try InboxReader(stateDirectory: play.bench.state).stranded()
            let count = stranded.reduce(0) { $0 + $1.messages }
            play.expect(count > 0, "nothing is said to wait for nobody")
            for left in stranded { try await play.adopt(left.installationID, by: last) }
            play.expect(try InboxReader(stateDirectory: play.bench.state).stranded() == [], "messages still wait")
            try play.receiver.start()
            try await play.finish()
            return "\(ofUser) adopted by themselves, \(count) by hand"
        }
    }
}

extension Play {
    /// Changes the agent's file to a new installation, whose principal is the result of `principal` for the present
    /// one.
    ///
    /// - Returns: the new installation.
    fileprivate func becomeAnother(_ principal: (String) -> String) async throws -> String {
        let path = "\(self.bench.state)/agents/default.json"
        let json = try JSONValue(parsing: String(contentsOfFile: path, encoding: .utf8))
        guard let installation = json["installationID"]?.string, let owner = json["principalID"]?.string else {
            throw FaultError("\(path) is no agent's file")
        }
        let other = UUID().uuidString
        let text = String(decoding: json.serialized(), as: UTF8.self)
            .replacingOccurrences(of: installation, with: other)
            .replacingOccurrences(of: "\"principalID\":\"\(owner)\"", with: "\"principalID\":\"\(principal(owner))\"")
        try PrivateFile.replace(path, with: Array(text.utf8))
        return other
    }

    /// Does the same as `kii-push inbox adopt` after `kii-push register`, while no agent receives.
    fileprivate func adopt(_ former: String, by installation: String) async throws {
        let inbox = try Inbox(path: "\(self.bench.state)/inbox.sqlite")
        _ = try inbox.transaction { transaction throws(InboxError) in try transaction.installation(id: installation) }
        let runtime = try PushRuntime(configuration: .init(stateDirectory: self.bench.state))
        let count = try await runtime.adopt(former, by: installation)
        await runtime.shutdown()
        if count == nil { throw FaultError("the inbox does not know installation \(former)") }
    }
}
