import { BlobParams, BYTES, ROUTES, SluiceError } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker } from '../base/validation.ts';
import { routeOptions } from '../http/route-options.ts';
import { announcedLength, refuseEncoding } from '../http/whole-body.ts';
import type { Admission } from '../limits/admission.ts';
import type { BlobStore } from './blob-store.ts';

export function blobRoutes(app: FastifyInstance, blobs: BlobStore, admission: Admission): void {
  const params = new Checker(BlobParams);

  app.route<{ Params: BlobParams }>({
    ...routeOptions(ROUTES.putBlob),
    handler: async (request) => {
      const { raw } = request;
      try {
        const { sha256 } = params.parse(request.params, 'the path is not valid');
        refuseEncoding(raw);
        admission.upload();
        // A request that is given up early must still be answered: its connection stays.
        const body = raw.iterator({ destroyOnReturn: false });
        const key = { namespace: request.caller.namespace, sha256 };
        return { sha256, bytes: await blobs.put(key, body, announcedLength(raw)) };
      } finally {
        // What nobody wants is read and dropped: until then some clients listen to nothing.
        raw.resume();
      }
    },
  });

  app.route<{ Params: BlobParams }>({
    ...routeOptions(ROUTES.getBlob),
    handler: async (request, reply) => {
      const { sha256 } = params.parse(request.params, 'the path is not valid');
      const { namespace } = request.caller;
      admission.read();
      const found = await blobs.get({ namespace, sha256 });
      if (found === undefined) throw new SluiceError('blob_not_found', `no blob '${sha256}'`);
      reply.type(BYTES).headers({
        'content-length': found.bytes,
        // Anybody may have written it: no browser should make a page of it.
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      return reply.send(found.body);
    },
  });
}
