import KiiPushCore

struct TracedContent {
    let text: String
    let members: [(String, JSONValue)]
    private let payload: [UInt8]

    init(_ trace: MessageRecord) {
        self.payload = trace.payload
        guard trace.originalLength == nil else {
            self.text = "unknown: only the beginning was kept"
            self.members = []
            return
        }
        do {
            let message = try ReceivedMessage(payload: trace.payload)
            let source = MessageText(message).source
            self.text = message.kind.text + (source.isEmpty ? "" : "  \(source)")
            let kind = ("kind", JSONValue(message.kind.name))
            self.members = [kind] + message.sourceMembers.filter { $0.0 != "sender" }
        } catch .thingCommand {
            self.text = "thing-if command"
            self.members = [("kind", "thingCommand")]
        } catch {
            // A list may show the error: it names positions and types, but no value of the payload.
            self.text = "unknown: \(error.description.terminalSafe)"
            self.members = []
        }
    }

    var payloadText: String {
        if let json = try? JSONValue(parsing: self.payload) { return json.terminalText }
        return self.utf8?.terminalSafe ?? hexadecimal(self.payload)
    }

    var payloadMember: (String, JSONValue) {
        if let json = try? JSONValue(parsing: self.payload) { return ("payload", json) }
        if let text = self.utf8 { return ("payload_text", JSONValue(text)) }
        return ("payload_hex", JSONValue(hexadecimal(self.payload)))
    }

    private var utf8: String? { String(validating: self.payload, as: UTF8.self) }
}

package func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
