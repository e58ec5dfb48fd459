import CKiiPush
import Glibc
import KiiPushCore

/// One call of a handler: what it may ask of its message, and the answer that it owes.
final class HandlerCall: Sendable {
    private struct State {
        /// `nil` when the answer was given.
        var completion: FetchCompletion?
        /// The addresses of what the handler was handed out of the message; `nil` when it has returned.
        var texts: [UInt]? = []
    }

    let runtime: OpenRuntime
    private let context: DeliveryContext
    private let member: @Sendable (String) -> JSONValue?
    private let state: Locked<State>

    /// - Parameter member: a member of the message by its name.
    init(
        _ runtime: OpenRuntime, _ context: DeliveryContext, _ completion: FetchCompletion,
        member: @escaping @Sendable (String) -> JSONValue?
    ) {
        (self.runtime, self.context, self.member) = (runtime, context, member)
        self.state = Locked(State(completion: completion))
    }

    deinit { self.freeTexts() }

    /// Whether nothing can come of it any more, though its answer was not given.
    var isOver: Bool { self.context.timeRemaining == .zero && self.state.withLock { $0.texts == nil } }

    /// A text that is good until the handler returns.
    func field(_ name: String) throws(CFailure) -> (start: UnsafeMutablePointer<CChar>, length: Int) {
        guard let value = self.member(name) else { throw .state("the message has no such member") }
        let bytes = value.string.map { Array($0.utf8) } ?? value.serialized()
        let text = try duplicate(bytes)
        let isKept = self.state.withLock { [address = UInt(bitPattern: text)] state in
            state.texts?.append(address)
            return state.texts != nil
        }
        guard isKept else {
            free(text)
            throw .handle("message in hand")
        }
        return (text, bytes.count)
    }

    /// Gives the answer by `answer`, which says whether it counts.
    ///
    /// - Returns: whether the handler has returned as well, so that the call is over.
    func complete(_ answer: (FetchCompletion) -> Bool) throws(CFailure) -> Bool {
        let (completion, isReturned) = self.state.withLock { ($0.completion.take(), $0.texts == nil) }
        guard let completion, self.context.timeRemaining > .zero, answer(completion) else {
            throw CFailure(
                KII_PUSH_E_HANDLE, "the message was answered before, or its 30 s are over, or the runtime has ended")
        }
        return isReturned
    }

    /// The handler has returned.
    ///
    /// - Returns: whether the call is over; if not, its answer is still to come.
    func returned(_ result: Int32) -> Bool {
        self.freeTexts()
        guard result != Int32(KII_PUSH_LATER.rawValue) else { return self.state.withLock { $0.completion == nil } }
        let completion = self.state.withLock { $0.completion.take() }
        completion?(FetchResult(code: result) ?? .failed)
        return true
    }

    private func freeTexts() {
        let addresses = self.state.withLock { $0.texts.take() } ?? []
        for address in addresses { free(UnsafeMutableRawPointer(bitPattern: address)) }
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
