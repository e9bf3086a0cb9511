import { isObject, type JsonObject, plainJson } from "../../store/json.ts";
import type { Outcome, Store } from "../../store/store.ts";
import { Device } from "./device.ts";
import type { DeviceStore } from "./device-store.ts";

/** One document per device, by its id, and one for what collapse ids are salted with (state 5.3). */
const DEVICES = "pushdevice";
const META = "pushmeta";
const SALT = "collapse";

/**
 * The device registry in the durable store: all daemons of the store share it. A device of a newer build that this one cannot read is left
 * out, and stays as it is.
 *
 * @param store the store of the moment; null while there is none
 */
export function deviceDocuments(store: () => Store | null): DeviceStore {
  const asked = async <T>(operation: (opened: Store) => Promise<Outcome<T>>): Promise<T> => {
    const opened = store();
    if (opened === null) throw new Error("the durable store is not running");
    const outcome = await operation(opened);
    if (outcome.kind === "done") return outcome.value;
    throw new Error(outcome.kind === "failed" ? outcome.failure.message : outcome.because);
  };

  return {
    async read() {
      const [bodies, meta] = await Promise.all([
        asked(({ documents }) => documents.list(DEVICES)),
        asked(({ documents }) => documents.read(META, SALT)),
      ]);
      const devices = bodies.flatMap((body) => {
        const device = Device.safeParse(plainJson(body));
        return device.success ? [device.data] : [];
      });
      return { devices, salt: saltOf(meta.body) };
    },
    async put(device) {
      await asked(({ documents }) =>
        documents.mutate(DEVICES, device.id, (body) => ({
          kind: "put",
          body: { ...(body ?? {}), ...device },
          answer: null,
        })),
      );
    },
    remove: (id) =>
      asked(({ documents }) =>
        documents.mutate<boolean>(DEVICES, id, (body) =>
          body === null ? { kind: "keep", answer: false } : { kind: "delete", answer: true },
        ),
      ),
    createSalt: (candidate) =>
      asked(({ documents }) =>
        documents.mutate<string>(META, SALT, (body) => {
          const known = saltOf(body);
          if (known !== null) return { kind: "keep", answer: known };
          return { kind: "put", body: { ...(body ?? {}), salt: candidate }, answer: candidate };
        }),
      ),
  };
}

function saltOf(body: JsonObject | null): string | null {
  return body !== null && isObject(body) && typeof body.salt === "string" && body.salt !== "" ? body.salt : null;
}
