import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** How a file may be sent, best first. The build makes the compressed forms. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
};

export interface ConsoleFile {
  readonly type: string;
  readonly etag: string;
  /** The name contains a hash of the content. */
  readonly isImmutable: boolean;
  readonly plain: Buffer;
  readonly compressed: ReadonlyMap<string, Buffer>;
}

/** The files of the console by path, such as `/index.html`; empty if it was not built. */
export async function readConsoleFiles(folder: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = found
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  const files = new Map<string, ConsoleFile>();
  for (const name of names) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const plain = await readFile(path.join(folder, name));
    const compressed = new Map<string, Buffer>();
    for (const { name: encoding, suffix } of ENCODINGS) {
      if (!names.includes(name + suffix)) continue;
      compressed.set(encoding, await readFile(path.join(folder, name + suffix)));
    }
    const place = `/${name.split(path.sep).join('/')}`;
    files.set(place, {
      type,
      etag: etagOf(plain),
      isImmutable: isHashed(place),
      plain,
      compressed,
    });
  }
  return files;
}

/** The best form that the client accepts. */
export function formFor(
  { plain, compressed }: ConsoleFile,
  acceptEncoding: string | undefined,
): { readonly bytes: Buffer; readonly encoding?: string } {
  const accepted = (acceptEncoding ?? '').split(',').map((part) => part.trim().split(';'));
  const takes = (name: string) =>
    accepted.some(([each, quality = '']) => each === name && !/^\s*q=0(?:\.0*)?$/.test(quality));
  for (const { name } of ENCODINGS) {
    const bytes = compressed.get(name);
    if (bytes !== undefined && takes(name)) return { bytes, encoding: name };
  }
  return { bytes: plain };
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

function isHashed(place: string): boolean {
  return place.startsWith('/assets/');
}
