import { expect, test } from 'vitest';
import { ReplayEquality } from './replay-equality.ts';
import { ToldPartition } from './testing/told-partition.ts';

const HOLD = { epoch: 1, first: 0, tail: 0 };

function begun() {
  const told = new ToldPartition();
  const equality = new ReplayEquality(told.story.simulation);
  equality.booted(told.partition, HOLD);
  told.listeners.push(equality);
  return { told, equality };
}

test('a state that its log gives back, and that is saved and loaded, passes', () => {
  const { told, equality } = begun();
  told.attach();
  for (let i = 0; i < 5; i++) {
    told.submit();
    told.commit();
    equality.booted(told.partition, HOLD);
  }
  told.submit();

  expect(() => equality.ended()).not.toThrow();
});

test('a state that its log does not give back is noticed', () => {
  const { told, equality } = begun();
  told.submit();
  told.commit();
  const other = new ToldPartition();
  other.submit('{"n":2}');
  other.partition.records = 1;
  expect(() => equality.booted(other.partition, HOLD)).toThrow(/^I31/);
});

test('what landed without anybody hearing so counts', () => {
  const { told, equality } = begun();
  told.submit();
  equality.stopped();
  equality.read({ ...told.batch, firstRecord: 0 });

  expect(() => equality.booted(told.partition, HOLD)).not.toThrow();
});

test('a state that is not what was saved is noticed', () => {
  const { told, equality } = begun();
  told.submit();
  told.commit();
  told.partition.save = () => undefined;
  expect(() => equality.booted(told.partition, HOLD)).toThrow(/^I32/);
});
