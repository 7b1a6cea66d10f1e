/** What errors of the SDK say, and where they say that they come from. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SluiceError } from '../calls/sluice-error.ts';
import { Sluice } from '../node/sluice.ts';
import { TestSluice } from '../test-sluice/test-sluice.ts';
import { HttpStub, type StubRequest } from '../testing/http-stub.ts';

const server = new HttpStub();
let sluice: Sluice;

beforeEach(async () => {
  server.requests.length = 0;
  if (server.url === '') await server.start();
  sluice = new Sluice({ url: server.url, giveUpAfterMs: 1 });
});

afterEach(() => sluice.close());

/** Refuses all tasks of a request that have a priority above 8, in the words of the server. */
function refuseHigh({ body }: StubRequest) {
  const details = (body as { priority?: number }[]).flatMap(({ priority = 0 }, place) => {
    return priority > 8 ? [{ path: `/${place}/priority`, problem: 'must be <= 8' }] : [];
  });
  if (details.length === 0) {
    const items = body.map(() => ({ id: 't_1', state: 'queued', deduplicated: false }));
    return { status: 201, body: { items } };
  }
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  const message = `the task is not valid: ${details[0].path} ${details[0].problem}${more}`;
  return { status: 400, body: { error: { code: 'invalid_request', message, details } } };
}

async function errorOf(promise: Promise<unknown>): Promise<SluiceError> {
  return promise.then(
    () => expect.unreachable('it must fail'),
    (cause: unknown) => cause as SluiceError,
  );
}

describe('the text', () => {
  beforeEach(() => {
    server.answer = refuseHigh;
  });

  test('of a single submit has the problem once, and no index', async () => {
    const error = await errorOf(sluice.submit('n', 1, { priority: 9 }));

    expect(error.message).toBe('the task is not valid: /priority must be <= 8');
    expect(error.details).toEqual([{ path: '/priority', problem: 'must be <= 8' }]);
  });

  test('of submits that share a request is about the own one', async () => {
    const submits = [1, 9, 2, 10].map((priority) => sluice.submit('n', 1, { priority }));

    const [, second, , fourth] = await Promise.allSettled(submits);

    expect(server.requests[0].body).toHaveLength(4);
    for (const settled of [second, fourth]) {
      const { reason } = settled as PromiseRejectedResult;
      expect(reason.message).toBe('the task is not valid: /priority must be <= 8');
    }
  });

  test('of many has the index that the caller knows, and the other problems', async () => {
    const priorities = [0, 9, 1, 10];
    const error = await errorOf(
      sluice.submitMany('n', priorities, (_, place) => ({ priority: priorities[place] })),
    );

    expect(error.message).toBe(
      'the task is not valid: /1/priority must be <= 8 (/3/priority must be <= 8)',
    );
  });

  test('of an input that is not JSON says so once', async () => {
    const one = await errorOf(sluice.submit('n', 1n));
    const many = await errorOf(sluice.submitMany('n', [1, 1n]));

    expect(one.message).toMatch(/^the task is not JSON: (?!.*not JSON)/);
    expect(many.message).toMatch(/^\/1 is not JSON: (?!.*not JSON)/);
  });

  test('is the same in TestSluice', async () => {
    const tests = new TestSluice([]);

    const one = await errorOf(tests.submit('n', 1, { priority: 9 }));
    const many = await errorOf(tests.submitMany('n', [1, 2], { priority: 9 }));

    expect(one.message).toBe('the task is not valid: /priority must be <= 8');
    expect(many.message).toBe(
      'the task is not valid: /0/priority must be <= 8 (/1/priority must be <= 8)',
    );
  });
});

describe('the stack', () => {
  const error = { code: 'task_not_found', message: 'no task' };

  /** Calls of a user's program, each in a function with a name. */
  const CALLS: Readonly<Record<string, (client: Sluice) => Promise<unknown>>> = {
    submit: (client) => client.submit('n', 1),
    submitMany: (client) => client.submitMany('n', [1, 2]),
    register: (client) => client.register({ type: 'n' }),
    get: (client) => client.task('t_1').get(),
    wait: (client) => client.task('t_1').wait(),
    result: (client) => client.task('t_1').result(),
    cancel: (client) => client.task('t_1').cancel(),
    update: (client) => client.update('t_1', { priority: 1 }),
    signal: (client) => client.task('t_1').signal('a'),
    complete: (client) => client.task('t_1').complete(1),
    fail: (client) => client.task('t_1').fail('no'),
    work: (client) => client.work([{ type: 'n', run: () => 1 }], { handleSignals: false }),
  };

  test.each(Object.keys(CALLS))('of %s has the caller in it', async (name) => {
    server.answer = () => ({ status: 404, body: { error } });
    const userCode = async (): Promise<void> => {
      await CALLS[name](sluice);
    };

    const { stack = '', message } = await errorOf(userCode());

    expect(stack).toMatch(/^SluiceError: no task\n/);
    expect(stack).toMatch(/at (?:async )?userCode \(.*error-texts\.test\.ts/);
    expect(stack.split(message)).toHaveLength(2);
  });

  test('has the caller in it when many are awaited, or nothing was sent', async () => {
    server.answer = () => ({ status: 404, body: { error } });
    const userCode = async (): Promise<void> => {
      await Promise.all([1, 2, 3].map((n) => sluice.submit('n', n)));
    };
    const badInput = async (): Promise<void> => {
      await sluice.submit('n', 1n);
    };

    expect((await errorOf(userCode())).stack).toMatch(/at (?:async )?userCode \(/);
    expect((await errorOf(badInput())).stack).toMatch(/at (?:async )?badInput \(/);
  });

  test('has the caller in it when no server answers', async () => {
    const lost = new Sluice({ url: 'http://127.0.0.1:1', giveUpAfterMs: 1 });
    const userCode = async (): Promise<void> => {
      await lost.submit('n', 1);
    };

    const { stack, message } = await errorOf(userCode());

    expect(message).toBe(
      'no answer in time from http://127.0.0.1:1 (ECONNREFUSED); is a server there?',
    );
    expect(stack).toMatch(/at (?:async )?userCode \(/);
  });
});
