import { expect, test } from 'vitest';
import {
  constraintText,
  holds,
  isLabelName,
  isLabelValue,
  parseConstraint,
} from './constraints.ts';

const EU = new Map([['zone', 'eu']]);
const NONE = new Map<string, string>();

test.each([
  ['zone == eu', true, false],
  ['zone == us', false, false],
  ['zone != eu', false, true],
  ['zone != us', true, true],
  ['zone in (eu, us)', true, false],
  ['zone in (us)', false, false],
  ['zone not in (eu, us)', false, true],
  ['zone not in (us)', true, true],
  ['exists zone', true, false],
  ['exists ssd', false, false],
])('%s holds for a worker in zone eu: %s; without labels: %s', (text, inEu, bare) => {
  expect([meets(text, EU), meets(text, NONE)]).toEqual([inEu, bare]);
});

test.each([
  ['  zone==eu ', 'zone == eu'],
  ['zone   !=   eu', 'zone != eu'],
  ['zone in (us,eu , us)', 'zone in (eu, us)'],
  ['zone in (eu)', 'zone == eu'],
  ['zone not   in(eu)', 'zone != eu'],
  ['exists\tssd', 'exists ssd'],
  ['exists == yes', 'exists == yes'],
  ['in in (a b)', 'in == a b'],
])('%j is the same as %j', (text, canonical) => {
  const constraint = parseConstraint(text);

  expect(typeof constraint === 'string' ? constraint : constraintText(constraint)).toBe(canonical);
});

test.each([
  ['', 'must have one of the forms'],
  ['zone', 'must have one of the forms'],
  ['zone = eu', 'must have one of the forms'],
  ['zone > 3', 'must have one of the forms'],
  ['zone in eu', 'must have one of the forms'],
  ['exists', 'must have one of the forms'],
  ['exists a b', 'must have one of the forms'],
  ['zone ==', 'has an empty value'],
  ['zone in ()', 'has an empty value'],
  ['zone in (a,,b)', 'has an empty value'],
  ['zo ne == eu', 'must have one of the forms'],
  ['zöne == eu', "has the label 'zöne'"],
  ['zone == a==b', "has the value 'a==b'"],
  [`zone == ${'x'.repeat(129)}`, 'has the value'],
  ['zone == a\u0000b', 'has the value'],
  ['zone == \ud800', 'has the value'],
  [`exists ${'x'.repeat(65)}`, 'has the label'],
  ['x'.repeat(2000), 'is longer than 1024'],
])('%j is refused: %s', (text, problem) => {
  expect(parseConstraint(text)).toContain(problem);
});

test('a worker may have only labels that a constraint can name', () => {
  expect(['zone', 'kubernetes.io/arch', 'a-b_c'].map(isLabelName)).toEqual([true, true, true]);
  expect(['', 'a b', 'a=b', 'x'.repeat(65)].some(isLabelName)).toBe(false);
  expect(['eu', 'eu west 1', 'x86_64'].map(isLabelValue)).toEqual([true, true, true]);
  expect(['', ' eu', 'a,b', '(a)', 'a=b', 'a\nb'].some(isLabelValue)).toBe(false);
});

function meets(text: string, labels: ReadonlyMap<string, string>): boolean {
  const constraint = parseConstraint(text);
  if (typeof constraint === 'string') throw new Error(constraint);
  return holds(constraint, labels);
}
