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
        // A request that is refused early must still be answered, so its connection stays open.
        const body = raw.iterator({ destroyOnReturn: false });
        const key = { namespace: request.caller.namespace, sha256 };
        return { sha256, bytes: await blobs.put(key, body, announcedLength(raw)) };
      } finally {
        // The rest of the body is read and dropped: some clients read no answer before they sent it
        // all.
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
        // The content comes from users: no browser should show it as a page.
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      return reply.send(found.body);
    },
  });
}
