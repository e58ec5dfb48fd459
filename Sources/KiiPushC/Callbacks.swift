import CKiiPush
import KiiPushCore
import Synchronization

/// Passes messages and commands to the program's C function, and events to its observers.
final class Callbacks: RemoteNotificationHandler, ThingCommandHandler {
    /// A C function of the program, with its context.
    // Unchecked Sendable. Proof: both members are constants, and a C function has no state of its own. The library
    // passes the context on and never reads it; the program guards its content (`kii_push.h`, threads).
    struct Bound<Function>: @unchecked Sendable {
        let function: Function
        let context: UnsafeMutableRawPointer?
    }

    private let runtime: OpenRuntime
    private let handler: Bound<kii_push_handler>
    private let observers = Locked<[Bound<kii_push_observer>]>([])
    private let hasObservers = Atomic(false)
    private let installationID = Locked<String?>(nil)

    init(_ runtime: OpenRuntime, _ handler: kii_push_handler, _ context: UnsafeMutableRawPointer?) {
        self.runtime = runtime
        self.handler = Bound(function: handler, context: context)
    }

    /// - Returns: whether it is the first observer.
    func add(_ observer: kii_push_observer, _ context: UnsafeMutableRawPointer?) -> Bool {
        let bound = Bound(function: observer, context: context)
        return self.observers.withLock { observers in
            observers.append(bound)
            self.hasObservers.store(true, ordering: .sequentiallyConsistent)
            return observers.count == 1
        }
    }

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
        if self.hasObservers.load(ordering: .sequentiallyConsistent) {
            self.tell(EventLine.bytes("message") { message.describe(context, in: &$0) })
        }
        let kind =
            switch message.kind {
            case .pushToApp: KII_PUSH_KIND_PUSH_TO_APP
            case .pushToUser: KII_PUSH_KIND_PUSH_TO_USER
            case .directPush: KII_PUSH_KIND_DIRECT_PUSH
            }
        withUnsafePointer(to: message) {
            self.handle(UInt(bitPattern: $0), kind, message.payloadBytes, context, completion)
        }
    }

    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        let payload = command.rawPayload.documentBytes
        withUnsafePointer(to: command) {
            self.handle(UInt(bitPattern: $0), KII_PUSH_KIND_THING_COMMAND, payload, context, completion)
        }
    }

    /// - Parameter address: the message or command, valid until this function returns.
    private func handle(
        _ address: UInt, _ kind: kii_push_kind, _ payload: [UInt8], _ context: DeliveryContext,
        _ completion: FetchCompletion
    ) {
        let isCommand = kind == KII_PUSH_KIND_THING_COMMAND
        // `kii_push_close` ends the calls under the same lock, so no call can be added after that.
        let added = handles.withLock { [runtime = self.runtime] handles in
            runtime.isClosed
                ? nil
                : handles.add {
                    HandlerCall($0, ObjectIdentifier(runtime), at: address, isCommand: isCommand, context, completion)
                }
        }
        guard let number = added?.number else { return }
        let result = withText(payload) { start in
            var message = kii_push_message(
                completion: number, id: context.messageID,
                received_at: context.receivedAt.millisecondsSinceEpoch, attempt: Int32(clamping: context.attempt),
                kind: Int32(kind.rawValue), payload: start, payload_length: payload.count,
                // The call's number a second time, to detect a copied structure that the program uses too late.
                fields: UnsafeRawPointer(bitPattern: UInt(number)))
            return Callback.handler.run { self.handler.function(self.handler.context, &message) }
        }
        HandlerCall.returned(number, result)
    }
}

/// Adds a final zero.
private func withText<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: bytes.count + 1, alignment: 1) { text in
        text.copyBytes(from: bytes)
        text[bytes.count] = 0
        return body(UnsafePointer(text.bindMemory(to: CChar.self).baseAddress))
    }
}
