import KiiPushCore
import KiiPushEmulator
import TestSupport
import TestTraits
import Testing

@Suite(.ownThreads) struct EventStreamTests {
    private func isMissing(_ name: String) -> (EventReader.Event) -> Bool {
        { $0.data["target"]?.string?.hasSuffix("/topics/\(name)") ?? false }
    }

    @Test func aReaderIsGreetedAndToldWhatHappens() async throws {
        try await withEmulator { client in
            let reader = try EventReader(port: client.port)
            #expect(reader.answer.status == 200)
            #expect(reader.answer.field("Content-Type") == "text/event-stream")
            #expect(reader.answer.field("Cache-Control") == "no-store")
            let hello = try #require(try reader.next())
            #expect(hello.kind == "hello" && hello.id == nil)
            #expect(hello.data["app"]?.string == client.emulator.appID)
            #expect(hello.data["root"]?.string == "/api/apps/\(client.emulator.appID)")
            #expect(hello.data["httpsBaseURL"]?.string == client.emulator.httpsBaseURL)
            let admin = try await client.adminToken()
            let receiver = try await client.receiver()
            let sent = try await client.push(1, to: receiver, admin: admin)
            let events = try reader.events { $0.data["sent"] != nil }
            #expect(events.compactMap(\.id) == Array(1...Int64(events.count)))
            let push = try #require(events.last)
            #expect(push.kind == "request" && push.data["event"] == "request")
            #expect(push.data["sequence"]?.int64 == push.id)
            #expect(push.data["sent"]?[0]?["id"] == sent.json["pushMessageID"])
            #expect(push.data["body"]?["data"] == ["n": 1] && push.data["answer"] == sent.json)
            #expect(!events.contains { $0.data.text.contains(admin) })
        }
    }

    @Test func whoComesBackMissesNothingAndGetsNothingTwice() async throws {
        try await withEmulator { client in
            let readers = try (1...3).map { _ in try EventReader(port: client.port) }
            let token = try await client.adminToken()
            for name in ["a", "b", "c"] { _ = try await client.call("GET", "topics/\(name)", token: token) }
            let told = try readers.map { try $0.events(until: self.isMissing("c")).map(\.id) }
            #expect(Set(told).count == 1)
            let last = try #require(told[0].last ?? nil)
            for (query, fields) in [
                ("?after=\(last - 1)", []), ("", ["Last-Event-ID: \(last - 1)"]),
                // A browser repeats its first query at each reconnection; `Last-Event-ID` has priority.
                ("?after=0", ["Last-Event-ID: \(last - 1)"]),
            ] as [(String, [String])] {
                let again = try EventReader(port: client.port, query: query, fields: fields)
                let events = try again.events(until: self.isMissing("c"))
                #expect(events.map(\.id) == [nil, last], "\(query) \(fields)")
            }
            // With an unknown number or without a number, a reader gets all kept events.
            for query in ["", "?after=\(last + 1000)", "?after=x", "?after=-1", "?after=\(Int64.min)"] {
                let anew = try EventReader(port: client.port, query: query)
                let ids = try anew.events(until: self.isMissing("c")).compactMap(\.id)
                #expect(ids == Array(1...last), "\(query)")
            }
        }
    }

    @Test func whatIsNotKeptAnyMoreIsAGap() async throws {
        try await withEmulator { client in
            let first = try EventReader(port: client.port)
            let token = try await client.adminToken()
            let from = try #require(try first.events { $0.kind == "request" }.last?.id)
            // The 300 requests exceed the log's 16 MiB; the log keeps 64 KiB of each body.
            let body: JSONValue = ["data": JSONValue(String(repeating: "x", count: 64 << 10))]
            for _ in 1...300 { _ = try await client.call("POST", "topics/a/x", token: token, body) }
            _ = try await client.call("GET", "topics/last", token: token)
            let reader = try EventReader(port: client.port, query: "?after=\(from)")
            let events = try reader.events(until: self.isMissing("last"))
            let gap = try #require(events.dropFirst().first)
            #expect(gap.kind == "gap" && gap.id == nil)
            let missed = try #require(gap.data["missed"]?.int64)
            #expect(missed > 0)
            #expect(events.dropFirst(2).first?.id == from + missed + 1)
            // A reader without a number begins with the oldest entry. The gap says how many entries came before.
            let anew = try EventReader(port: client.port).events(until: self.isMissing("last"))
            #expect(anew[1].kind == "gap" && anew[1].data["missed"]?.int64 == from + missed)
            #expect(anew[2].id == from + missed + 1)
        }
    }

    @Test func oneReaderTooManyIsRefusedUntilOneLeaves() async throws {
        try await withEmulator { client in
            var readers = try (1...100).map { _ in try EventReader(port: client.port) }
            #expect(readers.allSatisfy { $0.answer.status == 200 })
            let refused = try EventReader(port: client.port).answer
            #expect(refused.status == 503)
            #expect(refused.json["errorCode"] == "TOO_MANY_READERS")
            readers.removeFirst()
            // The emulator notices that a reader has left only when it sends an event to the reader.
            while try EventReader(port: client.port).answer.status == 503 {
                _ = try await client.call("GET", "topics/a")
            }
            withExtendedLifetime(readers) {}
        }
    }

    @Test func readersDoNotHoldUpTheEnd() async throws {
        try await withEmulator { client in
            let reader = try EventReader(port: client.port)
            // `stuck` never reads.
            let stuck = try EventReader(port: client.port)
            _ = try reader.next()
            await client.emulator.stop()
            while try reader.next() != nil {}
            #expect(try reader.next() == nil)
            withExtendedLifetime(stuck) {}
        }
    }

    @Test func aReaderOfHTTP10IsToldUntilTheEnd() async throws {
        try await withEmulator { client in
            let connection = try RawConnection(port: client.port)
            try connection.send(Array("GET /__kii/events HTTP/1.0\r\n\r\n".utf8))
            #expect(try connection.receive().status == 200)
            let text = String(decoding: try connection.receiveBytes(), as: UTF8.self)
            #expect(text.hasPrefix("event: hello\ndata: {"))
            await client.emulator.stop()
            #expect(try connection.isClosedByPeer())
        }
    }

    @Test func aReaderByHTTPSIsToldTheSame() async throws {
        try await withEmulator { client in
            let base = try #require(client.emulator.httpsBaseURL)
            let words = ["--silent", "--no-buffer", "--cacert", client.emulator.certificateAuthorityFile]
            async let told = run("curl", words + [base.dropLast("api".count) + "__kii/events"])
            // The log keeps nothing until somebody reads it.
            let log = client.emulator.activity
            async let first = onThread { log.next(after: 0) }
            let asking = Task { while !Task.isCancelled { _ = try await client.call("GET", "topics/a") } }
            #expect(try await first?.isEmpty == false)
            asking.cancel()
            await client.emulator.stop()
            let output = try await told.output
            #expect(output.hasPrefix("event: hello\ndata: {"), "\(output)")
            #expect(output.contains("\n\nid: 1\nevent: request\ndata: {"), "\(output)")
        }
    }

    @Test(arguments: [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)])
    func onlyItsOwnPagesRead(site: String, status: Int) async throws {
        try await withEmulator { client in
            let reader = try EventReader(port: client.port, fields: ["Sec-Fetch-Site: \(site)"])
            #expect(reader.answer.status == status)
            let own = try EventReader(port: client.port, fields: ["Origin: http://127.0.0.1:\(client.port)"])
            #expect(own.answer.status == 200)
            let foreign = try EventReader(port: client.port, fields: ["Origin: http://127.0.0.1:1"])
            #expect(foreign.answer.status == 403)
        }
    }
}
