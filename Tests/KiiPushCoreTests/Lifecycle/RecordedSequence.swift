import KiiPushCore

extension ReceivedMessage {
    static func alert(_ text: String) -> ReceivedMessage {
        let payload: JSONValue = ["aps": ["alert": JSONValue(text)]]
        guard let message = try? ReceivedMessage(payload: payload.documentBytes) else {
            preconditionFailure("the payload is well-formed")
        }
        return message
    }

    var text: String { self.content?.alert?.body ?? "" }
}

/// A recorded sequence from the document about launch detection: the program's calls in order, and the call that
/// reports the opening.
struct RecordedSequence: Sendable, CustomStringConvertible {
    enum Call: Sendable {
        case didFinishLaunching(with: LaunchOptions, in: LifecycleState)
        /// The agent calls its handler in this state. `opened` is true if the user opened the alert.
        case reception(in: LifecycleState, opened: Bool)
        case willEnterForeground
        case didBecomeActive
        case willResignActive
    }

    var description: String
    var calls: [Call]
    /// Index of the call during which `openedFromNotification` is called; `nil`: never.
    var opensDuring: Int?

    static let message = ReceivedMessage.alert("Dinner is ready")
    private static let options = LaunchOptions(remoteNotification: message, messageID: 1, userAction: .open)

    static let all = [
        RecordedSequence(
            description: "opened after the system ended the agent",
            calls: [
                .didFinishLaunching(with: options, in: .background), .reception(in: .background, opened: false),
                .willEnterForeground, .reception(in: .inactive, opened: true), .didBecomeActive,
            ],
            opensDuring: 4),
        RecordedSequence(
            description: "opened after the user killed it",
            calls: [
                .didFinishLaunching(with: options, in: .inactive), .reception(in: .inactive, opened: true),
                .didBecomeActive,
            ],
            opensDuring: 2),
        RecordedSequence(
            description: "opened while in background",
            calls: [
                .reception(in: .background, opened: false), .willEnterForeground,
                .reception(in: .inactive, opened: true), .didBecomeActive,
            ],
            opensDuring: 3),
        RecordedSequence(
            description: "a push arrives while the user looks at the app switcher",
            calls: [.willResignActive, .reception(in: .inactive, opened: false), .didBecomeActive],
            opensDuring: nil),
    ]

    var firstState: LifecycleState {
        switch self.calls.first {
        case .didFinishLaunching(_, in: let state): state
        case .reception(in: let state, _): state
        case .willEnterForeground: .background
        case .didBecomeActive, .willResignActive, nil: .active
        }
    }
}

extension RecordedSequence.Call: CustomStringConvertible {
    var description: String {
        switch self {
        case .didFinishLaunching: "didFinishLaunching(options)"
        case .reception(let state, let opened): "reception (\(state)\(opened ? ", opened" : ""))"
        case .willEnterForeground: "willEnterForeground"
        case .didBecomeActive: "didBecomeActive"
        case .willResignActive: "willResignActive"
        }
    }
}
