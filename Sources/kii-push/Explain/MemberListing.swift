import KiiPushCore

/// Sorts the keys of a payload: Kii's fields, `aps`, the sender's own, and what nobody looks at.
struct MemberListing {
    private let message: ReceivedMessage
    private(set) var fields: [PayloadExplanation.Member] = []
    private(set) var aps: [PayloadExplanation.Member] = []
    private(set) var custom: [PayloadExplanation.Remark] = []
    private(set) var ignored: [PayloadExplanation.Remark] = []

    init(_ message: ReceivedMessage, payload: JSONValue) {
        self.message = message
        for pointer in payload.duplicateKeys {
            self.ignore(pointer, Optional.none, "an earlier value of this key: the last one counts")
        }
        for member in payload.members ?? [] {
            let pointer = JSONPointer(tokens: [member.key])
            if let field = MessageField.allCases.first(where: { $0.key(in: message.keyFamily) == member.key }) {
                self.add(field, member.value, at: pointer)
            } else if message.keyFamily == .long, member.key == "senderURI" || member.key == "sourceURI" {
                let meaning = member.key == "senderURI" ? KeyMeaning.senderURI : .sourceURI
                self.fields.append(.init(pointer, member, meaning))
            } else if message.keyFamily == .short, member.key == "aps" {
                self.addAPS(member.value, at: pointer)
            } else {
                let why = CustomKey(member.key, in: message.keyFamily).why
                self.custom.append(.init(pointer: pointer, value: member.value, why: why))
            }
        }
    }

    private mutating func add(_ field: MessageField, _ value: JSONValue, at pointer: JSONPointer) {
        let reading = value.isNull ? nil : FieldReading(field, of: self.message).text
        self.fields.append(
            .init(
                pointer: pointer, name: field.key(in: .long), value: value,
                meaning: KeyMeaning(field, in: self.message.kind), reading: reading))
        if let why = self.reasonToIgnore(field, value) { self.ignore(pointer, value, why) }
    }

    private func reasonToIgnore(_ field: MessageField, _ value: JSONValue) -> String? {
        guard !value.isNull else { return "null is no value, though the key counts for the kind" }
        guard self.message.value(of: field) != nil else {
            return "\(value.kind.phrase) is no value of a field, though the key counts for the kind"
        }
        switch field {
        case .when where self.message.when == nil, .objectModifiedAt where self.message.modifiedAt == nil:
            return "no whole number of milliseconds, so no time"
        case _ where self.message.value(of: field) == "": return "an empty text names nothing"
        case .topic, .bucketID, .objectID: return self.reasonNotToResolve(field)
        case .scopeUserID where self.message.scopeType != .user: return Self.otherScope
        case .scopeGroupID where self.message.scopeType != .group: return Self.otherScope
        case .scopeThingID where self.message.scopeType != .thing: return Self.otherScope
        default: return nil
        }
    }

    private static let otherScope = "the scope is another one"

    /// Why an ID does not lead to what it names.
    private func reasonNotToResolve(_ field: MessageField) -> String? {
        switch field {
        case .topic where self.message.sourceTopic == nil, .bucketID where self.message.sourceBucket == nil:
            "without a usable scope nobody can tell which one it is"
        case .objectID where self.message.sourceObject == nil:
            self.message.value(of: .bucketID) == nil
                ? "without a bucket nobody can tell which one it is"
                : "without a usable scope nobody can tell which one it is"
        default: nil
        }
    }

    private mutating func addAPS(_ aps: JSONValue, at pointer: JSONPointer) {
        for member in aps.members ?? [] {
            let place = pointer.appending(member.key)
            switch member.key {
            case "alert" where member.value.kind == .object:
                self.addParts(of: member.value, at: place, known: KeyMeaning.alert, source: "APNs: alert")
            case "sound" where member.value.kind == .object:
                self.addParts(of: member.value, at: place, known: KeyMeaning.sound, source: "APNs: sound")
            default: self.addPart(member, at: place, known: KeyMeaning.aps, source: "APNs: aps")
            }
        }
        if aps.kind == .object, aps["badge"]?.isNull ?? true {
            // No badge in `aps` is an order, not silence.
            self.aps.append(
                .init(
                    pointer: pointer.appending("badge"), name: "badge", value: Optional.none,
                    meaning: KeyMeaning("Not there: the number is taken away from the icon.", "APNs: aps"), reading: nil
                ))
        }
    }

    private mutating func addParts(
        of object: JSONValue, at pointer: JSONPointer, known: KeyValuePairs<String, String>, source: String
    ) {
        for member in object.members ?? [] {
            self.addPart(member, at: pointer.appending(member.key), known: known, source: source)
        }
    }

    private mutating func addPart(
        _ member: JSONMember, at pointer: JSONPointer, known: KeyValuePairs<String, String>, source: String
    ) {
        if member.value.isNull {
            self.ignore(pointer, member.value, "null counts as absent")
        } else if let finding = self.message.findings.first(where: { $0.pointer.tokens.starts(with: pointer.tokens) }) {
            self.ignore(pointer, member.value, finding.description)
        } else if let text = known[member.key] {
            self.aps.append(.init(pointer, member, KeyMeaning(text, source)))
        } else {
            self.ignore(pointer, member.value, "no key that Apple documents: a program finds it in the raw payload")
        }
    }

    private mutating func ignore(_ pointer: JSONPointer, _ value: JSONValue?, _ why: String) {
        self.ignored.append(.init(pointer: pointer, value: value, why: why))
    }
}

extension PayloadExplanation.Member {
    fileprivate init(_ pointer: JSONPointer, _ member: JSONMember, _ meaning: KeyMeaning) {
        self.init(pointer: pointer, name: member.key, value: member.value, meaning: meaning, reading: nil)
    }
}
