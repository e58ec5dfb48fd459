import CKiiPush
import Glibc
import KiiPushCore

struct HandlerCall {
    enum Content {
        case message(ReceivedMessage)
        case command(ThingCommand)
    }

    let number: UInt64
    let runtime: ObjectIdentifier
    /// The address of the message or command; `nil` when the handler has returned.
    private var address: UInt?
    private let isCommand: Bool
    let deadline: MonotonicInstant
    /// `nil` once the call is answered.
    private var completion: FetchCompletion?
    /// The texts handed to the handler, freed when the handler returns.
    private var texts: [UInt] = []

    /// - Parameter address: a ``ThingCommand`` if `isCommand`, else a ``ReceivedMessage``.
    init(
        _ number: UInt64, _ runtime: ObjectIdentifier, at address: UInt, isCommand: Bool, _ context: DeliveryContext,
        _ completion: FetchCompletion
    ) {
        (self.number, self.runtime, self.address, self.isCommand) = (number, runtime, address, isCommand)
        (self.deadline, self.completion) = (context.deadlineInstant, completion)
    }

    mutating func change<Result>(_ body: (inout HandlerCall) -> Result) -> Result { body(&self) }

    var isDone: Bool { self.completion == nil && self.address == nil }

    /// The time to keep an unanswered call after its deadline. A late success counts until the next attempt, by
    /// default 30 min later at most. Without a limit, a program that never answers would fill the memory.
    private static let lateFor: Duration = .seconds(3600)

    /// Whether the program has probably forgotten the call.
    func isOver(at now: MonotonicInstant) -> Bool { self.address == nil && self.deadline + Self.lateFor <= now }

    var content: Content? {
        guard let start = self.address.flatMap(UnsafeRawPointer.init(bitPattern:)) else { return nil }
        return self.isCommand
            ? .command(start.assumingMemoryBound(to: ThingCommand.self).pointee)
            : .message(start.assumingMemoryBound(to: ReceivedMessage.self).pointee)
    }

    /// - Returns: whether the handler still runs; the text is then freed when the handler returns.
    mutating func keep(_ text: UInt) -> Bool {
        guard self.address != nil else { return false }
        self.texts.append(text)
        return true
    }

    mutating func takeCompletion() -> FetchCompletion? { self.completion.take() }

    mutating func handlerReturned() -> [UInt] {
        defer { (self.address, self.texts) = (nil, []) }
        return self.texts
    }
}

/// These functions use and release completions without holding the lock of `handles`.
extension HandlerCall {
    static func handOut(
        _ number: UInt64, _ read: (Content) throws(CFailure) -> [UInt8]
    ) throws(CFailure) -> (start: UnsafeMutablePointer<CChar>, length: Int) {
        let content = handles.withLock { $0.calls.change(number) { $0.content } }
        guard let content = content ?? nil else { throw .handle("message in hand") }
        let bytes = try read(content)
        let text = try duplicate(bytes)
        let address = UInt(bitPattern: text)
        guard handles.withLock({ $0.calls.change(number) { $0.keep(address) } }) == true else {
            free(text)
            throw .handle("message in hand")
        }
        return (text, bytes.count)
    }

    /// After the deadline, a failure leaves the call open, since a success may follow. A success closes the call even
    /// if the success comes too late.
    ///
    /// - Parameter answer: returns whether the answer counts.
    static func complete(
        _ number: UInt64, isSuccess: Bool = false, _ answer: (FetchCompletion) -> Bool
    ) throws(CFailure) {
        let completion = handles.withLock { $0.calls.change(number) { $0.completion } }
        guard let completion else { throw .handle("completion of a message in hand") }
        let counts = completion.map(answer) ?? false
        if counts || isSuccess { _ = handles.withLock { $0.calls.change(number) { $0.takeCompletion() } } }
        guard counts else {
            throw CFailure(
                KII_PUSH_E_HANDLE,
                "the message was answered before, or its 30 s are over and this is no success or comes after the next "
                    + "attempt, or the runtime has ended")
        }
    }

    /// Completes the call, unless the handler answers later, and frees the handler's texts.
    static func returned(_ number: UInt64, _ result: Int32) {
        let isLater = result == Int32(KII_PUSH_LATER.rawValue)
        let taken = handles.withLock {
            $0.calls.change(number) { (isLater ? nil : $0.takeCompletion(), $0.handlerReturned()) }
        }
        taken?.0?(FetchResult(code: result) ?? .failed)
        for address in taken?.1 ?? [] { free(UnsafeMutableRawPointer(bitPattern: address)) }
    }
}

extension FetchResult {
    /// `nil` for `KII_PUSH_LATER` and for unknown numbers.
    init?(code: Int32) {
        switch UInt32(bitPattern: code) {
        case KII_PUSH_NEW_DATA.rawValue: self = .newData
        case KII_PUSH_NO_DATA.rawValue: self = .noData
        case KII_PUSH_FAILED.rawValue: self = .failed
        default: return nil
        }
    }
}
