import CKiiPush
import Glibc
import KiiPushCore

/// One call of a handler: what it may ask of its message, and the answer that it owes.
struct HandlerCall {
    /// What a handler is called with.
    enum Content {
        case message(ReceivedMessage)
        case command(ThingCommand)
    }

    let number: UInt64
    let runtime: ObjectIdentifier
    /// The address at which the call's thread has its message; `nil` when the handler has returned.
    private var address: UInt?
    private let isCommand: Bool
    let deadline: MonotonicInstant
    /// `nil` when the answer was given.
    private var completion: FetchCompletion?
    /// The addresses of what the handler was handed out of the message.
    private var texts: [UInt] = []

    /// - Parameter address: of a ``ThingCommand`` where `isCommand`, else of a ``ReceivedMessage``.
    init(
        _ number: UInt64, _ runtime: ObjectIdentifier, at address: UInt, isCommand: Bool, _ context: DeliveryContext,
        _ completion: FetchCompletion
    ) {
        (self.number, self.runtime, self.address, self.isCommand) = (number, runtime, address, isCommand)
        (self.deadline, self.completion) = (context.deadlineInstant, completion)
    }

    /// Changes the call where it stands.
    mutating func change<Result>(_ body: (inout HandlerCall) -> Result) -> Result { body(&self) }

    /// Whether the answer was given, and the handler has returned.
    var isDone: Bool { self.completion == nil && self.address == nil }

    /// A program may answer a call for so long after its deadline. The next attempt, with which a late success counts no more,
    /// comes after 30 min at most by default; a program that never answers must not fill the memory.
    private static let lateFor: Duration = .seconds(3600)

    /// Whether the program has most likely forgotten it: its answer was not given.
    func isOver(at now: MonotonicInstant) -> Bool { self.address == nil && self.deadline + Self.lateFor <= now }

    /// A copy of the message; `nil` when the handler has returned.
    var content: Content? {
        guard let start = self.address.flatMap(UnsafeRawPointer.init(bitPattern:)) else { return nil }
        return self.isCommand
            ? .command(start.assumingMemoryBound(to: ThingCommand.self).pointee)
            : .message(start.assumingMemoryBound(to: ReceivedMessage.self).pointee)
    }

    /// - Returns: whether the handler still runs, so that a text at this address is its own until it returns.
    mutating func keep(_ text: UInt) -> Bool {
        guard self.address != nil else { return false }
        self.texts.append(text)
        return true
    }

    /// Takes the completion out, which ends the call; `nil` when the answer was given.
    mutating func takeCompletion() -> FetchCompletion? { self.completion.take() }

    /// The handler has returned.
    ///
    /// - Returns: what it was handed out.
    mutating func handlerReturned() -> [UInt] {
        defer { (self.address, self.texts) = (nil, []) }
        return self.texts
    }
}

/// What `kii_push.h` lets a program do with a call, by its number. Completions are asked, and let go of, outside the lock.
extension HandlerCall {
    /// Hands out a text that `read` finds in the message. It is good until the handler returns.
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

    /// Gives the answer by `answer`, which says whether it counts. Behind the deadline one that does not count leaves the call
    /// open, since a success may follow, unless it is a success itself: none counts after that.
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

    /// The handler has returned: gives its answer, unless that comes later, and frees what it was handed out.
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
    /// `nil` for a number that is no answer.
    init?(code: Int32) {
        switch UInt32(bitPattern: code) {
        case KII_PUSH_NEW_DATA.rawValue: self = .newData
        case KII_PUSH_NO_DATA.rawValue: self = .noData
        case KII_PUSH_FAILED.rawValue: self = .failed
        default: return nil
        }
    }
}
