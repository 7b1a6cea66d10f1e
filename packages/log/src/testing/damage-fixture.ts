import { open, readFile, writeFile } from 'node:fs/promises';
import {
  decodeSegmentHeader,
  frameBytesFor,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from '../segments/segment-format.ts';
import { appendTexts } from './log-fixture.ts';
import type { TempFolder } from './temp-folder-fixture.ts';

export const TEXTS = ['first', 'second batch', 'the last one'];

/** Where the frame of each text starts, and where the last one ends. */
export const OFFSETS = [SEGMENT_HEADER_BYTES];
for (const text of TEXTS) OFFSETS.push(OFFSETS.at(-1)! + frameBytesFor(text.length));

/** A log of one epoch that was closed properly; the texts as given fit into its first segment. */
export async function writeLog(
  folder: TempFolder,
  texts: readonly string[] = TEXTS,
): Promise<void> {
  const log = await folder.open();
  await appendTexts(log, await log.acquire(), texts);
  await log.close();
}

export function headerOf(segment: Buffer): SegmentHeader {
  const reading = decodeSegmentHeader(segment);
  if (reading.kind !== 'valid') throw new Error(`the header is ${reading.kind}`);
  return reading.header;
}

export async function flipByte(file: string, offset: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[offset] ^= 0x41;
  await writeFile(file, bytes);
}

export async function overwrite(file: string, offset: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, offset);
  await handle.close();
}
