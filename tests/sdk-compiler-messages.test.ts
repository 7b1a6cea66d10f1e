/** What the compiler says to users of the SDK, and where it says it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

const PREAMBLE = `
import { defineTask, defineWorkflow, inputOf, Sluice } from '@sluice/sdk';
import type { TaskDefinition, TaskHandle, Workflow } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';

const sluice = new Sluice();
const tests = new TestSluice([]);
const resize = defineTask({
  type: 'resize',
  run: (input: { url: string; height: number }) => ({ url: input.url, pixels: input.height }),
});
const sweep = defineTask({ type: 'sweep', run: () => 7 });
interface Order { url: string; speed?: 'fast' | 'slow'; list: { url: string }[] }
const options = { version: 1, input: inputOf<Order>(), variables: { total: 0 } };
const maybe = defineTask({ type: 'maybe', run: (input: { speed?: string }) => input.speed });
const counted = defineTask({ type: 'counted', run: (input: number) => input });
const shrink = defineTask({ type: 'shrink', run: (input: { url: string }) => input.url });
export const used = [tests, sweep, options, maybe, counted, shrink];
`;

/** A workflow with this body. */
const workflow = (body: string): string => `defineWorkflow('a', options, (w) => { ${body} });`;

/** `«…»` marks where the mistake is. The text is part of what the compiler says there. */
const MISTAKES: readonly (readonly [what: string, code: string, text: string])[] = [
  [
    'a wrong type in the input',
    "await sluice.submit(resize, { url: 'a', «height»: '720' });",
    "Type 'string' is not assignable to type 'number'",
  ],
  [
    'a typo in the input',
    "await sluice.submit(resize, { url: 'a', «heigth»: 720 });",
    "'heigth' does not exist in type '{ url: string; height: number; }'",
  ],
  [
    'a field that the input lacks',
    "await sluice.submit(resize, «{» url: 'a' });",
    "Property 'height' is missing",
  ],
  [
    'a typo in the options',
    "await sluice.submit(resize, { url: 'a', height: 1 }, { «prioritty»: 7 });",
    "'prioritty' does not exist in type 'SubmitOptions'. Did you mean to write 'priority'?",
  ],
  [
    'a wrong type in the options',
    "await sluice.submit(resize, { url: 'a', height: 1 }, { «delayMs»: '1 s' });",
    "Type 'string' is not assignable to type 'number'",
  ],
  [
    'a wrong value deep in the options',
    "await sluice.submit(resize, { url: 'a', height: 1 }, { retry: { «backoff»: 'never' } });",
    `Type '"never"' is not assignable to type '"exponential" | "fixed" | "linear"`,
  ],
  [
    'a typo in the options of a type by name',
    "await sluice.submit('resize', { any: 1 }, { «tag»: {} });",
    "'tag' does not exist in type 'SubmitOptions'",
  ],
  [
    'a wrong type in one of many inputs',
    "await sluice.submitMany(resize, [{ url: 'a', height: 1 }, { url: 'a', «height»: '2' }]);",
    "Type 'string' is not assignable to type 'number'",
  ],
  [
    'a typo in the options of many',
    "await sluice.submitMany(resize, [{ url: 'a', height: 1 }], { «prioritty»: 7 });",
    "'prioritty' does not exist in type",
  ],
  [
    'a typo in the options of each of many',
    'await sluice.submitMany(resize, [], ({ «heigth» }) => ({ priority: heigth }));',
    "Property 'heigth' does not exist on type '{ url: string; height: number; }'",
  ],
  [
    'the same with TestSluice',
    "await tests.submit(resize, { url: 'a', «heigth»: 720 });",
    "'heigth' does not exist in type '{ url: string; height: number; }'",
  ],
  [
    'the same in a handler',
    "defineTask({ type: 'a', run: (_: null, c) => c.submit(resize, { url: 'a', «heigth»: 1 }) });",
    "'heigth' does not exist in type '{ url: string; height: number; }'",
  ],
  ['no input where there must be one', 'await sluice.submit(«resize»);', 'is not assignable to'],
  [
    'a typo in a definition',
    "defineTask({ type: 'a', «retyr»: { maxAttempts: 1 }, run: () => 1 });",
    "'retyr' does not exist in type",
  ],
  [
    'a typo in a filter',
    "sluice.tasks.list({ type: 'a', «sate»: 'failed' });",
    "'sate' does not exist in type 'TaskQuery'",
  ],
  [
    'a state that does not exist',
    "sluice.tasks.list({ «state»: 'broken' });",
    `Type '"broken"' is not assignable to type`,
  ],
  [
    'a wrong type in the input of a step',
    workflow("w.step('s', resize, { url: 'a', «height»: '720' });"),
    "Type 'string' is not assignable to type",
  ],
  [
    'a reference of a wrong type',
    workflow("w.step('s', resize, { url: 'a', «height»: w.input.url });"),
    "Type 'string' is not assignable to type 'number'",
  ],
  [
    'a text where a number must be',
    workflow("w.step('s', resize, { url: 'a', «height»: `${w.input.url}` });"),
    "Type 'string' is not assignable to type",
  ],
  [
    'a typo in the input of a step',
    workflow("w.step('s', resize, { url: 'a', «heigth»: 720 });"),
    "'heigth' does not exist in type",
  ],
  [
    'a field that the input of a step lacks',
    workflow("w.step('s', resize, «{» url: 'a' });"),
    "Property 'height' is missing",
  ],
  ['no input where a step needs one', workflow("w.step('s', «resize»);"), 'is not assignable to'],
  [
    'a typo in the options of a step',
    workflow("w.step('s', sweep, {}, { «retryCont»: 1 });"),
    "'retryCont' does not exist in type 'StepOptions<",
  ],
  [
    'a typo in a reference to an output',
    workflow("const s = w.step('s', resize, { url: 'a', height: 1 }); s.output.«ulr»;"),
    "Property 'ulr' does not exist on type",
  ],
  [
    'a typo in a reference to the input',
    workflow("w.step('s', 'any', { a: w.input.«ulr» });"),
    "Property 'ulr' does not exist on type",
  ],
  [
    'an output that may be absent',
    workflow("w.step('s', maybe, { «speed»: w.input.speed });"),
    "Type 'null' is not assignable to type",
  ],
  [
    'the output of an optional step',
    workflow(
      "const s = w.step('s', resize, { url: 'a', height: 1 }, { optional: true }); " +
        "w.step('t', resize, { «url»: s.output.url, height: 1 });",
    ),
    "Type 'null' is not assignable to type",
  ],
  [
    'the output of a permissive step',
    workflow(
      "const s = w.step('s', resize, { url: 'a', height: 1 }, { permissive: true }); " +
        "w.step('t', resize, { «url»: s.output.url, height: 1 });",
    ),
    "Type 'null' is not assignable to type",
  ],
  [
    'the output of a case that may not be taken',
    workflow(
      'const s = w.switch(w.input.url, { a: (w) => ' +
        "w.step('s', resize, { url: '', height: 1 }) }); " +
        "w.step('t', resize, { «url»: s.a.output.url, height: 1 });",
    ),
    "Type 'null' is not assignable to type",
  ],
  [
    'a case that the value cannot be',
    workflow('w.switch(w.input.speed, { «fsat»: () => undefined });'),
    "is not assignable to type 'never'",
  ],
  [
    'a variable of a wrong type',
    workflow('w.set({ «total»: w.input.url });'),
    "Type 'string' is not assignable to type 'number'",
  ],
  [
    'a variable that does not exist',
    workflow('w.set({ «totl»: 1 });'),
    "'totl' does not exist in type",
  ],
  [
    'a task whose input is no object',
    workflow("w.step('s', counted, «3»);"),
    "is not assignable to parameter of type 'never'",
  ],
  [
    'a reference as the whole input',
    workflow("w.step('s', maybe, «w».input);"),
    'is not assignable to',
  ],
  [
    'a list of the wrong inputs',
    workflow('w.map(«w».input.list, resize);'),
    "Property 'height' is missing",
  ],
  [
    'a default of a wrong type',
    "defineWorkflow('a', { ...options, inputTemplate: { «speed»: 3 } }, (w) => w.noop());",
    "Type 'number' is not assignable to type",
  ],
];

/** Code without a mistake. */
const CORRECT = `
const typed: Promise<TaskHandle<{ url: string; pixels: number }>> =
  sluice.submit(resize, { url: 'a', height: 1 }, { priority: 7 });
const named: Promise<TaskHandle<number>> = sluice.submit<number>('any', [1, 2], { delayMs: 1 });
const bare: Promise<TaskHandle<unknown>> = sluice.submit('any');
const nothing: Promise<TaskHandle<number>> = sluice.submit(sweep);
const many: Promise<TaskHandle<string>[]> = sluice.submitMany<string>('any', [1], { priority: 1 });
export function wrapped<I, O>(task: TaskDefinition<I, O>, input: I): Promise<TaskHandle<O>> {
  return sluice.submit(task, input, { tags: { wrapped: 'yes' } });
}
const order: Workflow<Order, { url: string; pixels: number | null }> = defineWorkflow(
  'order',
  { ...options, inputTemplate: { speed: 'slow' } },
  (w) => {
    const { a } = w.fork({ a: (w) => w.step('a', resize, { url: w.input.url, height: 1 }) });
    const b = w.switch(
      w.input.speed,
      { slow: (w) => w.step('b', resize, { url: \`a \${a.output.url}\`, height: a.output.pixels }) },
      (w) => w.terminate({ status: 'failed' }),
    );
    w.step('c', maybe, { speed: w.input.speed });
    w.step('d', sweep);
    w.step('e', sweep, {}, { startDelay: 3 });
    w.map(w.input.list, shrink);
    w.map(w.input.list, 'count');
    w.map([{ n: 1 }, 'two'], 'count', { retryCount: 1 });
    w.set({ total: w.lengthOf(w.input.list) });
    return { url: a.output.url, pixels: b.slow.output.pixels };
  },
);
export const all = [order, typed, named, bare, nothing, many];
`;

let folder: string;
/** What the compiler says, by line: the column and the text. */
let said: Map<number, { column: number; text: string }[]>;

/** The first line of each mistake. */
const lineOf = (place: number): number => PREAMBLE.split('\n').length + 1 + place;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-compiler-'));
  const source = join(ROOT, 'packages/sdk/src');
  const config = {
    extends: join(ROOT, 'tsconfig.base.json'),
    compilerOptions: {
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: {
        '@sluice/sdk': [join(source, 'index.ts')],
        '@sluice/sdk/testing': [join(source, 'test-sluice/test-sluice.ts')],
      },
    },
    files: ['program.ts'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const lines = MISTAKES.map(([, code]) => code.replaceAll(/[«»]/g, ''));
  await writeFile(join(folder, 'program.ts'), [PREAMBLE, ...lines, CORRECT].join('\n'));
  said = await compile();
}, 120_000);

afterAll(() => rm(folder, { recursive: true }));

async function compile(): Promise<typeof said> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const run = promisify(execFile)(tsc, ['-p', folder, '--pretty', 'false'], { cwd: folder });
  const { stdout } = await run.catch((cause: { stdout: string }) => cause);
  const found: typeof said = new Map();
  for (const [, line, column, text] of stdout.matchAll(
    /^program\.ts\((\d+),(\d+)\): error (TS.*(?:\n .*)*)/gm,
  )) {
    const at = found.get(Number(line)) ?? [];
    found.set(Number(line), [...at, { column: Number(column), text }]);
  }
  return found;
}

test.each(MISTAKES.map((mistake, place) => [mistake[0], mistake, place] as const))(
  '%s is reported at its place',
  (_, [, code, text], place) => {
    const column = code.indexOf('«') + 1;

    const [first, ...others] = said.get(lineOf(place)) ?? [];

    expect(first?.text).toContain(text);
    expect(first?.column).toBe(column);
    expect(first?.text).not.toMatch(/No overload|not assignable to parameter of type 'string'/);
    expect(others).toEqual([]);
  },
);

test('correct code has no mistake', () => {
  const first = lineOf(MISTAKES.length);

  expect([...said].filter(([line]) => line >= first || line < lineOf(0))).toEqual([]);
});
