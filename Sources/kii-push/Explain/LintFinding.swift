import KiiPushCore

/// Something in a payload that does not do what its sender probably wants.
struct LintFinding {
    /// How bad it is.
    enum Level: String {
        /// Receivers leave that part of the payload out.
        case error
        /// It is taken, and means something else than it seems, or depends on the receiver.
        case warning
        /// Right where certain conditions hold; `--lint` lets it pass.
        case note
    }

    let code: LintCode
    let pointer: JSONPointer
    /// What is the matter at this place.
    let message: String

    init(_ code: LintCode, at pointer: JSONPointer, _ message: String) {
        self.code = code
        self.pointer = pointer
        self.message = message
    }

    /// Whether `--lint` fails for it.
    var isProblem: Bool { self.code.level != .note }
}

/// What findings are called. The raw values are stable: programs compare them.
enum LintCode: String, CaseIterable {
    case duplicateKey = "duplicate-key"
    case customKeyCollides = "custom-key-collides"
    case customNested = "custom-nested"
    case fieldValue = "field-value"
    case kindAmbiguous = "kind-ambiguous"
    case apsNotObject = "aps-not-object"
    case apsEmpty = "aps-empty"
    case apsWrongType = "aps-wrong-type"
    case apsNull = "aps-null"
    case apsUnknownKey = "aps-unknown-key"
    case flagNotOne = "flag-not-1"
    case backgroundWithAlert = "background-with-alert"
    case mutableWithoutAlert = "mutable-content-without-alert"
    case interruptionLevel = "interruption-level-unknown"
    case alertUnknownKey = "alert-unknown-key"
    case alertWithoutBody = "alert-without-body"
    case locArgsWithoutKey = "loc-args-without-key"
    case locKeyWithoutArgs = "loc-key-without-args"
    case sizeOver256 = "size-over-256"
    case sizeOver2048 = "size-over-2048"
    case sizeOver4096 = "size-over-4096"

    var level: LintFinding.Level {
        switch self {
        case .apsNotObject, .apsWrongType: .error
        case .locKeyWithoutArgs, .sizeOver256: .note
        default: .warning
        }
    }

    /// What to do about it.
    var advice: String {
        switch self {
        case .duplicateKey: "write each key once"
        case .customKeyCollides: "give the key of your own another name"
        case .customNested: "send flat data: Kii refuses objects and arrays (400 INVALID_INPUT_DATA)"
        case .fieldValue: "if the key is your own, give it another name; if Kii wrote it, nothing"
        case .kindAmbiguous: "have Kii write all keys of a kind, or give keys of your own other names"
        case .apsNotObject: "write an object, such as {\"alert\":\"text\"}"
        case .apsEmpty: "add an alert, or \"content-available\":1 to wake the program"
        case .apsWrongType: "write the type that is asked for"
        case .apsNull: "leave the key out"
        case .apsUnknownKey: "put keys of your own beside aps, not into it"
        case .flagNotOne: "write the number 1, or leave the key out"
        case .backgroundWithAlert:
            "fine if it is to be shown: send it with apns-push-type alert. For the background alone take alert, sound "
                + "and badge out, and send it with apns-push-type background and apns-priority 5"
        case .mutableWithoutAlert: "add an alert, or leave mutable-content out"
        case .interruptionLevel: "write passive, active, time-sensitive or critical"
        case .alertUnknownKey: "put keys of your own beside aps, not into alert"
        case .alertWithoutBody: "add body, or loc-key"
        case .locArgsWithoutKey: "add the key, or leave the arguments out"
        case .locKeyWithoutArgs: "fine if that text has no placeholders; add the arguments if it has"
        case .sizeOver256: "shorten it if devices with iOS 7 are to get it"
        case .sizeOver2048:
            "shorten it, or switch off what is not needed: sendSender, sendWhen, sendTopicID, sendObjectScope"
        case .sizeOver4096: "shorten it, and let the receiver fetch the rest"
        }
    }
}

extension LintCode {
    /// The page `kii-push help findings`.
    static func help(_ width: Int) -> String {
        wrapped(
            "What 'kii-push explain' finds wrong with a payload, how bad it is, and what to do. The codes do not change. "
                + "With --lint, errors and warnings end with 65; notes do not.", width: width)
            + "\n\n" + table(self.allCases.map { ($0.rawValue, "\($0.level.rawValue): \($0.advice).") }, width: width)
            + "\n"
    }
}
