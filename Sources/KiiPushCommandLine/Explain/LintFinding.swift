package import KiiPushCore

/// A part of a payload that probably does not have the effect that its sender intended.
package struct LintFinding {
    enum Level: String {
        /// Receivers ignore this part.
        case error
        /// Receivers accept this part, but its meaning is unexpected or depends on the receiver.
        case warning
        /// Correct under certain conditions. `--lint` accepts it.
        case note
    }

    package let code: LintCode
    package let pointer: JSONPointer
    package let message: String

    package init(_ code: LintCode, at pointer: JSONPointer, _ message: String) {
        (self.code, self.pointer, self.message) = (code, pointer, message)
    }

    var isProblem: Bool { self.code.level != .note }
}

/// The names of findings. Programs may rely on them.
package enum LintCode: CaseIterable {
    case duplicateKey, customKeyCollides, customNested, fieldValue, kindAmbiguous, apsNotObject, apsEmpty
    case apsWrongType, apsNull, apsUnknownKey, apsKeyOutside, flagNotOne, backgroundWithAlert, mutableWithoutAlert
    case interruptionLevel, alertUnknownKey, alertWithoutBody, locArgsWithoutKey, locKeyWithoutArgs
    case sizeOver256, sizeOver2048, sizeOver4096

    package var name: String { self.texts.name }
    var level: LintFinding.Level { self.texts.level }
    package var advice: String { self.texts.advice }

    private var texts: (name: String, level: LintFinding.Level, advice: String) {
        switch self {
        case .duplicateKey: ("duplicate-key", .warning, "write each key once")
        case .customKeyCollides: ("custom-key-collides", .warning, "give the key of your own another name")
        case .customNested:
            ("custom-nested", .warning, "send flat data: Kii refuses objects and arrays (400 INVALID_INPUT_DATA)")
        case .fieldValue:
            ("field-value", .warning, "if the key is your own, give it another name; if Kii wrote it, nothing")
        case .kindAmbiguous:
            ("kind-ambiguous", .warning, "have Kii write all keys of a kind, or give keys of your own other names")
        case .apsNotObject: ("aps-not-object", .error, "write an object, such as {\"alert\":\"text\"}")
        case .apsEmpty: ("aps-empty", .warning, "add an alert, or \"content-available\":1 to wake the program")
        case .apsWrongType: ("aps-wrong-type", .error, "write the type that is asked for")
        case .apsNull: ("aps-null", .warning, "leave the key out")
        case .apsUnknownKey: ("aps-unknown-key", .warning, "put keys of your own beside aps, not into it")
        case .apsKeyOutside:
            ("aps-key-outside", .warning, "move it into aps; if the key is your own, give it another name")
        case .flagNotOne: ("flag-not-1", .warning, "write the number 1, or leave the key out")
        case .backgroundWithAlert:
            (
                "background-with-alert", .warning,
                "fine if it is to be shown: send it with apns-push-type alert. For the background alone take alert, sound "
                    + "and badge out, and send it with apns-push-type background and apns-priority 5"
            )
        case .mutableWithoutAlert:
            ("mutable-content-without-alert", .warning, "add an alert, or leave mutable-content out")
        case .interruptionLevel:
            ("interruption-level-unknown", .warning, "write passive, active, time-sensitive or critical")
        case .alertUnknownKey: ("alert-unknown-key", .warning, "put keys of your own beside aps, not into alert")
        case .alertWithoutBody: ("alert-without-body", .warning, "add body, or loc-key")
        case .locArgsWithoutKey: ("loc-args-without-key", .warning, "add the key, or leave the arguments out")
        case .locKeyWithoutArgs:
            ("loc-key-without-args", .note, "fine if that text has no placeholders; add the arguments if it has")
        case .sizeOver256: ("size-over-256", .note, "shorten it if devices with iOS 7 are to get it")
        case .sizeOver2048:
            (
                "size-over-2048", .warning,
                "shorten it, or switch off what is not needed: sendSender, sendWhen, sendTopicID, sendObjectScope"
            )
        case .sizeOver4096: ("size-over-4096", .warning, "shorten it, and let the receiver fetch the rest")
        }
    }
}

extension LintCode {
    package static func help(_ width: Int) -> String {
        wrapped(
            "What 'kii-push explain' finds wrong with a payload, how bad it is, and what to do. The codes do not change. "
                + "With --lint, errors and warnings end with 65; notes do not.", width: width)
            + "\n\n" + table(self.allCases.map { ($0.name, "\($0.level.rawValue): \($0.advice).") }, width: width)
            + "\n"
    }
}
