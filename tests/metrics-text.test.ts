import { expect, test } from 'vitest';
import { parseMetrics } from './support/metrics-text.ts';

const HEAD = '# HELP a Help.\n# TYPE a counter\n';
const HISTOGRAM = '# HELP h Help.\n# TYPE h histogram\n';

test('what a scraper takes is read', () => {
  const text = `${HEAD}a{x="1",y="a\\"b\\\\\\n"} 1.5e-7\na 2\n`;

  const family = parseMetrics(text).get('a');

  expect(family).toMatchObject({ type: 'counter', help: 'Help.' });
  expect(family?.samples.map(({ value }) => value)).toEqual([1.5e-7, 2]);
  expect(family?.samples[0].labels.get('y')).toBe('a\\"b\\\\\\n');
});

test.each([
  ['no end of line', `${HEAD}a 1`],
  ['a sample without a family', 'a 1\n'],
  ['a type without help', '# TYPE a counter\na 1\n'],
  ['an unknown type', '# HELP a Help.\n# TYPE a clock\na 1\n'],
  ['no type', '# HELP a Help.\na 1\n'],
  ['a family twice', `${HEAD}a 1\n${HEAD}a 1\n`],
  ['a sample of another family', `${HEAD}b 1\n`],
  ['a sample twice', `${HEAD}a 1\na 2\n`],
  ['no number', `${HEAD}a one\n`],
  ['undefined', `${HEAD}a undefined\n`],
  ['open quotes', `${HEAD}a{x="1} 1\n`],
  ['a label twice', `${HEAD}a{x="1",x="2"} 1\n`],
  ['a count below zero', `${HEAD}a -1\n`],
  ['an empty line', `${HEAD}\na 1\n`],
  ['buckets that shrink', `${HISTOGRAM}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_count 1\n`],
  ['buckets out of order', `${HISTOGRAM}h_bucket{le="2"} 0\nh_bucket{le="1"} 0\nh_count 0\n`],
  ['no last bucket', `${HISTOGRAM}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`],
  ['another count', `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`],
])('what a scraper refuses is refused: %s', (_name, text) => {
  expect(() => parseMetrics(text)).toThrow();
});
