import KiiPushCommandLine
import KiiPushCore

enum SinceChoice: ExpressibleByArgument, Equatable {
    case all
    case message(Int64)
    case time(Duration)

    init?(argument: String) {
        if argument == "all" {
            self = .all
        } else if let number = MessageNumber(argument: argument) {
            self = .message(number.value)
        } else if let span = TimeSpan(argument: argument) {
            self = .time(span.duration)
        } else {
            return nil
        }
    }

    static var expectation: String { "a time span such as 10m, a message's number, or all" }

    /// Shows stored messages that are done, dead or presented. The agent delivers the others anyway.
    func show(from directory: String, _ style: EventView.Style) async throws {
        guard let reader = try InboxReader.existing(in: directory) else { return }
        var last: Int64 = 0
        var start = Timestamp(millisecondsSinceEpoch: .min)
        switch self {
        case .all: break
        case .message(let id): last = id - 1
        case .time(let span): start = .now() + (.zero - span)
        }
        let over: Set<MessageRecord.Standing> = [.done, .dead, .presented]
        while case let page = try reader.messages(over, after: last), let end = page.last {
            for trace in page where trace.receivedAt >= start {
                let message = try? ReceivedMessage(payload: trace.payload)
                guard message.map(style.filter.matches) ?? style.filter.isEmpty else { continue }
                try style.show(trace, message)
                try await style.written()
            }
            last = end.messageID
        }
    }
}

extension InboxReader {
    static func existing(in directory: String) throws(InboxAccessError) -> InboxReader? {
        do throws(InboxAccessError) {
            return try InboxReader(stateDirectory: directory)
        } catch {
            if case .missing = error { return nil }
            throw error
        }
    }
}

extension EventView.Style {
    /// Shows a stored message like one that arrives now, with its outcome. The user's format omits records that are no
    /// message.
    func show(_ trace: MessageRecord, _ message: ReceivedMessage?) throws {
        guard let message else {
            if self.format == nil { try self.console.show(inList: trace) }
            return
        }
        let context = trace.context
        guard let format = self.format else { return try self.console.show(message, context, endedAs: trace) }
        try self.console.write(
            format, .init(message: message, context: context, time: trace.receivedAt, result: trace.resultWord))
    }
}

extension MessageRecord {
    fileprivate var context: DeliveryContext {
        DeliveryContext(
            installationID: self.installationID ?? "", messageID: self.messageID, receivedAt: self.receivedAt,
            attempt: max(1, self.begunAttempts))
    }

    fileprivate var resultWord: String {
        for case .done(let result, _, _) in self.events.reversed().map(\.kind) { return result.word }
        if case .dead = self.state { return "dead" }
        return ""
    }
}
