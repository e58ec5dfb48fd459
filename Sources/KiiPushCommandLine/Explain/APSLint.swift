import KiiPushCore

/// Finds mistakes in a payload's `aps`.
///
/// - Source: Apple's page "Generating a remote notification"; Kii's guide on the calls of its iOS handlers.
struct APSLint {
    private static let root = JSONPointer(tokens: ["aps"])

    private(set) var findings: [LintFinding] = []

    init(_ aps: JSONValue) {
        guard let members = aps.members else {
            self.report(.apsNotObject, at: Self.root, "aps is \(aps.kind.phrase), not an object")
            return
        }
        if members.allSatisfy({ $0.value.isNull || ($0.key == "content-available" && Self.isOff($0.value)) }) {
            self.report(.apsEmpty, at: Self.root, "aps says nothing: nothing is shown, and no program is woken")
        }
        for member in members { self.check(member.value, key: member.key, at: Self.root.appending(member.key)) }
        self.checkTogether(aps)
    }

    private mutating func check(_ value: JSONValue, key: String, at place: JSONPointer) {
        switch key {
        case _ where value.isNull: self.reportNull(at: place)
        case "alert": self.checkAlert(value, at: place)
        case "sound": self.checkSound(value, at: place)
        case "badge": self.expect(value.int64 != nil, "a whole number", value, at: place)
        case "content-available", "mutable-content": self.checkFlag(value, at: place)
        case "category", "thread-id", "target-content-id", "filter-criteria": self.expectText(value, at: place)
        case "relevance-score": self.expect(value.kind == .number, "a number", value, at: place)
        case "interruption-level":
            self.expectText(value, at: place)
            guard let level = value.string, !["passive", "active", "time-sensitive", "critical"].contains(level)
            else { return }
            self.report(.interruptionLevel, at: place, "there is no such level")
        case _ where KeyMeaning.aps[key] != nil: break
        default: self.reportUnknown(.apsUnknownKey, key: key, among: KeyMeaning.aps, at: place)
        }
    }

    private mutating func checkFlag(_ value: JSONValue, at place: JSONPointer) {
        switch value.kind {
        case .number where value.int64 == 1: return
        case .number where value.int64 == 0: self.report(.flagNotOne, at: place, "it is 0, which sets nothing")
        case .number: self.report(.flagNotOne, at: place, "it is a number other than 1")
        case .bool: self.report(.flagNotOne, at: place, "it is true or false, which Apple does not document")
        default: self.expect(false, "the number 1", value, at: place)
        }
    }

    private mutating func checkSound(_ value: JSONValue, at place: JSONPointer) {
        guard let members = value.members else {
            return self.expect(value.kind == .string, "a string or an object", value, at: place)
        }
        for member in members {
            let place = place.appending(member.key)
            switch member.key {
            case _ where member.value.isNull: self.reportNull(at: place)
            case "name": self.expectText(member.value, at: place)
            case "critical": self.checkFlag(member.value, at: place)
            case "volume": self.expect(member.value.kind == .number, "a number from 0 to 1", member.value, at: place)
            default: self.reportUnknown(.apsUnknownKey, key: member.key, among: KeyMeaning.sound, at: place)
            }
        }
    }

    private mutating func checkAlert(_ value: JSONValue, at place: JSONPointer) {
        guard let members = value.members else {
            self.expect(value.kind == .string, "a string or an object", value, at: place)
            if value.string == "" { self.report(.alertWithoutBody, at: place, "the text is empty") }
            return
        }
        for member in members {
            let (value, place) = (member.value, place.appending(member.key))
            switch member.key {
            case _ where value.isNull: self.reportNull(at: place)
            case "loc-args", "title-loc-args", "subtitle-loc-args": self.expectTexts(value, at: place)
            case "show-view": self.expect([.bool, .number].contains(value.kind), "true or false", value, at: place)
            case "summary-arg-count": self.expect(value.int64 != nil, "a whole number", value, at: place)
            case _ where KeyMeaning.alert[member.key] != nil: self.expectText(value, at: place)
            default: self.reportUnknown(.alertUnknownKey, key: member.key, among: KeyMeaning.alert, at: place)
            }
        }
        let hasText = ["body", "loc-key"].contains { value[$0].map { !$0.isNull && $0.string != "" } ?? false }
        if !hasText {
            self.report(
                .alertWithoutBody, at: place, "it has neither body nor loc-key: by Kii's guide nothing is shown")
        }
        for prefix in ["", "title-", "subtitle-"] { self.checkArguments(of: value, prefix: prefix, at: place) }
    }

    private mutating func checkArguments(of alert: JSONValue, prefix: String, at place: JSONPointer) {
        let (key, arguments) = (prefix + "loc-key", prefix + "loc-args")
        let hasKey = !(alert[key]?.isNull ?? true)
        let count = alert[arguments]?.array?.count ?? 0
        if hasKey, count == 0 {
            self.report(.locKeyWithoutArgs, at: place.appending(key), "\(key) comes without \(arguments)")
        } else if !hasKey, count > 0 {
            self.report(.locArgsWithoutKey, at: place.appending(arguments), "\(arguments) comes without \(key)")
        }
    }

    private mutating func checkTogether(_ aps: JSONValue) {
        let shown = ["alert", "sound", "badge"].filter { !(aps[$0]?.isNull ?? true) }
        if aps["content-available"].map(Self.isSet) ?? false, !shown.isEmpty {
            self.report(
                .backgroundWithAlert, at: Self.root.appending("content-available"),
                "it wakes the program and has \(shown.joined(separator: ", ")) as well: no background push to Apple")
        }
        if aps["mutable-content"].map(Self.isSet) ?? false, aps["alert"]?.isNull ?? true {
            self.report(
                .mutableWithoutAlert, at: Self.root.appending("mutable-content"),
                "there is no alert that the program could change")
        }
    }

    static func isSet(_ flag: JSONValue) -> Bool { flag.bool ?? flag.number.map { $0 != JSONNumber(0) } ?? false }

    private static func isOff(_ flag: JSONValue) -> Bool { [.bool, .number].contains(flag.kind) && !self.isSet(flag) }

    private mutating func expectText(_ value: JSONValue, at place: JSONPointer) {
        self.expect(value.kind == .string, "a string", value, at: place)
    }

    private mutating func expectTexts(_ value: JSONValue, at place: JSONPointer) {
        guard let elements = value.array else { return self.expect(false, "an array of strings", value, at: place) }
        for (index, element) in elements.enumerated() {
            let place = place.appending(index)
            if element.isNull { self.reportNull(at: place) } else { self.expectText(element, at: place) }
        }
    }

    private mutating func reportNull(at place: JSONPointer) {
        self.report(.apsNull, at: place, "null counts as absent here, and other receivers may refuse it")
    }

    private mutating func expect(_ isRight: Bool, _ expected: String, _ value: JSONValue, at place: JSONPointer) {
        guard !isRight else { return }
        self.report(.apsWrongType, at: place, "it is \(value.kind.phrase), and must be \(expected)")
    }

    private mutating func reportUnknown(
        _ code: LintCode, key: String, among known: KeyValuePairs<String, String>, at place: JSONPointer
    ) {
        let dashed = KeyMeaning.dashed(key)
        let homes = [("aps", KeyMeaning.aps), ("alert", KeyMeaning.alert), ("sound", KeyMeaning.sound)]
        let home = homes.first { $0.1[dashed] != nil && known[dashed] == nil }
        let guess =
            home.map { "; it belongs into \($0.0)" }
            ?? suggestion(for: dashed, among: known.map(\.key)).map { "; did you mean \($0)?" } ?? ""
        self.report(code, at: place, "Apple documents no such key\(guess)")
    }

    private mutating func report(_ code: LintCode, at place: JSONPointer, _ message: String) {
        self.findings.append(LintFinding(code, at: place, message))
    }
}
