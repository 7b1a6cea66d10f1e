import { expect, test } from 'vitest';
import { WorkerUnderTest } from '../testing/worker-under-test.ts';
import { AttemptLog } from './attempt-log.ts';
import { finalReport } from './final-reports.ts';
import { ReportOutbox } from './report-outbox.ts';

function reportsOf(log: AttemptLog): { seq: number; lines: string[] }[] {
  return log.take().map((text) => JSON.parse(text));
}

test('what gathered is one report with the next number (attempt-log.numbered-reports)', () => {
  const log = new AttemptLog('l_1');
  log.add('one');
  log.add('two');

  const [first] = log.take();
  log.answered(first);
  log.add('three');

  expect(JSON.parse(first)).toEqual({ lease: 'l_1', kind: 'log', seq: 1, lines: ['one', 'two'] });
  expect(reportsOf(log)).toMatchObject([{ seq: 2, lines: ['three'] }]);
});

test('a report without an answer is said again in the same words, before newer lines', () => {
  const log = new AttemptLog('l_1');
  log.add('one');
  const [first] = log.take();

  log.add('two');

  expect(log.take()[0]).toBe(first);
  expect(reportsOf(log)).toMatchObject([
    { seq: 1, lines: ['one'] },
    { seq: 2, lines: ['two'] },
  ]);
});

test('the newest lines are kept, and dropped ones are counted (attempt-log.bounded-memory)', () => {
  const log = new AttemptLog('l_1');
  for (let n = 0; n < 40; n++) log.add(`${n} ${'x'.repeat(8000)}`);

  const [{ lines }] = reportsOf(log);

  const kept = lines.slice(1).map((line) => Number.parseInt(line, 10));
  expect(kept.at(-1)).toBe(39);
  expect(lines[0]).toBe(`… ${40 - kept.length} lines were not sent: too many`);
  expect(kept.length).toBeLessThan(20);
});

test('a burst becomes several reports, and no line is lost (attempt-log.bounded-report)', () => {
  const log = new AttemptLog('l_1');
  const written = Array.from({ length: 2500 }, (_, n) => `line ${n}`);
  for (const line of written) log.add(line);

  const reports = reportsOf(log);

  expect(reports.map(({ seq, lines }) => [seq, lines.length])).toEqual([
    [1, 1000],
    [2, 1000],
    [3, 500],
  ]);
  expect(reports.flatMap(({ lines }) => lines)).toEqual(written);
});

test('all lines of a burst, even empty, are sent or counted (attempt-log.bounded-memory)', () => {
  const outbox = new ReportOutbox();
  const received: string[] = [];
  const requestOf = () => {
    const batch = outbox.take();
    for (const { text, kind } of batch) {
      const { lines } = JSON.parse(text) as { lines: string[] };
      if (kind !== 'log') continue;
      expect(lines.length).toBeLessThanOrEqual(1000);
      received.push(...lines);
    }
    return batch;
  };
  let inFlight = outbox.take();
  for (let n = 0; n < 90_000; n++) {
    outbox.log('l_1', n % 3 === 0 ? '' : `line ${n}`);
    if (n % 20_000 !== 0) continue;
    outbox.answered(inFlight);
    inFlight = requestOf();
  }
  outbox.finish(finalReport('l_1', { kind: 'succeeded' }, 0));
  outbox.answered(inFlight);
  outbox.answered(requestOf());

  const gaps = received.flatMap((line) => /^… (\d+) lines were not sent/.exec(line)?.[1] ?? []);
  const dropped = gaps.reduce((sum, count) => sum + Number(count), 0);
  expect(gaps.length).toBeGreaterThan(1);
  expect(received.length - gaps.length + dropped).toBe(90_000);
  expect(received.at(-1)).toBe('line 89999');
  expect(outbox.isEmpty).toBe(true);
});

test('while the server is away, what waits stays bounded and the newest lines are kept', () => {
  const outbox = new ReportOutbox();
  let bytes = 0;
  for (let n = 0; n < 100; n++) {
    for (let k = 0; k < 50; k++) outbox.log('l_1', `${n} ${'x'.repeat(1000)}`);
    const batch = outbox.take();
    bytes = batch.reduce((sum, { text }) => sum + text.length, 0);
    outbox.unanswered(batch);
  }
  expect(bytes).toBeLessThan(400 * 1024);

  outbox.finish(finalReport('l_1', { kind: 'succeeded' }, 0));
  const last = outbox.take();

  expect(last.at(-1)?.kind).toBe('succeeded');
  expect(JSON.parse(last.at(-2)?.text ?? '').lines.at(-1)).toMatch(/^99 x/);
});

test('lines go before the end of their attempt, in the same request (reports.final-last)', () => {
  const outbox = new ReportOutbox();
  outbox.started('l_1');
  outbox.log('l_1', 'one');
  const batch = outbox.take();
  outbox.log('l_1', 'two');
  outbox.finish(finalReport('l_1', { kind: 'succeeded' }, 0));
  outbox.answered(batch);

  const last = outbox.take();

  expect(batch.map(({ kind }) => kind)).toEqual(['started', 'log']);
  expect(last.map(({ kind }) => kind)).toEqual(['log', 'succeeded']);
  outbox.answered(last);
  expect(outbox.isEmpty).toBe(true);
});

test('a server that does not know lines still hears the end', () => {
  const worker = WorkerUnderTest.welcomed({}, 'l_1');
  worker.session.log('l_1', 'one');

  worker.request.refuse(400, 'invalid_request', { path: '/reports/0/kind' });
  worker.succeed('l_1');

  expect(worker.request.body.reports).toMatchObject([{ lease: 'l_1', kind: 'succeeded' }]);
});

test('a server that takes none of several reports of lines is not asked again', () => {
  const worker = WorkerUnderTest.welcomed({}, 'l_1');
  worker.session.log('l_1', 'one');
  worker.request.fail();
  worker.session.log('l_1', 'two');
  worker.time.advance(200);
  expect(worker.request.body.reports).toMatchObject([{ seq: 1 }, { seq: 2 }]);

  const sent = worker.requests.length;
  const details = [0, 1].map((n) => ({ path: `/reports/${n}/kind`, problem: 'is not known' }));
  worker.request.answer({ error: { code: 'invalid_request', message: 'no', details } }, 400);
  expect(worker.notices).toContainEqual({ type: 'lines_refused' });
  worker.session.progress('l_1', { fraction: 1 });

  expect(worker.requests.slice(sent).map(({ body }) => body.reports)).toMatchObject([
    [{ kind: 'progress' }],
  ]);
});

test('of a lease that is not running nothing is kept', () => {
  const worker = WorkerUnderTest.welcomed({}, 'l_1');

  worker.session.log('l_2', 'one');

  expect(worker.requests).toEqual([]);
});
