import KiiPushCore
import Testing

@testable import kii_push

/// What `run` is to do: options, and the `run` object of config.json.
@Suite struct RunSettingsTests {
    private static func read(_ text: String) throws -> RunSettings {
        let document = try ConfigurationDocument(
            path: "config.json", bytes: Array(#"{"profiles":{"default":{"run":\#(text)}}}"#.utf8))
        return try RunSettings(#require(document.whole["profiles"]?["default"]?["run"]))
    }

    @Test func everyMemberIsRead() throws {
        let exec = try Self.read(
            #"{"exec":"a 'b c'","shell":true,"execTimeout":"10s","jobs":3,"grace":"1s","arguments":["x"],"#
                + #""exitWhenOffline":"5m","keepAlive":"30s"}"#)
        #expect(exec.exec?.words == ["a", "b c"])
        #expect(exec.shell)
        #expect(exec.execTimeout == .seconds(10))
        #expect(exec.jobs == 3)
        #expect(exec.grace == .seconds(1))
        #expect(exec.arguments == ["x"])
        #expect(exec.exitWhenOffline == .seconds(300))
        #expect(exec.keepAlive == .seconds(30))
        let forward = try Self.read(#"{"forwardTo":"3000/x","forwardTimeout":"2s"}"#)
        #expect(forward.forwardTo?.url == "http://localhost:3000/x")
        #expect(forward.forwardTimeout == .seconds(2))
        let activate = try Self.read(#"{"activate":"./a","concurrency":4,"present":true}"#)
        #expect(activate.activate == "./a")
        #expect(activate.concurrency == 4)
        #expect(activate.present)
        let metrics = try Self.read(#"{"exec":"a","metricsFile":"/a.prom","metricsSocket":"/run/a.sock"}"#)
        #expect(metrics.metricsFile == "/a.prom")
        #expect(metrics.metricsSocket == "/run/a.sock")
        #expect(try Self.read("{}") == RunSettings())
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
        var options = RunSettings()
        options.activate = "./b"
        let settings = options.completed(from: file)
        #expect(settings.exec == nil)
        #expect(settings.execTimeout == nil)
        #expect(settings.jobs == nil)
        #expect(settings.activate == "./b")
        #expect(settings.exitWhenOffline == .seconds(300))
        #expect(settings.problem { $0.option } == nil)
    }

    @Test func anOptionWinsOverTheFile() throws {
        let file = try Self.read(#"{"exec":"a","execTimeout":"1s","jobs":2,"keepAlive":"30s"}"#)
        var options = RunSettings()
        options.jobs = 5
        #expect(options.completed(from: file).keepAlive == .seconds(30))
        options.keepAlive = .seconds(20)
        #expect(options.completed(from: file).keepAlive == .seconds(20))
        options.exitWhenOffline = .seconds(1)
        let settings = options.completed(from: file)
        #expect(settings.exec?.text == "a")
        #expect(settings.execTimeout == .seconds(1))
        #expect(settings.jobs == 5)
        #expect(settings.exitWhenOffline == .seconds(1))
        options.forwardTimeout = .seconds(1)
        #expect(options.completed(from: file).problem { $0.option } == "--forward-timeout needs --forward-to")
    }
}
