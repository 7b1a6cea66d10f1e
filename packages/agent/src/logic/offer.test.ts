import { expect, test } from 'vitest';
import { diskProblem, isOtherOffer, offerOf } from './offer.ts';

const GIB = 2 ** 30;
const HOST = { cores: 2, memoryBytes: 4 * GIB, diskBytes: 100 * GIB };
const RESERVE = { cpu: 0.5, memoryMb: 96, diskMb: 1024 };

test('an offer is what the host has, less the reserve, and never negative', () => {
  expect(offerOf(HOST, { ...RESERVE, diskMb: 200 * 1024 }, { gpus: 0 })).toEqual({
    cpu: 1.5,
    memoryMb: 4000,
    diskMb: 0,
  });
});

test('what attempts have written is still theirs to use', () => {
  const before = offerOf(HOST, RESERVE, { gpus: 0 });
  const later = { ...HOST, diskBytes: 60 * GIB };

  expect(offerOf(later, RESERVE, { gpus: 0, writtenBytes: 40 * GIB })).toEqual(before);
});

test('a host with GPUs offers them', () => {
  expect(offerOf(HOST, RESERVE, { gpus: 3 })).toMatchObject({ gpu: 3 });
});

test('only a change that matters is told', () => {
  const offer = offerOf(HOST, RESERVE, { gpus: 0 });
  const little = { ...offer, diskMb: offer.diskMb - 100 };
  const much = { ...offer, diskMb: offer.diskMb - 20_000 };

  expect(isOtherOffer(offer, offer)).toBe(false);
  expect(isOtherOffer(offer, little)).toBe(false);
  expect(isOtherOffer(offer, much)).toBe(true);
  expect(isOtherOffer(offer, { ...offer, cpu: 1 })).toBe(true);
  expect(isOtherOffer({ ...offer, diskMb: 100 }, { ...offer, diskMb: 0 })).toBe(true);
  expect(isOtherOffer({ ...offer, diskMb: 0 }, { ...offer, diskMb: 0 })).toBe(false);
});

test('a disk that is full says so', () => {
  expect(diskProblem(HOST, RESERVE)).toBeUndefined();
  expect(diskProblem({ ...HOST, diskBytes: 100 * 2 ** 20 }, RESERVE)).toContain('100 MiB');
});
