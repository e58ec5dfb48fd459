import KiiPushCore

extension Route {
    static let objectBodies: [Route] = [
        Route("PUT", "\(object)/body", EmulatedCloud.putObjectBody),
        Route("GET", "\(object)/body", need: .app, EmulatedCloud.showObjectBody),
        Route("DELETE", "\(object)/body", EmulatedCloud.deleteObjectBody),
    ]
}

/// - Source: Kii's reference, object body. Kii's JavaScript SDK reads the time from `modifiedAt`.
extension EmulatedCloud {
    func putObjectBody(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let object = try self.changeableObject(call)
        let former = self.state.bodies[object.key]
        let body = ObjectBodyRecord(
            object: object.object,
            mediaType: call.field("Content-Type").flatMap { $0.isEmpty ? nil : $0 } ?? "application/octet-stream",
            bytes: call.request.body, version: (former?.version ?? 0) + 1)
        self.state.save(body)
        self.touch(object, call)
        self.announce(.bodyUpdated, of: object.object, modifiedAt: call.now, call)
        let tag = HTTPField.entityTag(body.version)
        return .json(200, "ObjectBodyUploadResponse", ["modifiedAt": call.now.json], fields: [tag])
    }

    func showObjectBody(_ call: CloudCall) throws(KiiFailure) -> HTTPResponse {
        let body = try self.existingBody(of: self.existingObject(call, in: self.readableBucket(call)))
        let fields = [HTTPField("Content-Type", body.mediaType), .entityTag(body.version)]
        return HTTPResponse(status: 200, fields: fields, body: body.bytes)
    }

    func deleteObjectBody(_ call: CloudCall) throws(KiiFailure) {
        let object = try self.changeableObject(call)
        self.state.remove(try self.existingBody(of: object))
        self.touch(object, call)
        self.announce(.bodyDeleted, of: object.object, modifiedAt: call.now, call)
    }

    private func changeableObject(_ call: CloudCall) throws(KiiFailure) -> ObjectRecord {
        let object = try self.existingObject(call, in: self.writableBucket(call))
        try self.requireChangeable(object, call)
        return object
    }

    private func existingBody(of object: ObjectRecord) throws(KiiFailure) -> ObjectBodyRecord {
        guard let body = self.state.bodies[object.key] else {
            throw self.failure(404, "OBJECT_BODY_NOT_FOUND", "The object has no body.", object.object)
        }
        return body
    }

    /// The version stays the same, since it counts only changes of the object's data.
    private func touch(_ object: ObjectRecord, _ call: CloudCall) {
        var record = object
        record.modifiedAt = call.now
        self.state.save(record)
    }
}
