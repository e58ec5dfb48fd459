//! Prints each push to the topic "alerts": its ID, the attempt, and its member "msg".
//! Build it with: rustc --edition 2021 agent.rs
use std::os::raw::c_void;
use std::{env::var, process::exit, ptr, slice, thread::sleep, time::Duration};

#[repr(C)]
struct Error { code: i32, status: i32, temporary: i32, refusal: [u8; 64], text: [u8; 1024] }

#[repr(C)]
struct Message {
    completion: u64, id: i64, received_at: i64, attempt: i32, kind: i32, payload: *const u8, payload_length: usize,
    fields: *const c_void,
}

type Handler = extern "C" fn(*mut c_void, *const Message) -> i32;

#[link(name = "kiipush")]
extern "C" {
    fn kii_push_open(api: u32, json: *const u8, length: usize, runtime: *mut u64, error: *mut Error) -> i32;
    fn kii_push_agent_new(runtime: u64, json: *const u8, length: usize, handler: Handler, context: *mut c_void,
        agent: *mut u64, error: *mut Error) -> i32;
    fn kii_push_run(runtime: u64, error: *mut Error) -> i32;
    fn kii_push_field(message: *const Message, name: *const u8, length: usize, value: *mut *const u8,
        value_length: *mut usize, error: *mut Error) -> i32;
}

/// Runs on a thread of the library. The message is valid until this function returns.
extern "C" fn handle(_: *mut c_void, message: *const Message) -> i32 {
    let (name, mut value, mut length) = ("msg", ptr::null(), 0);
    let text = unsafe {
        match kii_push_field(message, name.as_ptr(), name.len(), &mut value, &mut length, ptr::null_mut()) {
            0 => String::from_utf8_lossy(slice::from_raw_parts(value, length)),
            _ => "".into(),
        }
    };
    unsafe { println!("{} {} {}", (*message).id, (*message).attempt, text) };
    sleep(Duration::from_secs(var("KII_SLEEP").map_or(0, |seconds| seconds.parse().unwrap_or(0))));
    0 // KII_PUSH_NEW_DATA
}

fn main() {
    let need = |name| var(name).unwrap_or_else(|_| { eprintln!("set {name}"); exit(78) });
    let (id, key, url) = (need("KII_APP_ID"), need("KII_APP_KEY"), need("KII_BASE_URL"));
    let agent_json = format!(r#"{{"app": {{"id": {id:?}, "key": {key:?}, "baseURL": {url:?}}},
        "account": {{"type": "pseudoUser"}}, "subscriptions": [{{"topic": "alerts"}}]}}"#);
    let json = var("KII_CA_FILE").map_or("{}".into(), |file| format!(r#"{{"certificateAuthorityFile": {file:?}}}"#));
    let mut error = Error { code: 0, status: 0, temporary: 0, refusal: [0; 64], text: [0; 1024] };
    let (mut runtime, mut agent) = (0, 0);
    let mut code = unsafe { kii_push_open(1000, json.as_ptr(), json.len(), &mut runtime, &mut error) };
    if code == 0 {
        let (json, none) = (&agent_json, ptr::null_mut());
        code = unsafe { kii_push_agent_new(runtime, json.as_ptr(), json.len(), handle, none, &mut agent, &mut error) };
    }
    let refused = if error.temporary == 0 { 78 } else { 75 };
    let status = if code == 0 { unsafe { kii_push_run(runtime, &mut error) } } else { refused };
    if status != 0 { eprintln!("{}", String::from_utf8_lossy(&error.text).trim_end_matches('\0')) }
    exit(status);
}
