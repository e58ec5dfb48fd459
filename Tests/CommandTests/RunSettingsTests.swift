import KiiPushCore
import Testing

@testable import KiiPushCommandLine
@testable import kii_push

@Suite struct RunSettingsTests {
    private static func read(_ text: String) throws -> RunSettings {
        let document = try ConfigurationDocument(
            parsing: Array(#"{"profiles":{"default":{"run":\#(text)}}}"#.utf8), in: "config.json")
        return try RunSettings(#require(document["profiles"]?["default"]?["run"]))
    }

    private static func said(_ words: [String: String]) -> RunSettings {
        let options = RunOptions()
        for bound in options.boundArguments() { if let word = words[bound.property] { _ = bound.box.take(word) } }
        return RunSettings(options)
    }

    @Test func everyMemberIsRead() throws {
        let exec = try Self.read(
            #"{"exec":"a 'b c'","shell":true,"execTimeout":"10s","jobs":3,"grace":"1s","arguments":["x"],"#
                + #""exitWhenOffline":"5m","keepAlive":"30s"}"#
        ).options
        #expect(exec.handler.exec?.words == ["a", "b c"])
        #expect(exec.handler.shell)
        #expect(exec.handler.execTimeout?.duration == .seconds(10))
        #expect(exec.handler.jobs?.value == 3)
        #expect(exec.grace?.duration == .seconds(1))
        #expect(exec.arguments == ["x"])
        #expect(exec.exitWhenOffline?.duration == .seconds(300))
        #expect(exec.keepAlive?.duration == .seconds(30))
        let forward = try Self.read(#"{"forwardTo":"3000/x","forwardTimeout":"2s"}"#).options
        #expect(forward.handler.forwardTo?.url == "http://localhost:3000/x")
        #expect(forward.handler.forwardTimeout?.duration == .seconds(2))
        let activate = try Self.read(#"{"activate":"./a","concurrency":4,"present":true}"#).options
        #expect(activate.activate == "./a")
        #expect(activate.concurrency?.value == 4)
        #expect(activate.present)
        let metrics = try Self.read(#"{"exec":"a","metricsFile":"/a.prom","metricsSocket":"/run/a.sock"}"#).options
        #expect(metrics.metrics.metricsFile == "/a.prom")
        #expect(metrics.metrics.metricsSocket == "/run/a.sock")
        #expect(try Self.read("{}") == Self.said([:]))
        #expect(try Self.read(#"{"exec":"a","shell":false}"#) == Self.said(["exec": "a"]))
    }

    @Test(arguments: [
        ("[]", "/profiles/default/run must be an object"),
        (#"{"exce":"a"}"#, "/profiles/default/run/exce is unknown; did you mean 'exec'?"),
        (#"{"exec":1}"#, "/profiles/default/run/exec must be a command"),
        (#"{"exec":"a 'b"}"#, "/profiles/default/run/exec has a quote that is not closed"),
        (#"{"jobs":0}"#, "/profiles/default/run/jobs must be a whole number from 1 to 10,000"),
        (
            #"{"exec":"a","jobs":20000}"#,
            "/profiles/default/run/jobs must be a whole number from 1 to 10,000"
        ),
        (
            #"{"activate":"a","concurrency":10001}"#,
            "/profiles/default/run/concurrency must be a whole number from 1 to 10,000"
        ),
        (#"{"exec":"a","present":true}"#, "/profiles/default/run/present needs /profiles/default/run/activate"),
        (#"{"activate":"a","present":1}"#, "/profiles/default/run/present must be true or false"),
        (#"{"exec":"a","shell":"yes"}"#, "/profiles/default/run/shell must be true or false"),
        (
            #"{"exec":"a","execTimeout":10}"#,
            "/profiles/default/run/execTimeout must be a text: a time span"
        ),
        (#"{"exec":"a","keepAlive":"19h"}"#, "/profiles/default/run/keepAlive is 18h at most"),
        (#"{"exec":"a","execTimeout":"31s"}"#, "/profiles/default/run/execTimeout is 30s at most"),
        (#"{"exec":"a","arguments":["x",1]}"#, "/profiles/default/run/arguments must be a list of texts"),
        (#"{"forwardTo":"ftp://a"}"#, "/profiles/default/run/forwardTo must be an http or https URL"),
        (
            #"{"exec":"a","forwardTo":"3000"}"#,
            "/profiles/default/run/exec and /profiles/default/run/forwardTo exclude each other"
        ),
        (
            #"{"forwardTo":"3000","shell":true}"#,
            "/profiles/default/run/shell needs /profiles/default/run/exec"
        ),
    ])
    func whatIsWrongIsNamed(text: String, message: String) throws {
        let error = try #require(#expect(throws: CommandFailure.self) { try Self.read(text) })
        #expect(error.exit == .configuration)
        #expect(error.message.hasPrefix("config.json:1:"), "\(error.message)")
        #expect(error.message.contains(": \(message)"), "\(error.message)")
    }

    @Test func aHandlerThatOptionsNameTakesThePlaceOfTheFiles() throws {
        let file = try Self.read(#"{"exec":"a","execTimeout":"1s","jobs":2,"exitWhenOffline":"5m"}"#)
        let settings = Self.said(["activate": "./b"]).completed(from: file)
        #expect(settings == Self.said(["activate": "./b", "exitWhenOffline": "5m"]))
        #expect(settings.problem { RunSettings.option($0) } == nil)
    }

    @Test func anOptionWinsOverTheFile() throws {
        let file = try Self.read(#"{"exec":"a","execTimeout":"1s","jobs":2,"keepAlive":"30s"}"#)
        let jobs = Self.said(["jobs": "5"]).completed(from: file)
        #expect(jobs == Self.said(["exec": "a", "execTimeout": "1s", "jobs": "5", "keepAlive": "30s"]))
        let settings = Self.said(["keepAlive": "20s", "exitWhenOffline": "1s"]).completed(from: file).options
        #expect(settings.handler.exec?.text == "a")
        #expect(settings.keepAlive?.duration == .seconds(20))
        #expect(settings.exitWhenOffline?.duration == .seconds(1))
        let wrong = Self.said(["forwardTimeout": "1s"]).completed(from: file)
        #expect(wrong.problem { RunSettings.option($0) } == "--forward-timeout needs --forward-to")
    }
}
