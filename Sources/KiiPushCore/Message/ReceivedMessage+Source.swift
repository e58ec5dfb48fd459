extension ReceivedMessage {
    /// In which kind of scope the source lives; `nil` if the payload does not say.
    public var scopeType: ScopeType? { self.fields.nonEmptyText(.scopeType).map(ScopeType.init) }

    /// The scope in which the source lives; `nil` if the payload does not say, names a kind of scope that this version
    /// does not know, or lacks the ID of the user, group or thing.
    public var scope: Scope? {
        switch self.scopeType {
        case .app: .app
        case .user: self.fields.nonEmptyText(.scopeUserID).map(Scope.user)
        case .group: self.fields.nonEmptyText(.scopeGroupID).map(Scope.group)
        case .thing: self.fields.nonEmptyText(.scopeThingID).map(Scope.thing)
        case .other, nil: nil
        }
    }

    /// The bucket that changed. It takes a bucket ID and a ``scope``, but no bucket type.
    public var sourceBucket: Bucket? {
        guard let scope = self.scope, let id = self.fields.nonEmptyText(.bucketID) else { return nil }
        return Bucket(id, in: scope)
    }

    /// The kind of the bucket that changed.
    public var sourceBucketType: BucketType? { self.fields.nonEmptyText(.bucketType).map(BucketType.init) }

    /// The object that changed. It takes an object ID and a ``sourceBucket``.
    public var sourceObject: ObjectReference? {
        guard let bucket = self.sourceBucket, let id = self.fields.nonEmptyText(.objectID) else { return nil }
        return ObjectReference(id, in: bucket)
    }

    /// The topic that the message was sent to. It takes a topic ID and a ``scope``.
    public var sourceTopic: Topic? {
        guard let scope = self.scope, let id = self.fields.nonEmptyText(.topic) else { return nil }
        return Topic(id, in: scope)
    }

    /// The ID of the user in whose scope the source lives; `nil` in any other scope.
    public var sourceUser: String? { if case .user(let id) = self.scope { id } else { nil } }
    /// The ID of the group in whose scope the source lives; `nil` in any other scope.
    public var sourceGroup: String? { if case .group(let id) = self.scope { id } else { nil } }
    /// The ID of the thing in whose scope the source lives; `nil` in any other scope.
    public var sourceThing: String? { if case .thing(let id) = self.scope { id } else { nil } }
    /// Whether ``sourceBucket`` is there.
    public var containsBucket: Bool { self.sourceBucket != nil }
    /// Whether ``sourceObject`` is there.
    public var containsObject: Bool { self.sourceObject != nil }
    /// Whether ``sourceTopic`` is there.
    public var containsTopic: Bool { self.sourceTopic != nil }
    /// The address of what caused the push: an object, a topic, or the receiver of a direct push.
    ///
    /// `nil` if it is absent or empty, as in every payload with short keys.
    public var sourceURI: KiiURI? { self.fields.address(slot: PayloadKey.sourceURI) }
}
