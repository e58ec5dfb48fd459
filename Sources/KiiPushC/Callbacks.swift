import CKiiPush
import KiiPushCore

/// The program's functions, called for one agent.
final class Callbacks: RemoteNotificationHandler, ThingCommandHandler {
    /// A function of the program's, and what it is passed.
    // Sendable, unchecked. The proof: both members are constants, a C function has no state of its own, and the library
    // passes the context on and never reads behind it. What is there is the program's to guard (`kii_push.h`, threads).
    struct Bound<Function>: @unchecked Sendable {
        let function: Function
        let context: UnsafeMutableRawPointer?
    }

    private let runtime: OpenRuntime
    private let handler: Bound<kii_push_handler>
    private let observers = Locked<[Bound<kii_push_observer>]>([])
    private let installationID = Locked<String?>(nil)

    init(_ runtime: OpenRuntime, _ handler: kii_push_handler, _ context: UnsafeMutableRawPointer?) {
        self.runtime = runtime
        self.handler = Bound(function: handler, context: context)
    }

    /// Whether it is the first observer.
    func add(_ observer: kii_push_observer, _ context: UnsafeMutableRawPointer?) -> Bool {
        let bound = Bound(function: observer, context: context)
        return self.observers.withLock { observers in
            observers.append(bound)
            return observers.count == 1
        }
    }

    /// Tells the observers of what happened to the agent.
    func tell(_ event: PushEvent) {
        if case .registered(let registration) = event {
            self.installationID.withLock { $0 = registration.installationID }
        }
        if let line = event.line(of: self.installationID.withLock { $0 }) { self.tell(line) }
    }

    private func tell(_ line: [UInt8]) {
        self.runtime.observing {
            for observer in self.observers.withLock({ $0 }) {
                withText(line) { start in
                    Callback.observer.run { observer.function(observer.context, start, line.count) }
                }
            }
        }
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        if self.observers.withLock({ !$0.isEmpty }) {
            self.tell(EventLine.bytes("message") { message.describe(context, in: &$0) })
        }
        let kind =
            switch message.kind {
            case .pushToApp: KII_PUSH_KIND_PUSH_TO_APP
            case .pushToUser: KII_PUSH_KIND_PUSH_TO_USER
            case .directPush: KII_PUSH_KIND_DIRECT_PUSH
            }
        let call = HandlerCall(self.runtime, context, completion) { message.member($0) }
        self.handle(call, kind, message.payloadBytes, source: message.sourceAddress, context)
    }

    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        let call = HandlerCall(self.runtime, context, completion) { command.rawPayload[$0] }
        self.handle(call, KII_PUSH_KIND_THING_COMMAND, command.rawPayload.documentBytes, source: nil, context)
    }

    private func handle(
        _ call: HandlerCall, _ kind: kii_push_kind, _ payload: [UInt8], source: String?, _ context: DeliveryContext
    ) {
        guard !self.runtime.isClosed else { return }
        let number = handles.withLock { $0.add(call) }.number
        let source = source.map { Array($0.utf8) }
        let result = withText(payload) { payloadStart in
            withText(source) { sourceStart in
                var message = kii_push_message(
                    completion: number, id: context.messageID,
                    received_at: context.receivedAt.millisecondsSinceEpoch, attempt: Int32(clamping: context.attempt),
                    kind: Int32(kind.rawValue), payload: payloadStart, payload_length: payload.count,
                    source: sourceStart, source_length: source?.count ?? 0,
                    // The number again: one that was copied and is used too late can be told.
                    fields: UnsafeRawPointer(bitPattern: UInt(number)))
                return Callback.handler.run { self.handler.function(self.handler.context, &message) }
            }
        }
        if call.returned(result) { handles.withLock { $0.remove(call: number) } }
    }
}

/// Calls `body` with a text of these bytes that ends with a zero; with `nil` for none.
private func withText<Result>(_ bytes: [UInt8]?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let bytes else { return body(nil) }
    return (bytes + [0]).withUnsafeBytes { body($0.bindMemory(to: CChar.self).baseAddress) }
}

extension ReceivedMessage {
    /// A member by the sender's name for it, or by Kii's, whichever keys the payload is written with.
    fileprivate func member(_ name: String) -> JSONValue? {
        if let value = self[name] { return value }
        let field = MessageField.allCases.first { $0.key(in: .long) == name }
        return field.flatMap { self.value(of: $0) }.map { JSONValue($0) }
    }

    /// The topic or bucket.
    fileprivate var sourceAddress: String? {
        (self.sourceTopic.map(KiiURI.topic) ?? self.sourceBucket.map(KiiURI.bucket))?.description
    }
}
