/**
 * A registry of images on loopback, with one image under many names: as much of the protocol as an
 * engine needs to pull, with or without a login. Its only tag is 1. It can
 * send as slowly as a test wants.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

interface Account {
  readonly user: string;
  readonly password: string;
}

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const CONFIG = 'application/vnd.docker.container.image.v1+json';
const LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip';

/** Larger parts are sent slowly when it is asked for. */
const SMALL_BYTES = 2 ** 20;
/** Number of pieces of a part that is sent slowly. */
const STEPS = 1000;

export class ImageRegistry {
  private readonly server: Server;
  private readonly blobs = new Map<string, Buffer>();
  private manifest = Buffer.alloc(0);
  private isSlow = false;
  /** Each sends the next piece of a part that is sent slowly. */
  private readonly steps: (() => void)[] = [];
  /** The header of a login; undefined when none is needed. */
  private readonly login: string | undefined;

  private constructor(account: Account | undefined) {
    this.login = account && `Basic ${btoa(`${account.user}:${account.password}`)}`;
    this.server = createServer((request, answer) => this.answer(request, answer));
  }

  static async start(archive: string, account?: Account): Promise<ImageRegistry> {
    const registry = new ImageRegistry(account);
    await registry.publish(archive);
    registry.server.listen(0, '127.0.0.1');
    await once(registry.server, 'listening');
    return registry;
  }

  /** From now on the tag is an image with the files of this archive. */
  async publish(archive: string): Promise<void> {
    const layer = await readFile(archive);
    const packed = gzipSync(layer, { level: 1 });
    const config = Buffer.from(
      JSON.stringify({
        architecture: 'amd64',
        os: 'linux',
        config: { Cmd: ['sh'] },
        rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
      }),
    );
    this.manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { mediaType: CONFIG, size: config.length, digest: digestOf(config) },
        layers: [{ mediaType: LAYER, size: packed.length, digest: digestOf(packed) }],
      }),
    );
    for (const blob of [packed, config]) this.blobs.set(digestOf(blob), blob);
  }

  /** From now on large parts are sent piece by piece: one with each `step`. */
  sendSlowly(): void {
    this.isSlow = true;
  }

  step(): void {
    for (const send of this.steps) send();
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private answer({ url = '', headers }: IncomingMessage, answer: ServerResponse): void {
    if (this.login !== undefined && headers.authorization !== this.login) {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
      return;
    }
    if (url === '/v2/') {
      answer.end('{}');
      return;
    }
    const [, kind, name = ''] = /\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? [];
    const isManifest = kind === 'manifests' && (name === '1' || name === digestOf(this.manifest));
    const content = isManifest ? this.manifest : this.blobs.get(name);
    if (content === undefined) {
      const errors = [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }];
      answer.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ errors }));
      return;
    }
    answer.writeHead(200, {
      'content-type': isManifest ? MANIFEST : 'application/octet-stream',
      'content-length': content.length,
      'docker-content-digest': digestOf(content),
    });
    if (!this.isSlow || content.length <= SMALL_BYTES) {
      answer.end(content);
      return;
    }
    const stepBytes = Math.ceil(content.length / STEPS);
    let at = 0;
    this.steps.push(() => {
      if (at >= content.length) return;
      answer.write(content.subarray(at, at + stepBytes));
      at += stepBytes;
      if (at >= content.length) answer.end();
    });
  }
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
