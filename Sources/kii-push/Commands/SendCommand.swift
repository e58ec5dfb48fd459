import KiiPushCommandLine
import KiiPushCore

struct SendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Sends a push: to a topic, to a user, or by creating an object.",
        examples: [
            ("To all who are subscribed to a topic", #"kii-push send topic alerts --data '{"msg":"hi"}'"#),
            ("Straight to a user, here the profile's own", #"kii-push send user me --data '{"msg":"hi"}'"#),
            (
                "By a change in a bucket that somebody is subscribed to",
                #"kii-push send object user:me/notes --data '{"title":"milk"}'"#
            ),
            ("Try it out: what would be sent, and what becomes of it", "kii-push send user me --fixture alert --wait"),
        ],
        subcommands: [SendTopicCommand.self, SendUserCommand.self, SendObjectCommand.self, SendFixturesCommand.self],
        likelySubcommand: "topic",
        aliases: ["pub"]
    )
}

extension CloudSession {
    func showSent(_ messageID: String, to name: String, _ target: JSONValue) async throws {
        let receivers = await self.receiverCount(of: messageID)
        let reach = receivers.map { ", " + $0.text(of: "receiver") } ?? ""
        try self.console.result("sent \(messageID.terminalSafe) to \(name)\(reach)")
        let page = self.inspectorURL(of: messageID)
        if let page { try self.console.result("  \(page.terminalSafe)") }
        try self.console.object(
            "sent", ["id": messageID, "target": target, "receivers": receivers, "inspector": page])
    }
}
