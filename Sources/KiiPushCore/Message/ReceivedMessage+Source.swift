extension ReceivedMessage {
    /// The scope of the source. `nil` if the payload has none, has an unknown kind of scope, or lacks the ID of the
    /// user, group or thing.
    public var scope: Scope? {
        switch self.fields.text(.scopeType) {
        case "APP": .app
        case "APP_AND_USER": self.fields.nonEmptyText(.scopeUserID).map(Scope.user)
        case "APP_AND_GROUP": self.fields.nonEmptyText(.scopeGroupID).map(Scope.group)
        case "APP_AND_THING": self.fields.nonEmptyText(.scopeThingID).map(Scope.thing)
        default: nil
        }
    }

    /// The bucket that changed; `nil` without a bucket ID or a ``scope``.
    public var sourceBucket: Bucket? {
        guard let scope = self.scope, let id = self.fields.nonEmptyText(.bucketID) else { return nil }
        return Bucket(id, in: scope)
    }

    /// The object that changed; `nil` without an object ID or a ``sourceBucket``.
    public var sourceObject: ObjectReference? {
        guard let bucket = self.sourceBucket, let id = self.fields.nonEmptyText(.objectID) else { return nil }
        return ObjectReference(id, in: bucket)
    }

    /// The topic that the message was sent to; `nil` without a topic ID or a ``scope``.
    public var sourceTopic: Topic? {
        guard let scope = self.scope, let id = self.fields.nonEmptyText(.topic) else { return nil }
        return Topic(id, in: scope)
    }

    /// The address of the push's source: an object, a topic, or the receiver of a direct push.
    ///
    /// `nil` if absent or empty, as in every payload with short keys.
    public var sourceURI: KiiURI? { self.fields.address(slot: PayloadKey.sourceURI) }
}
