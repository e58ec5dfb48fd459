import KiiPushCore

/// An object in the body of a control below `/__kii`, read member by member.
///
/// A control is typed by a person or written in a script, so whatever it does not know is refused and named.
struct ControlBody {
    private static let longest = Duration.seconds(2_147_483_647)

    private let value: JSONValue
    /// What precedes the members' names in an error (RFC 6901).
    private let pointer: String

    /// The body of `call`; an empty one counts as `{}`. The media type is not looked at, so that `curl -d` will do.
    init(_ call: CloudCall) throws(KiiFailure) {
        self.value = call.request.body.isEmpty ? [:] : try call.object()
        self.pointer = ""
    }

    private init(_ value: JSONValue, pointer: String) {
        self.value = value
        self.pointer = pointer
    }

    /// - Throws: ``KiiFailure`` 400 when there is a member that is none of `names`.
    func allow(_ names: [String]) throws(KiiFailure) {
        for member in self.value.members ?? [] where !names.contains(member.key) {
            throw self.wrong(member.key, "is not known here; there is \(names.joined(separator: ", "))")
        }
    }

    func allow(_ names: String...) throws(KiiFailure) { try self.allow(names) }

    func has(_ name: String) -> Bool { self.value[name] != nil }

    func bool(_ name: String) throws(KiiFailure) -> Bool? { try self.read(name, "true or false") { $0.bool } }

    func text(_ name: String) throws(KiiFailure) -> String? {
        try self.read(name, "a string that is not empty") { member in
            guard let text = member.string, !text.isEmpty else { return String?.none }
            return text
        }
    }

    /// A whole number in `range`.
    func count(_ name: String, in range: ClosedRange<Int> = 1...1_000_000) throws(KiiFailure) -> Int? {
        try self.read(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { member in
            guard let number = member.int64.flatMap({ Int(exactly: $0) }), range.contains(number) else {
                return Int?.none
            }
            return number
        }
    }

    /// What `read` makes of the member, if there is one; the member is refused where that is nothing.
    private func read<Result>(
        _ name: String, _ what: @autoclosure () -> String, _ read: (JSONValue) -> Result?
    ) throws(KiiFailure) -> Result? {
        guard let member = self.value[name] else { return nil }
        guard let result = read(member) else { throw self.wrong(name, "has to be \(what())") }
        return result
    }

    /// A time in seconds, to the millisecond.
    func duration(
        _ name: String, from shortest: Duration = .milliseconds(1), to longest: Duration = ControlBody.longest
    ) throws(KiiFailure) -> Duration? {
        try self.read(name, "a number of seconds: at least \(shortest), at most \(longest)") { member in
            // Compared before it is converted: a `Double` may be far beyond what an integer holds.
            guard let seconds = member.double, seconds >= 0, seconds <= Double(longest.components.seconds) else {
                return Duration?.none
            }
            let duration = Duration.milliseconds(Int64((seconds * 1000).rounded()))
            return shortest <= duration ? duration : Duration?.none
        }
    }

    /// As ``duration(_:from:to:)``; `nil` also where `null` is written.
    func durationOrNull(_ name: String) throws(KiiFailure) -> Duration? {
        try self.value.present(name) == nil ? nil : self.duration(name)
    }

    func objectOrNull(_ name: String) throws(KiiFailure) -> ControlBody? {
        guard let member = self.value.present(name) else { return nil }
        guard member.kind == .object else { throw self.wrong(name, "has to be an object") }
        return ControlBody(member, pointer: "\(self.pointer)/\(name)")
    }

    /// The members of an object that may hold anything.
    func freeMembers(_ name: String) throws(KiiFailure) -> JSONMembers {
        try self.objectOrNull(name)?.value.pairs ?? []
    }

    func wrong(_ name: String, _ what: String) -> KiiFailure { .invalidInput("\(self.pointer)/\(name) \(what).") }
}
