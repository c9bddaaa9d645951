//! What guests are not given.

use virtual_wasi::NotGranted;

use crate::Guest;

/// Files as toolchains import them: a resource of their own, and a granted one under another name.
const FILES: &str = r#"
    (import "wasi:io/streams@0.2.6" (instance $streams
        (export "input-stream" (type (sub resource)))))
    (alias export $streams "input-stream" (type $input))
    (import "wasi:filesystem/types@0.2.6" (instance $types
        (export "stream" (type $s (eq $input)))
        (export "descriptor" (type $d (sub resource)))
        (export "[method]descriptor.read-via-stream" (func
            (param "self" (borrow $d)) (param "offset" u64) (result (own $s))))))
    (alias export $types "descriptor" (type $descriptor))
    (import "wasi:filesystem/preopens@0.2.6" (instance $preopens
        (export "descriptor" (type $d (eq $descriptor)))
        (export "get-directories" (func (result (list (tuple (own $d) string)))))))"#;

#[tokio::test]
async fn there_are_no_folders() {
    let guest = Guest {
        imports: FILES,
        lowered: &[("folders", r#"$preopens "get-directories""#, "(param i32)")],
        run: "(i32.store (i32.const 20) (i32.const 9)) (call $folders (i32.const 16))
            (i64.load32_u (i32.const 20))",
    };
    assert_eq!(guest.run().await.unwrap(), 0);
}

#[tokio::test]
async fn a_denied_function_is_named() {
    let guest = Guest {
        imports: r#"
            (import "wasi:sockets/network@0.2.0" (instance $network
                (export "network" (type (sub resource)))))
            (alias export $network "network" (type $n))
            (import "wasi:sockets/instance-network@0.2.0" (instance $sockets
                (export "network" (type $n' (eq $n)))
                (export "instance-network" (func (result (own $n'))))))"#,
        lowered: &[("network", r#"$sockets "instance-network""#, "(result i32)")],
        run: "(i64.extend_i32_u (call $network))",
    };
    let error = guest.failure().await;
    let refusal = error.downcast_ref::<NotGranted>().unwrap();
    assert_eq!(
        refusal.to_string(),
        "not granted: wasi:sockets/instance-network#instance-network"
    );
}

#[tokio::test]
async fn what_a_later_version_adds_to_a_granted_interface_is_denied() {
    let guest = Guest {
        imports: r#"(import "wasi:cli/exit@0.2.99" (instance $cli
            (export "exit-kindly" (func))))"#,
        lowered: &[("exit", r#"$cli "exit-kindly""#, "")],
        run: "(call $exit) (i64.const 0)",
    };
    let error = guest.failure().await;
    let refusal = error.downcast_ref::<NotGranted>().unwrap();
    assert_eq!(
        refusal.to_string(),
        "not granted: wasi:cli/exit#exit-kindly"
    );
}

#[tokio::test]
async fn other_imports_are_no_business_of_ours() {
    for import in ["wasi:cli/exit@0.3.0", "acme:cli/exit@0.2.0"] {
        let imports = format!(r#"(import "{import}" (instance $cli (export "leave" (func))))"#);
        let guest = Guest {
            imports: &imports,
            lowered: &[("leave", r#"$cli "leave""#, "")],
            run: "(call $leave) (i64.const 0)",
        };
        let Err(error) = guest.start().await else {
            panic!("linked {import}");
        };
        assert!(format!("{error:?}").contains(import), "{error:?}");
    }
}
