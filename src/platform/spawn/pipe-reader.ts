import { Socket } from "node:net";
import type { ChildOutput } from "./spawner.ts";

/** The kernel's own capacity of a pipe: one read empties it. */
const READ_BYTES = 64 * 1024;

/** All pipes read into this one buffer and hand the bytes on before the next read, so an idle pipe holds none. */
const sharedBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** Reads a pipe's end by the event loop. The descriptor is closed with it. */
export function pipeReader(fd: number): ChildOutput {
  let socket: Socket | null = null;
  return {
    read(onBytes, onEnd) {
      let ended = false;
      const end = (): void => {
        if (ended) return;
        ended = true;
        onEnd();
      };
      // The documents show `onread` with connect only, which hands it to this constructor.
      const options = {
        fd,
        readable: true,
        writable: false,
        onread: {
          buffer: sharedBuffer,
          callback: (length: number): boolean => onBytes(sharedBuffer.subarray(0, length)) === "more",
        },
      };
      socket = new Socket(options);
      socket.on("end", end);
      socket.on("error", end); // a pipe that cannot be read has nothing more to say
      socket.on("close", end);
      socket.resume();
    },
    resume: () => socket?.resume(),
    close: () => socket?.destroy(),
  };
}
