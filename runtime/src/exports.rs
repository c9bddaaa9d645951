//! What the embedder generates for a world and the runtime runs: typed exports, and calls of them.

use wasmtime::Store;
use wasmtime::component::InstancePre;

use crate::state::{CallData, State};

/// The exports of one instance, typed: what `wasmtime::component::bindgen!` generates for a world.
/// [`exports!`](crate::exports) implements it.
pub trait Exports<T: CallData>: Send + Sync + Sized + 'static {
    /// A component whose imports are linked and whose exports are found.
    type Pre: Send + Sync + 'static;

    /// What a component must export, for errors.
    const WORLD: &'static str;

    /// Find the exports.
    ///
    /// # Errors
    /// One is missing, or has another type.
    fn find(linked: InstancePre<State<T>>) -> wasmtime::Result<Self::Pre>;

    /// Make an instance.
    fn instantiate(
        pre: &Self::Pre,
        store: &mut Store<State<T>>,
    ) -> impl Future<Output = wasmtime::Result<Self>> + Send;
}

/// Implements [`Exports`] for what `wasmtime::component::bindgen!` generated:
/// `exports!(bindings::Decoder, bindings::DecoderPre, "hostd:plugin/decoding")`. The generated
/// exports must be async.
#[macro_export]
macro_rules! exports {
    ($exports:ty, $($pre:ident)::+, $world:literal) => {
        impl<T: $crate::CallData> $crate::Exports<T> for $exports {
            type Pre = $($pre)::+<$crate::State<T>>;

            const WORLD: &'static str = $world;

            fn find(
                linked: ::wasmtime::component::InstancePre<$crate::State<T>>,
            ) -> ::wasmtime::Result<Self::Pre> {
                $($pre)::+::new(linked)
            }

            fn instantiate(
                pre: &Self::Pre,
                store: &mut ::wasmtime::Store<$crate::State<T>>,
            ) -> impl Future<Output = ::wasmtime::Result<Self>> + Send {
                pre.instantiate_async(store)
            }
        }
    };
}

/// One call of a guest's export.
pub trait Invoke<T: CallData, X>: Send {
    /// What the guest returns.
    type Answer: Send;

    /// Make the call. Best returns the future of the generated function itself: it is kilobytes in
    /// size, and every layer around it may move it. An error ends the instance.
    fn invoke(
        self,
        exports: &X,
        store: &mut Store<State<T>>,
    ) -> impl Future<Output = wasmtime::Result<Self::Answer>> + Send;
}
