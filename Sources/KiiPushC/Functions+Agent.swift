// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKiiPush
import KiiPushCore

/// See `kii_push.h`.
@c @implementation
public func kii_push_agent_new(
    _ runtime: kii_push_runtime, _ json: UnsafePointer<CChar>!, _ length: Int, _ handler: kii_push_handler!,
    _ context: UnsafeMutableRawPointer!, _ agent: UnsafeMutablePointer<kii_push_agent>!,
    _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let handle = try required(agent, "agent")
        guard let handler else { throw .argument("handler is null") }
        let opened = try KiiPushC.runtime(runtime)
        let json = try text(json, length, "json")
        let configuration = try CFailure.reading(PushAgent.Configuration(json: json))
        let hosted = HostedAgent(opened, configuration, Callbacks(opened, handler, context))
        try opened.add(hosted)
        // Another thread may have closed the runtime meanwhile.
        guard let number = handles.withLock({ $0.add(hosted, to: runtime) }) else { throw .handle("runtime") }
        handle.pointee = number
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_observe(
    _ agent: kii_push_agent, _ observer: kii_push_observer!, _ context: UnsafeMutableRawPointer!,
    _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard let observer else { throw .argument("observer is null") }
        try KiiPushC.agent(agent).observe(observer, context)
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_register(_ agent: kii_push_agent, _ error: UnsafeMutablePointer<kii_push_error>!) -> Int32 {
    answering(error) { () throws(CFailure) in try KiiPushC.agent(agent).register() }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_start(_ agent: kii_push_agent, _ error: UnsafeMutablePointer<kii_push_error>!) -> Int32 {
    answering(error) { () throws(CFailure) in try KiiPushC.agent(agent).start() }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_stop(_ agent: kii_push_agent, _ error: UnsafeMutablePointer<kii_push_error>!) -> Int32 {
    answering(error) { () throws(CFailure) in try KiiPushC.agent(agent).stop() }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_wait(
    _ agent: kii_push_agent, _ milliseconds: Int64, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        guard Callback.current == nil else { throw .callback("kii_push_wait") }
        try KiiPushC.agent(agent).wait(milliseconds)
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_call(
    _ agent: kii_push_agent, _ method: UnsafePointer<CChar>!, _ path: UnsafePointer<CChar>!,
    _ content_type: UnsafePointer<CChar>!, _ body: UnsafePointer<CChar>!, _ length: Int,
    _ answer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!, _ answer_length: UnsafeMutablePointer<Int>!,
    _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let call = try KiiCall<[UInt8]>(
            method: text(method, "method"), path: text(path, "path"),
            mediaType: content_type == nil ? "application/json" : text(content_type, "content_type"),
            body: body == nil && length == 0 ? nil : data(body, length, "body", atMost: 64 << 20))
        if answer != nil { _ = try required(answer_length, "answer_length") }
        let agent = try KiiPushC.agent(agent).agent
        let bytes = try waiting("kii_push_call") { try await agent.session().perform(call) }
        guard answer != nil else { return }
        answer.pointee = try duplicate(bytes)
        answer_length.pointee = bytes.count
    }
}

/// See `kii_push.h`.
@c @implementation
public func kii_push_send(
    _ agent: kii_push_agent, _ target: UnsafePointer<CChar>!, _ json: UnsafePointer<CChar>!, _ length: Int,
    _ id: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!, _ error: UnsafeMutablePointer<kii_push_error>!
) -> Int32 {
    answering(error) { () throws(CFailure) in
        let hosted = try KiiPushC.agent(agent)
        let destination = try PushDestination(text(target, "target"), of: hosted.account)
        let content = try text(json, length, "json")
        let sentID = try waiting("kii_push_send") { [agent = hosted.agent] in
            let data: JSONValue
            do {
                data = try JSONValue(parsing: content)
            } catch {
                throw CFailure(KII_PUSH_E_CONFIGURATION, "the message is \(error)")
            }
            return try await agent.session().send(PushMessage(data: data), to: destination)
        }
        if id != nil { id.pointee = try duplicate(sentID.utf8) }
    }
}

extension KiiCall<[UInt8]> {
    fileprivate init(method: String, path: String, mediaType: String, body: [UInt8]?) throws(CFailure) {
        guard let known = HTTPMethod(rawValue: method) else {
            throw .argument("method has to be GET, HEAD, POST, PUT, PATCH or DELETE")
        }
        let steps = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            !path.contains("#"), !steps.contains("."), !steps.contains("..")
        else {
            throw .argument("path has to begin with / and be percent-encoded, without #, and without . and .. as steps")
        }
        self.init(known, KiiPath(String(path.dropFirst())), statuses: Set(200...299)) { $0.http.body }
        if let body {
            self.body = .bytes(body, mediaType: mediaType)
        } else if known == .put || known == .post || known == .patch {
            self.body = .empty
        }
    }
}
