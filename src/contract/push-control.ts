import type { Fields } from "./control-plane.ts";
import type { PushDevice } from "./wire/push.ts";

/** Paired phones (http 7.9). Present with a `push` section. Every answer may be that the registry's store did not answer. */
export interface PushControl {
  devices(): Promise<{ readonly kind: "devices"; readonly devices: readonly PushDevice[] } | Unavailable>;
  pair(
    request: Fields,
    by: string | null,
  ): Promise<
    | { readonly kind: "paired"; readonly device: PushDevice; readonly created: boolean }
    | { readonly kind: "invalid"; readonly error: string }
    | Unavailable
  >;
  revoke(id: string): Promise<{ readonly kind: "revoked" } | { readonly kind: "unknown device" } | Unavailable>;
  /** Sends a test alert. `error` null: the relay took it; `status` null: the relay did not answer. */
  test(
    id: string,
  ): Promise<
    | { readonly kind: "tested"; readonly status: number | null; readonly error: string | null }
    | { readonly kind: "unknown device" }
    | Unavailable
  >;
}

interface Unavailable {
  readonly kind: "unavailable";
}
