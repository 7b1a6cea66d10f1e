import { type Static, Type } from 'typebox';

/** Replaces a payload that is too big for the request. */
export const BlobHash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  allowed: 'the SHA-256 of the blob: 64 hexadecimal digits in lower case',
  description:
    'SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with ' +
    'PUT /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});

export const BlobParams = Type.Object({ sha256: BlobHash });
export type BlobParams = Static<typeof BlobParams>;

export const BlobView = Type.Object({
  sha256: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
});
