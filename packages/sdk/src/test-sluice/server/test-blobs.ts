import type { BlobPort } from '../../calls/remote-blobs.ts';
import { SluiceError } from '../../calls/sluice-error.ts';
import { hashOf } from './payloads.ts';

const HEX_PER_WORD = 8;

/**
 * Payloads that are too big for a request, in this process. Their names look like hashes, and equal
 * content has the same name.
 */
export class TestBlobs implements BlobPort {
  private readonly texts = new Map<string, string>();

  async put(text: string): Promise<string> {
    return this.keep(text);
  }

  async get(name: string): Promise<string> {
    return this.read(name);
  }

  keep(text: string): string {
    const words = [...hashOf(text), ...hashOf(`${text.length}`)];
    const name = words.map((word) => word.toString(16).padStart(HEX_PER_WORD, '0')).join('');
    this.texts.set(name, text);
    return name;
  }

  read(name: string): string {
    const text = this.texts.get(name);
    if (text !== undefined) return text;
    throw new SluiceError('blob_not_found', `no blob '${name}'`, { status: 404 });
  }
}
