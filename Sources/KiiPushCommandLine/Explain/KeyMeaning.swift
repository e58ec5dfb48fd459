import KiiPushCore

struct KeyMeaning {
    let text: String
    /// A page of Kii's or Apple's documents, in a few words.
    let source: String

    init(_ text: String, _ source: String) { (self.text, self.source) = (text, source) }

    init(_ field: MessageField, in kind: ReceivedMessage.Kind) {
        let isToApp = kind == .pushToApp
        let (text, source): (String, String) =
            switch field {
            case .appID: ("The app that caused the push.", "message fields")
            case .sender: (isToApp ? "Whose change caused the push." : "Who sent it.", "message fields")
            case .type where isToApp: ("What happened in the bucket.", "push to app")
            case .type: ("The sender's own type of message (pushMessageType).", "sending messages")
            case .when: ("When it was sent, in milliseconds since 1970.", "message fields")
            case .origin: ("What caused it: EVENT is a change, EXPLICIT is a sender.", "message fields")
            case .topic: ("The topic that it was sent to.", "push to user")
            case .scopeAppID: ("The app in which the topic or bucket lives.", "message fields")
            case .scopeUserID: ("The user in whose scope it lives.", "message fields")
            case .scopeGroupID: ("The group in whose scope it lives.", "message fields")
            case .scopeThingID: ("The thing in whose scope it lives.", "message fields")
            case .scopeType:
                ("Whose topic or bucket it is: the app's, a user's, a group's, a thing's.", "message fields")
            case .bucketID: ("The bucket in which something changed.", "push to app")
            case .bucketType: ("The kind of bucket.", "push to app")
            case .objectID: ("The object that changed.", "push to app")
            case .objectModifiedAt: ("When the object changed, in milliseconds since 1970.", "push to app")
            }
        self.init(text, "Kii: \(source)")
    }

    /// The key in Apple's spelling, with dashes, as in the delivered payload. Kii's requests write these keys in camel
    /// case.
    static func dashed(_ key: String) -> String {
        key.reduce(into: "") { text, character in
            text += character.isUppercase ? "-\(character.lowercased())" : character == "_" ? "-" : String(character)
        }
    }

    /// Whether the sender probably meant a key beside `aps` to be in `aps`.
    ///
    /// - Parameter aps: the payload's `aps`; `nil` without one, as over MQTT. Words such as `badge` then count as
    ///   custom keys.
    static func belongsIntoAPS(_ key: String, beside aps: JSONValue?) -> Bool {
        let dashed = Self.dashed(key)
        guard Self.aps[dashed] != nil, aps?[dashed] == nil else { return false }
        let isWord = ["alert", "badge", "sound", "category"].contains(dashed)
        return dashed.contains("-") || (aps != nil && isWord)
    }

    static let addresses: KeyValuePairs<String, String> = [
        "senderURI": "The address of who sent it.",
        "sourceURI": "The address of what caused it: an object, a topic, or the receiver.",
    ]

    static let aps: KeyValuePairs<String, String> = [
        "alert": "The text that is shown.",
        "badge": "The number on the program's icon; 0 takes it away.",
        "sound": "The sound that is played; 'default' is the usual one.",
        "content-available": "Whether the program is woken in the background.",
        "category": "Whose actions are offered as buttons.",
        "mutable-content": "Whether the program may change it before it is shown.",
        "thread-id": "Which conversation it belongs to.",
        "target-content-id": "Which window is brought forward.",
        "interruption-level": "How much it may disturb.",
        "relevance-score": "How it is sorted in a summary.",
        "filter-criteria": "Which Focus filters let it through.",
        "stale-date": "When a Live Activity is out of date.",
        "content-state": "What a Live Activity shows.",
        "timestamp": "When a Live Activity's update was made.",
        "event": "What happens to a Live Activity.",
        "dismissal-date": "When an ended Live Activity is taken away.",
        "attributes-type": "The type of a Live Activity that is started.",
        "attributes": "The fixed part of a Live Activity that is started.",
        "url-args": "What is put into the address of a web site's notification.",
    ]

    static let alert: KeyValuePairs<String, String> = [
        "title": "The title.",
        "subtitle": "The line below the title.",
        "body": "The text; without it (and loc-key) nothing is shown.",
        "launch-image": "The image that is shown while the program starts.",
        "loc-key": "The key of the text in the program's own strings.",
        "loc-args": "What is put into that text.",
        "title-loc-key": "The key of the title in the program's own strings.",
        "title-loc-args": "What is put into that title.",
        "subtitle-loc-key": "The key of the subtitle in the program's own strings.",
        "subtitle-loc-args": "What is put into that subtitle.",
        "action-loc-key": "The key of the button's text in the program's own strings.",
        "action": "The text of the button of a web site's notification.",
        "show-view": "Whether a View button is shown.",
        "summary-arg": "What is counted in the summary of a group of notifications.",
        "summary-arg-count": "How many it counts for in that summary.",
    ]

    static let sound: KeyValuePairs<String, String> = [
        "name": "The name of the sound.",
        "critical": "Whether it is played although the device is muted.",
        "volume": "How loud, from 0 to 1.",
    ]
}

extension KeyValuePairs<String, String> {
    package subscript(key: String) -> String? { self.first { $0.key == key }?.value }
}
