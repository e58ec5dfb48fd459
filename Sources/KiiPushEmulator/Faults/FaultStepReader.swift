struct FaultStepReader {
    private static let conditions = ["after", "at"]
    private static let actions = ["answer", "close", "delay", "drop", "duplicate", "hold", "lose", "renumber", "take"]
    private static let everybody = ["any", "all"]

    private let all: [FaultScriptWord]
    private var words: ArraySlice<FaultScriptWord>

    init(_ words: [FaultScriptWord]) {
        self.all = words
        self.words = words[...]
    }

    mutating func step() throws(FaultScriptError) -> FaultStep {
        let condition = try self.condition()
        let action = try self.action(known: (condition == .atOnce ? Self.conditions : []) + Self.actions)
        guard self.words.isEmpty else { throw self.refusal("nothing more in this step") }
        let text = self.all.map(\.text).joined(separator: " ")
        return FaultStep(line: self.all[0].line, text: text, condition: condition, action: action)
    }

    private mutating func condition() throws(FaultScriptError) -> FaultStep.Condition {
        if self.take("after") {
            switch try self.extent() {
            case .time(let time): return .time(time)
            case .requests(let count): return .requests(count, try self.pattern())
            }
        }
        guard self.take("at") else { return .atOnce }
        try self.expect("message")
        return .messages(try self.number(), of: try self.installation())
    }

    private mutating func action(known: [String]) throws(FaultScriptError) -> FaultStep.Action {
        switch try self.word(of: known) {
        case "answer": return try self.requests(.refusal(try self.number(400...599), code: try self.errorCode()))
        case "close":
            try self.expect("connections")
            return try self.requests(.disconnect)
        case "delay":
            try self.expect("answers", "by")
            return try self.requests(.delay(try self.time(upTo: Fault.longestDelay)))
        case "drop":
            if try self.word(of: ["connection", "message"]) == "message" { return try self.message(.drop) }
            return .clients(.dropConnection, of: try self.installation())
        case "duplicate":
            try self.expect("message")
            return try self.message(.duplicate)
        case "hold":
            try self.expect("acknowledgements")
            let installation = try self.installation()
            try self.expect("for")
            return .clients(.holdAcknowledgements(try self.time()), of: installation)
        case "lose":
            try self.expect("session")
            return .clients(.loseSession, of: try self.installation())
        case "take":
            try self.expect("over", "client")
            let installation = try self.installation()
            return .clients(.takeOver(self.take("for") ? try self.time() : .seconds(1)), of: installation)
        default: return .clients(.renumber, of: nil)
        }
    }

    private mutating func requests(_ answer: FaultStep.Answer) throws(FaultScriptError) -> FaultStep.Action {
        try self.expect("for")
        return .requests(answer, for: try self.extent(), try self.pattern())
    }

    private mutating func message(_ action: PacketRule.Action) throws(FaultScriptError) -> FaultStep.Action {
        let number = try self.number()
        return .clients(.message(number, action), of: try self.installation())
    }

    private mutating func installation() throws(FaultScriptError) -> String? {
        try self.expect("of")
        _ = self.take("installation")
        guard let word = self.words.popFirst() else { throw self.refusal("the ID of an installation, or any") }
        return Self.everybody.contains(word.text) ? nil : word.text
    }

    private mutating func errorCode() throws(FaultScriptError) -> String? {
        guard let word = self.words.first, word.text != "for" else { return nil }
        let isCode = word.text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard isCode, word.text.utf8.count <= 64 else {
            throw self.refusal("for, or before it an error code such as LOCK_FAILED")
        }
        self.words.removeFirst()
        return word.text
    }

    private mutating func pattern() throws(FaultScriptError) -> RequestPattern {
        guard self.take("to") else { return RequestPattern() }
        let method = self.words.first.map(\.text).flatMap { RequestPattern.methods.contains($0) ? $0 : nil }
        if method != nil { self.words.removeFirst() }
        guard let path = self.words.first?.text, RequestPattern.isPath(path) else {
            let methods = RequestPattern.methods.joined(separator: ", ")
            throw self.refusal(method == nil ? "\(methods), and a path such as /api/**" : "a path such as /api/**")
        }
        self.words.removeFirst()
        return RequestPattern(method, path)
    }

    // MARK: - Numbers and words

    private mutating func extent() throws(FaultScriptError) -> FaultStep.Extent {
        let number = try self.number()
        let unit = try self.word(of: ["ms", "s", "min", "request", "requests"])
        return unit.hasPrefix("request") ? .requests(number) : .time(Self.duration(number, unit))
    }

    private mutating func time(upTo longest: Duration? = nil) throws(FaultScriptError) -> Duration {
        let start = self.words
        let number = try self.number()
        let time = Self.duration(number, try self.word(of: ["ms", "s", "min"]))
        if let longest, time > longest {
            self.words = start
            throw self.refusal("a time of up to \(longest)")
        }
        return time
    }

    private static func duration(_ number: Int, _ unit: String) -> Duration {
        switch unit {
        case "ms": .milliseconds(number)
        case "s": .seconds(number)
        default: .seconds(60 * number)
        }
    }

    /// The unit may follow the number in the same word, as in `5s`.
    private mutating func number(_ range: ClosedRange<Int> = 1...1_000_000) throws(FaultScriptError) -> Int {
        let digits = self.words.first?.text.prefix { $0.isASCII && $0.isNumber } ?? ""
        guard let number = Int(digits), range.contains(number), var rest = self.words.popFirst() else {
            throw self.refusal("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        rest.text.removeFirst(digits.count)
        rest.column += digits.count
        if !rest.text.isEmpty { self.words.insert(rest, at: self.words.startIndex) }
        return number
    }

    private mutating func expect(_ words: String...) throws(FaultScriptError) {
        for word in words { _ = try self.word(of: [word]) }
    }

    private mutating func word(of known: [String]) throws(FaultScriptError) -> String {
        guard let word = self.words.first?.text, known.contains(word) else {
            throw self.refusal(known.joined(separator: ", "))
        }
        self.words.removeFirst()
        return word
    }

    private mutating func take(_ word: String) -> Bool {
        guard self.words.first?.text == word else { return false }
        self.words.removeFirst()
        return true
    }

    private func refusal(_ known: String) -> FaultScriptError {
        if let word = self.words.first {
            let shown = String(String.UnicodeScalarView(word.text.unicodeScalars.prefix(40)))
            return FaultScriptError(at: word, "'\(shown)' is not known here; there is \(known)")
        }
        let last = self.all[self.all.count - 1]
        let column = last.column + last.text.unicodeScalars.count
        return FaultScriptError(line: last.line, column: column, message: "the step ends too early; there is \(known)")
    }
}
