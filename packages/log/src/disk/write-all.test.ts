import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DiskFile } from './disk.ts';
import { writeAll } from './write-all.ts';

type Writable = Pick<DiskFile, 'write'>;

/** A file in memory that takes at most `chunks[n]` bytes in its n-th write. */
function shortFile(file: Buffer, chunks: number[]): Writable {
  return {
    write(bytes, { offset, length, position }, done) {
      const taken = Math.min(length, chunks.shift() ?? length);
      file.set(bytes.subarray(offset, offset + taken), position);
      setImmediate(done, null, taken);
    },
  };
}

test('short writes are continued where they stopped', async () => {
  const chunks = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      chunks,
      async (bytes, sizes) => {
        const file = Buffer.alloc(60, 0xee);
        const buffer = Buffer.concat([bytes, Buffer.from('not part of it')]);
        const order = { buffer, length: bytes.length, position: 5 };

        await writeAll(shortFile(file, [...sizes]), order);

        const around = [Buffer.alloc(5, 0xee), bytes, Buffer.alloc(55 - bytes.length, 0xee)];
        expect(file).toEqual(Buffer.concat(around));
      },
    ),
  );
});

test('an error ends the order without another write', async () => {
  let writes = 0;
  const file: Writable = {
    write(_bytes, _range, done) {
      writes += 1;
      if (writes === 1) return done(null, 3);
      return done(new Error('ENOSPC'), 0);
    },
  };
  const order = { buffer: Buffer.alloc(10), length: 10, position: 0 };

  await expect(writeAll(file, order)).rejects.toThrow('ENOSPC');

  expect(writes).toBe(2);
});

test('a write that takes nothing is an error and no endless loop', async () => {
  const order = { buffer: Buffer.alloc(10), length: 10, position: 0 };

  const writing = writeAll({ write: (_bytes, _range, done) => done(null, 0) }, order);

  await expect(writing).rejects.toThrow('0 of 10 bytes');
});
