import KiiPushCommandLine
import KiiPushCore

/// `--set POINTER=VALUE`: one change of the data to send.
struct DataChange: ExpressibleByArgument {
    let pointer: JSONPointer
    let value: JSONValue

    /// The first `=` ends the pointer, so keys with `=` cannot be changed. A value that is no JSON is a string.
    init?(argument: String) {
        guard let (name, text) = argument.halves, let pointer = JSONPointer(name), !pointer.tokens.isEmpty else {
            return nil
        }
        self.pointer = pointer
        self.value = (try? JSONValue(parsing: text)) ?? JSONValue(text)
    }

    static var expectation: String { "a JSON Pointer and a value, such as /msg=hi or /count=3" }

    /// Returns the changed data. Creates missing objects on the path.
    ///
    /// - Throws: ``CommandFailure`` with exit 65 if the path leads through a value without members, or to an element of
    ///   an array that neither exists nor directly follows the last one.
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

    /// `-` stands for the place after the last element (RFC 6901 section 4).
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
    var halves: (String, String)? {
        guard let sign = self.firstIndex(of: "=") else { return nil }
        return (String(self[..<sign]), String(self[self.index(after: sign)...]))
    }
}

/// Finds pointers to keys outside the data, whose change would have no effect.
enum DataChangeRule {
    /// For a message: the cloud writes these keys beside the data.
    case message(written: Set<String>)
    /// For an object in a bucket: its push contains none of its data.
    case object

    func check(_ change: DataChange) throws {
        guard let complaint = self.complaint(about: change.pointer) else { return }
        throw CommandFailure(.usage, "'--set \(change.pointer)' would be ignored: \(complaint)")
    }

    private func complaint(about pointer: JSONPointer) -> String? {
        let root = pointer.tokens[0]
        let inner = pointer.tokens.dropFirst().joined(separator: "/")
        switch (self, root) {
        case (.object, "aps"), (.object, "apns"):
            return "the cloud writes the whole push to app itself; send a message instead, "
                + "with 'send topic' or 'send user'"
        case (.object, _): return nil
        case (.message, "aps"): return "the cloud writes aps itself; use --alert, --badge and so on, or --message"
        case (.message, "data") where !inner.isEmpty: return "pointers begin inside the data; use --set /\(inner)"
        case (.message(let written), _):
            if written.contains(root) { return "the cloud writes \(root) itself" }
            let mayBeData = inner.isEmpty && (MessageFile.networks.contains(root) || root == "data")
            guard MessageFile.members.contains(root), !mayBeData else { return nil }
            return "it is not among the data; --message takes a whole body"
        }
    }
}
