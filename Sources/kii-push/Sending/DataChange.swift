import KiiPushCore

/// `--set POINTER=VALUE`: one change of the data that is sent.
struct DataChange: ExpressibleByArgument {
    let pointer: JSONPointer
    let value: JSONValue

    /// The pointer ends at the first `=`, so a key with one cannot be reached. A value that is no JSON is a string.
    init?(argument: String) {
        guard let (name, text) = argument.halves, let pointer = JSONPointer(name), !pointer.tokens.isEmpty else {
            return nil
        }
        self.pointer = pointer
        self.value = (try? JSONValue(parsing: text)) ?? JSONValue(text)
    }

    static var expectation: String { "a JSON Pointer and a value, such as /msg=hi or /count=3" }

    /// The data with this change. Objects on the way that are missing are made.
    ///
    /// - Throws: ``CommandFailure`` with exit 65 where the way leads through a value that has no members, or to an element
    ///   that an array does not have.
    func applied(to data: JSONValue) throws -> JSONValue {
        try self.replacing(data, self.pointer.tokens[...], at: JSONPointer())
    }

    private func replacing(_ value: JSONValue?, _ rest: ArraySlice<String>, at place: JSONPointer) throws -> JSONValue {
        guard let token = rest.first else { return self.value }
        let (next, tail) = (place.appending(token), rest.dropFirst())
        guard let value else { return .object([(token, try self.replacing(Optional.none, tail, at: next))]) }
        if let elements = value.array { return try self.replacing(elements: elements, token, tail, at: place) }
        guard var members = value.members else {
            throw self.failure("\(place) is \(value.kind.phrase), which has no members")
        }
        let index = members.firstIndex { $0.key.utf8.elementsEqual(token.utf8) }
        let new = try self.replacing(index.map { members[$0].value }, tail, at: next)
        if let index { members[index].value = new } else { members.append(JSONMember(key: token, value: new)) }
        return JSONValue(members: members)
    }

    /// `-` stands for the place behind the last element (RFC 6901 section 4).
    private func replacing(
        elements: [JSONValue], _ token: String, _ tail: ArraySlice<String>, at place: JSONPointer
    ) throws -> JSONValue {
        var elements = elements
        let next = place.appending(token)
        let index = token == "-" ? elements.count : Int(token).flatMap { String($0) == token ? $0 : nil }
        guard let index, index >= 0, index <= elements.count else {
            throw self.failure("\(place) has no element \(token); it has \(elements.count)")
        }
        if index == elements.count {
            elements.append(try self.replacing(Optional.none, tail, at: next))
        } else {
            elements[index] = try self.replacing(elements[index], tail, at: next)
        }
        return JSONValue(elements)
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure(.badInput, "cannot set \(self.pointer): \(reason)")
    }
}

extension String {
    /// What stands before the first `=` and behind it; `nil` without one.
    var halves: (String, String)? {
        guard let sign = self.firstIndex(of: "=") else { return nil }
        return (String(self[..<sign]), String(self[self.index(after: sign)...]))
    }
}

/// Pointers that would have no effect, since what they seem to mean is no part of the data.
enum DataChangeRule {
    /// For a message, whose data stands beside what the cloud writes itself: these keys.
    case message(written: [String: String])
    /// For an object in a bucket, of which the push holds nothing.
    case object

    /// - Throws: ``ValidationError`` that names the option to use instead.
    func check(_ change: DataChange) throws {
        guard let complaint = self.complaint(about: change.pointer) else { return }
        throw ValidationError("'--set \(change.pointer)' would be ignored: \(complaint)")
    }

    private func complaint(about pointer: JSONPointer) -> String? {
        let (root, inner) = (pointer.tokens[0], pointer.tokens.dropFirst().joined(separator: "/"))
        switch (self, root) {
        case (.object, "aps"), (.object, "apns"):
            return "the cloud writes the whole push to app itself; send a message instead, "
                + "with 'send topic' or 'send user'"
        case (.object, _): return nil
        case (.message, "aps"): return "the cloud writes aps itself; " + Self.advice(Self.apsOptions[inner], on: "aps")
        case (.message, "apns") where !inner.isEmpty:
            return "it is not among the data; " + Self.advice(Self.apnsOptions[inner], on: "apns")
        case (.message, "data") where !inner.isEmpty: return "pointers begin inside the data; use --set /\(inner)"
        case (.message, "gcm"), (.message, "fcm"), (.message, "mqtt"), (.message, "jpush"):
            return inner.isEmpty
                ? nil
                : "it is not among the data; use --network \(root), --network-data and what 'Networks' has in help"
        case (.message(let written), _):
            if let option = Self.flagOptions[root] { return "it is not among the data; use \(option)" }
            return written[root].map { "the cloud writes \(root) itself; \($0)" }
        }
    }

    private static func advice(_ option: String?, on part: String) -> String {
        option.map { "use \($0)" } ?? "no option writes that part of \(part)"
    }

    private static let apsOptions = [
        "alert": "--alert", "alert/body": "--alert", "alert/title": "--title", "alert/subtitle": "--subtitle",
        "alert/loc-key": "--loc-key", "alert/loc-args": "--loc-arg", "alert/action-loc-key": "--action-loc-key",
        "alert/launch-image": "--launch-image", "sound": "--sound", "badge": "--badge", "category": "--category",
        "content-available": "--wake", "mutable-content": "--mutable",
    ]
    private static let apnsOptions = [
        "alert": "--alert", "alert/body": "--alert", "alert/title": "--title", "alert/subtitle": "--subtitle",
        "alert/locKey": "--loc-key", "alert/locArgs": "--loc-arg", "alert/actionLocKey": "--action-loc-key",
        "alert/launchImage": "--launch-image", "sound": "--sound", "badge": "--badge", "category": "--category",
        "contentAvailable": "--wake", "mutableContent": "--mutable", "enabled": "--network apns",
    ]
    private static let flagOptions = [
        "pushMessageType": "--type", "sendWhen": "--when", "sendOrigin": "--send-origin",
        "sendAppID": "--send-app-id", "sendSender": "--no-sender", "sendTopicID": "--no-topic",
        "sendObjectScope": "--no-scope", "sendToDevelopment": "--only", "sendToProduction": "--only",
    ]
}
