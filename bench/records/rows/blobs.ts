import { createHash, randomBytes } from 'node:crypto';
import { ServerProcess } from '../../path/server-process.ts';
import type { Figure, Row } from '../../row.ts';

const MIB = 1024 * 1024;
const BLOBS = 32;
const BLOB_MIB = 64;
/** As many as the SDK transfers at once. */
const AT_ONCE = 4;

/** Large payloads over HTTP. The client has the payloads and their hashes ready. */
export const row: Row = {
  measure: async ({ share }) => {
    const server = await ServerProcess.start();
    try {
      // The content does not matter. All blobs differ, so that each is written.
      const blobs = Array.from({ length: Math.max(1, BLOBS * share) }, newBlob);
      const up = await measured(server, 'up', blobs, async ({ path, content }) => {
        const answer = await fetch(server.url + path, { method: 'PUT', body: content });
        if (!answer.ok) throw new Error(`an upload was answered with ${answer.status}`);
        await answer.arrayBuffer();
      });
      const down = await measured(server, 'down', blobs, async ({ path, content }) => {
        const answer = await fetch(server.url + path);
        const { byteLength } = await answer.arrayBuffer();
        if (byteLength !== content.length) throw new Error(`${byteLength} bytes came back`);
      });
      return [...up, ...down];
    } finally {
      await server.stop();
    }
  },
};

interface Blob {
  readonly path: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

function newBlob(): Blob {
  const content = new Uint8Array(BLOB_MIB * MIB);
  content.set(randomBytes(MIB));
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { path: `/v1/blobs/${sha256}`, content };
}

async function measured(
  server: ServerProcess,
  way: string,
  blobs: readonly Blob[],
  carry: (blob: Blob) => Promise<void>,
): Promise<Figure[]> {
  const cpuBefore = await server.cpuMs();
  const startedAt = performance.now();
  const waiting = [...blobs];
  const carryAll = async (): Promise<void> => {
    for (let blob = waiting.pop(); blob !== undefined; blob = waiting.pop()) await carry(blob);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, carryAll));
  const seconds = (performance.now() - startedAt) / 1000;
  const megabytes = (blobs.length * BLOB_MIB * MIB) / 1e6;
  const cpuMs = (await server.cpuMs()) - cpuBefore;
  return [
    { what: `blobs ${way}, ${AT_ONCE} at once`, unit: 'MB/s', value: megabytes / seconds },
    { what: `CPU of the server, blobs ${way}`, unit: 'ms/MB', value: cpuMs / megabytes },
  ];
}
