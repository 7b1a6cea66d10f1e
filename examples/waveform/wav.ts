import { type FileHandle, open } from 'node:fs/promises';

/** Sound as a WAV file: one channel, 16 bits a sample. */
export const SAMPLE_RATE = 44_100;

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;

export function encodeWav(samples: Int16Array): Buffer {
  const dataBytes = samples.length * SAMPLE_BYTES;
  const file = Buffer.alloc(HEADER_BYTES + dataBytes);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(SAMPLE_RATE * SAMPLE_BYTES, 28);
  file.writeUInt16LE(SAMPLE_BYTES, 32);
  file.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  file.write('data', 36);
  file.writeUInt32LE(dataBytes, 40);
  samples.forEach((sample, place) => {
    file.writeInt16LE(sample, HEADER_BYTES + place * SAMPLE_BYTES);
  });
  return file;
}

/** Reads only the samples from one position up to another. */
export async function readSamples(path: string, from: number, to: number): Promise<Int16Array> {
  const file = await open(path);
  try {
    const bytes = Buffer.alloc((to - from) * SAMPLE_BYTES);
    await fill(file, bytes, HEADER_BYTES + from * SAMPLE_BYTES);
    return Int16Array.from({ length: to - from }, (_, place) => bytes.readInt16LE(place * 2));
  } finally {
    await file.close();
  }
}

/** A read may return less than requested. */
async function fill(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, position + filled);
    if (bytesRead === 0) throw new Error('the WAV file is shorter than it should be');
    filled += bytesRead;
  }
}
