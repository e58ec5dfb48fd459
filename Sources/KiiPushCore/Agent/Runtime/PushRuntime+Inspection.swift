extension PushRuntime {
    package typealias Inspection = ConnectionReport

    /// `report` is `nil` if libcurl did not begin or the task was cancelled. `failure` is `nil` on success.
    package typealias Finding = (report: Inspection?, failure: TransportError?)

    /// Connects with the agents' proxy and trust, and sends no data. If the certificate is not trusted, two more
    /// connections find out whether only the name is wrong, and read the certificate.
    package func inspect(host: String, port: UInt16, usesTLS: Bool) async throws -> Finding {
        // Without TLS first: after a failed handshake, libcurl does not say how far the connection had come.
        var (report, failure) = try await Self.inspect(.tcp(host: host, port: port), on: self.loop)
        guard usesTLS, failure == nil else { return (report, failure) }
        let target = StreamTarget.tls(host: host, port: port)
        let secured = try await Self.inspect(target, on: self.loop)
        failure = secured.failure
        report?.certificates = secured.report?.certificates ?? []
        if failure?.code == .certificateNotTrusted {
            var trust = self.configuration.trust
            trust.ignoresNames = true
            let named = try await self.inspect(target, trusting: trust)
            report?.isForAnotherName = named.failure == nil
            trust.insecure = true
            report?.certificates = try await self.inspect(target, trusting: trust).report?.certificates ?? []
        }
        return (report, failure)
    }

    package func inspectWebSocket(host: String, port: UInt16) async throws -> Finding {
        try await Self.inspect(.webSocket(host: host, port: port, usesTLS: true), on: self.loop)
    }

    private func inspect(_ target: StreamTarget, trusting trust: TLSConfiguration) async throws -> Finding {
        let loop = try EventLoop(configuration: self.configuration.loopConfiguration(trust))
        defer { loop.shutdown() }
        return try await Self.inspect(target, on: loop)
    }

    private static func inspect(_ target: StreamTarget, on loop: EventLoop) async throws -> Finding {
        let delegate = InspectedStream()
        try await loop.run { _ = loop.openStream(target, isInspected: true, delegate: delegate) }
        // The end of the loop closes the stream, so the delegate always has a finding.
        let late = TransportError(.timedOut, detail: "no connection came about in time")
        return await delegate.finding.value(onCancel: (nil, late))
    }
}

private final class InspectedStream: ByteStreamDelegate, Sendable {
    let finding = OneShot<PushRuntime.Finding>()

    func streamDidConnect(_ stream: any ByteStream) {
        self.finding.resume((stream.report, nil))
        stream.close()
    }

    func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer) {}

    func streamDidClose(_ stream: any ByteStream, error: TransportError) { self.finding.resume((stream.report, error)) }
}
