import { beforeEach, describe, expect, test } from 'vitest';
import { SluiceError } from '../calls/sluice-error.ts';
import { Sluice } from '../node/sluice.ts';
import { defineTask } from '../task/define-task.ts';
import { HttpStub, refused, type StubAnswer, type StubRequest } from '../testing/http-stub.ts';
import { NamedTypes } from './named-types.ts';

/** Looks types up in a list. */
function typesUnderTest(registered: (type: string) => Promise<object | undefined>) {
  const looked: string[] = [];
  const warnings: string[] = [];
  const types = new NamedTypes({
    registered: (type) => {
      looked.push(type);
      return registered(type);
    },
    warn: (message) => warnings.push(message),
  });
  return { looked, warnings, types };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('each type that is not registered is a warning, once', async () => {
  const { looked, warnings, types } = typesUnderTest(async (type) => {
    return type === 'known' ? {} : undefined;
  });

  for (const type of ['known', 'typo', 'typo', 'other', 'known']) {
    types.submitted(type, Promise.resolve());
  }
  await turn();

  expect(looked).toEqual(['known', 'typo', 'other']);
  expect(warnings).toEqual([
    expect.stringContaining(
      "the type 'typo' are submitted by name, but the type is not registered",
    ),
    expect.stringContaining("the type 'other'"),
  ]);
});

test('a type whose submit failed is looked up at the next one', async () => {
  const { looked, types } = typesUnderTest(async () => undefined);

  types.submitted('typo', Promise.reject(new SluiceError('overloaded', 'no')));
  await turn();
  expect(looked).toEqual([]);
  types.submitted('typo', Promise.resolve());
  await turn();

  expect(looked).toEqual(['typo']);
});

test('a refused look-up is no warning, and is not repeated', async () => {
  const { looked, warnings, types } = typesUnderTest(async () => {
    throw new SluiceError('forbidden', 'no', { status: 403 });
  });

  types.submitted('a', Promise.resolve());
  await turn();
  types.submitted('a', Promise.resolve());
  await turn();

  expect([looked, warnings]).toEqual([['a'], []]);
});

test('a program with endless types stops to look them up', async () => {
  const { looked, types } = typesUnderTest(async () => ({}));

  for (let n = 0; n < 1500; n++) types.submitted(`type-${n}`, Promise.resolve());
  await turn();

  expect(looked).toHaveLength(1000);
});

describe('a client', () => {
  const server = new HttpStub();

  beforeEach(async () => {
    if (server.url === '') await server.start();
    server.requests.length = 0;
    server.answer = answer;
  });

  function answer({ path, body }: StubRequest): StubAnswer {
    if (path !== '/v1/tasks') return refused(404, 'task_type_not_found');
    const items = body.map(() => ({ id: 't_1', state: 'queued', deduplicated: false }));
    return { status: 201, body: { items } };
  }

  test('warns about names, not about definitions', async () => {
    const warnings: string[] = [];
    const sluice = new Sluice({ url: server.url, onWarning: (text) => warnings.push(text) });

    await sluice.submit(defineTask<null>({ type: 'defined' }), null);
    await sluice.submit('one/\u001b', null);
    await sluice.submitMany('many', []);
    await sluice.submitMany('many', [1, 2]);
    await expect.poll(() => warnings).toHaveLength(2);
    await sluice.close();

    expect(warnings[0]).toContain("'one/\\u001b'");
    expect(warnings[1]).toContain("'many'");
    const looked = server.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
    expect(looked).toEqual(['/v1/task-types/one%2F%1B', '/v1/task-types/many']);
  });

  test('writes to the console by default, and bears a hook that throws', async () => {
    const written: string[] = [];
    const original = console.error;
    console.error = (line: string) => written.push(line);
    try {
      const sluice = new Sluice({ url: server.url });
      await sluice.submit('typo', null);
      await expect.poll(() => written).toHaveLength(1);
      const other = new Sluice({
        url: server.url,
        onWarning: () => {
          throw new Error('boom');
        },
      });
      await other.submit('typo', null);
      await expect.poll(() => written).toHaveLength(2);
      await Promise.all([sluice.close(), other.close()]);
    } finally {
      console.error = original;
    }

    expect(written[0]).toMatch(/^sluice: tasks of the type 'typo' are submitted by name/);
    expect(written[1]).toMatch(/^sluice: onWarning failed: Error: boom/);
  });
});
