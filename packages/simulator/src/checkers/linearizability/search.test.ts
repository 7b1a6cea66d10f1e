import { expect, test } from 'vitest';
import { linearize, type Specification } from './search.ts';

interface RegisterOperation {
  readonly write?: number;
  readonly read?: number;
}

/** A register with one number. Its state is the set of numbers that it may hold. */
const REGISTER: Specification<readonly number[], RegisterOperation> = {
  initial: [0],
  settle: (values, loose) => [
    ...new Set([...values, ...loose.flatMap(({ write }) => (write === undefined ? [] : [write]))]),
  ],
  apply: (values, { write, read }) => {
    if (write !== undefined) return [write];
    return values.includes(read as number) ? [read as number] : undefined;
  },
  keyOf: (values) => values.toSorted().join(),
};

type Row = readonly [from: number, to: number, what: RegisterOperation];

function judge(rows: readonly Row[], loose: readonly Row[] = []) {
  const answered = rows.map(([invokedAt, answeredAt, what]) => ({ invokedAt, answeredAt, what }));
  const unanswered = loose.map(([invokedAt, , what]) => ({ invokedAt, what }));
  return linearize(REGISTER, answered, unanswered);
}

test('one after the other', () => {
  expect(
    judge([
      [0, 1, { write: 5 }],
      [2, 3, { read: 5 }],
    ]),
  ).toBe('fine');
  expect(
    judge([
      [0, 1, { write: 5 }],
      [2, 3, { read: 0 }],
    ]),
  ).toBe('impossible');
});

test('at the same time either may be first', () => {
  const writes: Row[] = [
    [0, 10, { write: 5 }],
    [0, 10, { write: 6 }],
  ];
  expect(judge([...writes, [11, 12, { read: 5 }]])).toBe('fine');
  expect(judge([...writes, [11, 12, { read: 6 }]])).toBe('fine');
  expect(judge([...writes, [11, 12, { read: 5 }], [13, 14, { read: 6 }]])).toBe('impossible');
});

test('a value that was seen does not vanish again', () => {
  const write: Row = [0, 100, { write: 5 }];
  expect(judge([write, [10, 20, { read: 5 }], [30, 40, { read: 0 }]])).toBe('impossible');
  expect(judge([write, [10, 20, { read: 0 }], [30, 40, { read: 5 }]])).toBe('fine');
});

test('what nobody was answered may happen from its question on, or never', () => {
  const lost: Row[] = [[20, 0, { write: 5 }]];
  expect(
    judge(
      [
        [30, 31, { read: 0 }],
        [40, 41, { read: 5 }],
      ],
      lost,
    ),
  ).toBe('fine');
  expect(
    judge(
      [
        [30, 31, { read: 0 }],
        [40, 41, { read: 0 }],
      ],
      lost,
    ),
  ).toBe('fine');
  expect(judge([[10, 15, { read: 5 }]], lost)).toBe('impossible');
});

test('what was tried without success is not tried again', () => {
  const many = Array.from({ length: 12 }, (_, n): Row => [0, 100, { write: n % 3 }]);
  expect(judge([...many, [200, 201, { read: 9 }]])).toBe('impossible');
});

test('more at once than can be looked at is said so', () => {
  const many = Array.from({ length: 40 }, (_, n): Row => [0, 100, { write: n }]);
  expect(judge([...many, [200, 201, { read: 99 }]])).toBe('too long');
});
