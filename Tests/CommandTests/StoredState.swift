import Foundation
import KiiPushCore
import TestSupport
import Testing

extension EmulatorSession {
    var stateDirectory: String { self.tool.home.path + "/state/kii-push/profiles/default" }

    func installation() throws -> String {
        try #require(try PushAgent.registration(in: self.stateDirectory)).installationID
    }

    /// Stores a message in each of these states, as if the profile had received it: `{"n":1}`, `{"n":2}`, … each from a
    /// different sender, unless `payload` is another. Retries are due in an hour.
    func store(_ states: [RowState], payload: String? = nil) throws {
        let registration = try #require(try PushAgent.registration(in: self.stateDirectory))
        let inbox = try Inbox(path: self.stateDirectory + "/inbox.sqlite")
        try inbox.transaction { transaction throws(InboxError) in
            let installation = try transaction.installation(id: registration.installationID)
            for (index, state) in states.enumerated() {
                let sequence = try transaction.insert(
                    StoredMessage(
                        installation: installation, topic: registration.mqttTopic,
                        payload: Array((payload ?? #"{"n":\#(index + 1),"sender":"s-\#(index + 1)"}"#).utf8),
                        receivedAt: .now(),
                        state: state, reason: state == .dead ? "rejected: no" : nil))
                guard state == .retry else { continue }
                let change = MessageChange(sequence: sequence, state: .retry, attempts: 1, pause: .seconds(3600))
                try transaction.update(change, at: .now())
            }
        }
    }

    func doctorOnInbox() throws -> JSONValue {
        let result = try self.tool.start(["doctor", "--json", "--timeout", "600s"]).waitForExit()
        let checks = try result.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        return try #require(checks.first { $0["code"]?.string == "INBOX" }, "\(result.error)")
    }
}

extension Inbox {
    func update(_ change: MessageChange) throws {
        _ = try self.transaction { transaction throws(InboxError) in try transaction.update(change, at: .now()) }
    }
}
