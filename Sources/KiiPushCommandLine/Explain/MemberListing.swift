import KiiPushCore

struct MemberListing {
    private let message: ReceivedMessage
    private(set) var fields: [PayloadExplanation.Member] = []
    private(set) var aps: [PayloadExplanation.Member] = []
    private(set) var custom: [PayloadExplanation.Remark] = []
    private(set) var ignored: [PayloadExplanation.Remark] = []

    init(_ message: ReceivedMessage) {
        self.message = message
        for pointer in message.rawPayload.duplicateKeys {
            self.ignore(pointer, nil, "an earlier value of this key: the last one counts")
        }
        for member in message.rawPayload.members ?? [] {
            let pointer = JSONPointer(tokens: [member.key])
            if let field = MessageField.allCases.first(where: { $0.key(in: message.keyFamily) == member.key }) {
                self.add(field, member.value, at: pointer)
            } else if message.keyFamily == .long, let text = KeyMeaning.addresses[member.key] {
                self.fields.append(.init(pointer, member, KeyMeaning(text, "Kii: push over MQTT")))
            } else if message.keyFamily == .short, member.key == "aps" {
                self.addAPS(member.value, at: pointer)
            } else {
                let why = self.reasonForCustom(member.key)
                self.custom.append(.init(pointer: pointer, value: member.value, why: why))
            }
        }
    }

    private mutating func add(_ field: MessageField, _ value: JSONValue, at pointer: JSONPointer) {
        let reading = value.isNull ? nil : self.message.reading(of: field)
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
        let scopeType = self.message.value(of: .scopeType)
        let noScope = "without a usable scope nobody can tell which one it is"
        return switch field {
        case .when where self.message.when == nil, .objectModifiedAt where self.message.modifiedAt == nil:
            "no whole number of milliseconds, so no time"
        case _ where self.message.value(of: field) == "": "an empty text names nothing"
        case .topic where self.message.sourceTopic == nil, .bucketID where self.message.sourceBucket == nil: noScope
        case .objectID where self.message.sourceObject == nil:
            self.message.value(of: .bucketID) == nil ? "without a bucket nobody can tell which one it is" : noScope
        case .scopeUserID where scopeType != "APP_AND_USER", .scopeGroupID where scopeType != "APP_AND_GROUP",
            .scopeThingID where scopeType != "APP_AND_THING":
            "the scope is another one"
        default: nil
        }
    }

    private func reasonForCustom(_ key: String) -> String {
        guard let field = self.message.field(ofOtherFamily: key) else { return "no key of Kii's" }
        let (other, own) = self.message.keyFamily == .long ? ("short", "long") : ("long", "short")
        return "Kii's \(other) key for \(field.key(in: .long)); this payload is read with \(own) keys"
    }

    private mutating func addAPS(_ aps: JSONValue, at pointer: JSONPointer) {
        for member in aps.members ?? [] {
            let (parts, place) = (member.value.members, pointer.appending(member.key))
            switch member.key {
            case "alert" where parts != nil:
                for part in parts ?? [] { self.addPart(part, of: place, KeyMeaning.alert, "APNs: alert") }
            case "sound" where parts != nil:
                for part in parts ?? [] { self.addPart(part, of: place, KeyMeaning.sound, "APNs: sound") }
            default: self.addPart(member, of: pointer, KeyMeaning.aps, "APNs: aps")
            }
        }
        if aps.kind == .object, aps["badge"]?.isNull ?? true {
            // An `aps` without a badge has a meaning: it removes the badge.
            self.aps.append(
                .init(
                    pointer: pointer.appending("badge"), name: "badge", value: Optional.none,
                    meaning: KeyMeaning("Not there: the number is taken away from the icon.", "APNs: aps"), reading: nil
                ))
        }
    }

    private mutating func addPart(
        _ member: JSONMember, of object: JSONPointer, _ known: KeyValuePairs<String, String>, _ source: String
    ) {
        let pointer = object.appending(member.key)
        if member.value.isNull {
            self.ignore(pointer, member.value, "null counts as absent")
        } else if let finding = self.message.findings.first(where: { $0.pointer.tokens.starts(with: pointer.tokens) }) {
            self.ignore(pointer, member.value, finding.description)
        } else if let text = known[member.key] {
            let reading = ReceivedMessage.reading(ofAPS: member.key, member.value)
            self.aps.append(.init(pointer, member, KeyMeaning(text, source), reading: reading))
        } else {
            self.ignore(pointer, member.value, "no key that Apple documents: a program finds it in the raw payload")
        }
    }

    private mutating func ignore(_ pointer: JSONPointer, _ value: JSONValue?, _ why: String) {
        self.ignored.append(.init(pointer: pointer, value: value, why: why))
    }
}

extension PayloadExplanation.Member {
    fileprivate init(
        _ pointer: JSONPointer, _ member: JSONMember, _ meaning: KeyMeaning, reading: String? = nil
    ) {
        self.init(pointer: pointer, name: member.key, value: member.value, meaning: meaning, reading: reading)
    }
}
