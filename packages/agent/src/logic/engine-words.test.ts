import fc from 'fast-check';
import { expect, test } from 'vitest';
import { engineFailure } from './engine-failure.ts';
import { imagesToRemove } from './image-collection.ts';
import { LogFrames } from './log-frames.ts';
import { PullProgress } from './pull-progress.ts';
import { imagePlace, registryHeader, registrySecrets } from './registry.ts';

test.each([
  ['pull', 0, 'connect ENOENT', 'engine_unavailable', true],
  ['pull', 500, 'manifest for a:2 not found: manifest unknown', 'image_not_found', false],
  [
    'pull',
    404,
    'pull access denied for a, repository does not exist',
    'registry_auth_failed',
    false,
  ],
  ['pull', 500, 'dial tcp: lookup registry: no such host', 'image_pull_failed', true],
  ['create', 500, 'write /x: no space left on device', 'engine_disk_full', true],
  ['create', 404, 'No such image: a:1', 'image_not_found', false],
  ['create', 404, 'network cats not found', 'container_not_run', false],
  ['create', 400, 'invalid mount config', 'container_not_run', false],
  ['create', 500, 'something broke', 'container_not_run', true],
  ['start', 400, 'exec: "x": executable file not found in $PATH', 'command_not_found', false],
  ['start', 400, 'exec /x: permission denied', 'command_not_run', false],
] as const)('at %s an answer %i "%s" is %s', (stage, status, message, code, isRetryable) => {
  expect(engineFailure(stage, { status, message })).toMatchObject({ code, isRetryable });
});

test('a log is cut into its two streams, however the bytes arrive', () => {
  const piece = fc.record({ isError: fc.boolean(), text: fc.uint8Array({ maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(piece), fc.integer({ min: 1, max: 13 }), (pieces, size) => {
      const bytes = Buffer.concat(
        pieces.map(({ isError, text }) => {
          const header = Buffer.alloc(8);
          header[0] = isError ? 2 : 1;
          header.writeUInt32BE(text.length, 4);
          return Buffer.concat([header, text]);
        }),
      );
      const seen: [number[], number[]] = [[], []];
      const frames = new LogFrames((part, isError) => seen[Number(isError)].push(...part));
      for (let at = 0; at < bytes.length; at += size) frames.push(bytes.subarray(at, at + size));

      for (const isError of [false, true]) {
        const sent = pieces.filter((each) => each.isError === isError);
        expect(seen[Number(isError)]).toEqual(sent.flatMap(({ text }) => [...text]));
      }
    }),
  );
});

test('the progress of a pull only grows, and ends at its end', () => {
  const progress = new PullProgress();
  const mib = 2 ** 20;
  progress.add({
    id: 'a',
    status: 'Downloading',
    progressDetail: { current: mib, total: 2 * mib },
  });
  expect(progress.fraction).toBe(0.5);
  progress.add({ id: 'b', status: 'Downloading', progressDetail: { current: 0, total: 8 * mib } });
  expect(progress.fraction).toBe(0.5);
  expect(progress.text).toBe('1 of 10 MiB');
  progress.add({ id: 'a', status: 'Download complete' });
  progress.add({ id: 'b', status: 'Pull complete' });

  expect(progress.fraction).toBe(1);
});

test.each([
  ['app', 'app', 'latest'],
  ['app:1', 'app', '1'],
  ['host:5000/team/app', 'host:5000/team/app', 'latest'],
  ['host:5000/team/app:1', 'host:5000/team/app', '1'],
  ['app@sha256:abc', 'app', 'sha256:abc'],
])('the image %s has the name %s and the tag %s', (image, name, tag) => {
  expect(imagePlace(image)).toEqual({ name, tag });
});

test('credentials become a header that engines can read', () => {
  const auth = { username: 'ada', password: '??>>', registry: 'r' };

  const header = registryHeader(auth);

  expect(header).toMatch(/^[A-Za-z0-9_-]+=*$/);
  expect(header.length % 4).toBe(0);
  const words = JSON.parse(Buffer.from(header, 'base64url').toString());
  expect(words).toEqual({ username: 'ada', password: '??>>', serveraddress: 'r' });
  expect(registrySecrets(auth)).toEqual(['??>>']);
  expect(registrySecrets({ identityToken: 'token' })).toEqual(['token']);
});

test('images go by age, or all unused ones when the disk is full; the oldest first', () => {
  const images = [
    { name: 'new', usedAt: 90 },
    { name: 'old', usedAt: 10 },
    { name: 'older', usedAt: 5 },
    { name: 'used', usedAt: 1 },
  ];
  const rules = { now: 100, ageMsMax: 50, inUse: new Set(['used']) };

  expect(imagesToRemove(images, { ...rules, isUnderPressure: false })).toEqual(['older', 'old']);
  expect(imagesToRemove(images, { ...rules, isUnderPressure: true })).toEqual([
    'older',
    'old',
    'new',
  ]);
});
