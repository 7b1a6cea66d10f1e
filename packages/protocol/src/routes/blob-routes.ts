import { BYTES, CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import { BlobParams, BlobView } from '../schemas/blob-schemas.ts';

/** Calls for payloads that are too big for any other call. */
export const BLOB_ROUTES = {
  putBlob: {
    method: 'PUT',
    path: '/v1/blobs/{sha256}',
    repeatable: true,
    access: 'upload',
    summary: 'Upload a payload of up to 64 MiB',
    description:
      'The body is the JSON of an input or output; its bytes must have this SHA-256. Submits and ' +
      'reports name it as inputBlob and outputBlob. A blob that no task has named for 24 hours ' +
      'is removed. Uploading it again restarts these 24 hours.',
    params: BlobParams,
    body: BYTES,
    answers: { 200: BlobView },
    errors: [...CHANGE_ERRORS, 'blob_hash_mismatch', 'disk_full'],
  },
  getBlob: {
    method: 'GET',
    path: '/v1/blobs/{sha256}',
    access: 'download',
    summary: 'Download a payload',
    description: 'If the answer ends before its content-length, the file is damaged on the disk.',
    params: BlobParams,
    answers: { 200: BYTES },
    errors: [...READ_ERRORS, 'blob_not_found'],
  },
} as const satisfies Record<string, Route>;
