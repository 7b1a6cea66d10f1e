/** Mistakes that the compiler cannot see. Each error says what is wrong, where, and what to do. */
import { expect, test } from 'vitest';
import { defineWorkflow } from './define-workflow.ts';
import type { Step } from './reference.ts';
import { inputOf } from './workflow.ts';
import type { WorkflowBuilder } from './workflow-builder.ts';

type Builder = WorkflowBuilder<{ amount: number; url: string }, { total: number }>;

function build(steps: (w: Builder) => object | undefined): () => unknown {
  const options = { version: 1, input: inputOf<{ amount: number; url: string }>() };
  return () => defineWorkflow('order', { ...options, variables: { total: 0 } }, steps);
}

/** A step for what needs one. */
function any(w: Builder, name = 'any'): Step<{ url: string }> {
  return w.step<{ url: string }>(name, 'any', {});
}

const MISTAKES: readonly [what: string, (w: Builder) => object | undefined, error: string][] = [
  [
    'a name that is used twice',
    (w) => {
      any(w, 'charge');
      w.fork({ a: (w) => any(w as Builder, 'x'), b: (w) => any(w as Builder, 'charge') });
      return undefined;
    },
    "workflow 'order': the name 'charge' is used twice: by step 'charge' (step 1 of the " +
      "workflow), and by step 'charge' (step 1 of branch 'b' of 'fork-1'); give each step " +
      'another name',
  ],
  [
    'a reference from one branch to another',
    (w) => {
      let leaked: Step<{ url: string }> | undefined;
      w.fork({
        a: (w) => {
          leaked = any(w as Builder, 'first');
        },
        b: (w) => w.step('second', 'any', { url: `at ${leaked?.output.url}` }),
      });
      return undefined;
    },
    "workflow 'order': the input of step 'second': ${first.output.url} is not known in branch " +
      "'b' of 'fork-1': it belongs to step 'first' (step 1 of branch 'a' of 'fork-1'), which " +
      "may not have run yet, or not at all; return it from branch 'a' of 'fork-1'",
  ],
  [
    'a reference into a case that may not be taken',
    (w) => {
      let leaked: Step<{ url: string }> | undefined;
      w.switch(w.input.url, {
        a: (w) => {
          leaked = any(w as Builder, 'inner');
        },
      });
      return { url: leaked?.output.url };
    },
    "workflow 'order': the output: ${inner.output.url} is not known in the workflow: it belongs " +
      "to step 'inner' (step 1 of case 'a' of 'switch-1')",
  ],
  [
    'a reference of another workflow',
    (w) => {
      let leaked: Step<{ url: string }> | undefined;
      defineWorkflow('other', { version: 1 }, (other) => {
        leaked = other.step<{ url: string }>('charge', 'any', {});
      });
      w.step('b', 'any', { url: leaked?.output.url });
      return undefined;
    },
    "the input of step 'b': it uses a reference of another workflow",
  ],
  [
    'the builder of the workflow inside a branch',
    (w) => {
      w.fork({ a: () => any(w, 'wrong') });
      return undefined;
    },
    "step 'wrong' is added to the workflow inside branch 'a' of 'fork-1'; use the builder that " +
      "branch 'a' of 'fork-1' gets",
  ],
  [
    'a builder that is used later',
    (w) => {
      let kept: Builder | undefined;
      w.fork({
        a: (w) => {
          kept = w as Builder;
          any(kept, 'x');
        },
      });
      any(kept as Builder, 'late');
      return undefined;
    },
    "step 'late' is added to branch 'a' of 'fork-1', which is already complete",
  ],
  ['no step', () => undefined, "workflow 'order': it has no step"],
  [
    'an empty branch',
    (w) => w.fork({ a: () => undefined }),
    "branch 'a' of 'fork-1' has no step; use w.noop()",
  ],
  ['a fork without branches', (w) => w.fork({}), "'fork-1' has no branch"],
  ['a switch without cases', (w) => w.switch(w.input.url, {}), "'switch-1' has no case"],
  [
    'a step after the end',
    (w) => {
      w.terminate({}, { name: 'stop' });
      return any(w, 'late');
    },
    "step 'late' is never reached, because step 'stop' (step 1 of the workflow) ends the run",
  ],
  ['a reserved name', (w) => any(w, 'workflow'), "'workflow' cannot be the name of step"],
  ['a name with a dot', (w) => any(w, 'a.b'), "'a.b' cannot be the name of step 'a.b'"],
  ['a name of loops', (w) => any(w, 'a__2'), 'no __'],
  [
    'a copied reference',
    (w) => w.step('a', 'any', { ...(w.input as object) }),
    '${workflow.input} is not known yet, so its fields cannot be copied',
  ],
  [
    'a whole reference as input',
    (w) => w.step('a', 'any', w.input as never),
    "the input of step 'a' must be an object: { url: w.input.url }",
  ],
  [
    'a step as a value',
    (w) => w.step('b', 'any', { a: any(w, 'a') }),
    "the input of step 'b': the step 'a' is used as a value; use its .output",
  ],
  [
    'a comparison',
    (w) => ({ a: (w.input.amount as unknown as number) > 3 }),
    '${workflow.input.amount} is known only when the run gets there',
  ],
  [
    'a dollar before a reference',
    (w) => w.step('a', 'any', { text: `costs $${w.input.amount}` }),
    'a text has a $ right before ${workflow.input.amount}',
  ],
  [
    'a reference that is encoded',
    (w) => w.step('a', 'any', { url: `?q=${encodeURIComponent(`${w.input.url}`)}` }),
    'a text with a reference was cut or encoded; do that in a handler',
  ],
  [
    'a reference that is cut',
    (w) => w.step('a', 'any', { url: `at ${w.input.url}`.slice(0, -1) }),
    'a text with a reference was cut or encoded',
  ],
  [
    'a workflow that runs itself without a condition',
    (w) => w.subWorkflow('again', 'order', {}),
    "step 'again' runs the workflow 'order' itself, and no w.switch before it can prevent that: " +
      'a run would never end',
  ],
  [
    'a reference as a name',
    (w) => w.step('a', 'any', { [`${w.input.url}`]: 1 }),
    'a reference cannot be the name of a field',
  ],
  ['a function', (w) => w.step('a', 'any', { f: () => 1 }), "'f' is a function"],
  ['what is not JSON', (w) => w.step('a', 'any', { n: 1n }), "the input of step 'a': "],
  [
    'an input with a cycle',
    (w) => {
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      return w.step('a', 'any', cycle);
    },
    "the input of step 'a': Converting circular structure",
  ],
  [
    'an output that is no object',
    (w) => {
      any(w);
      return [w.input.url];
    },
    'the output must be an object',
  ],
  [
    'a step as output that is not the last one',
    (w) => {
      const first = any(w, 'first');
      any(w, 'last');
      return first;
    },
    "it returns the step 'first', which is not the last step",
  ],
  [
    'two ways to say how often',
    (w) => w.step('a', 'any', {}, { retryCount: 1, retry: { maxAttempts: 2 } }),
    "step 'a' has both retryCount and retry",
  ],
  [
    'two times to wait for',
    (w) => w.wait('a', { seconds: 1, until: '2030-01-01' }),
    "'a' has both seconds and until",
  ],
  [
    'a reference in a script',
    (w) => w.inline('a', `${w.input.url} + 1`),
    "the script of 'a' has a reference; pass it as input",
  ],
  ['an empty script', (w) => w.inline('a', ' '), "the script of 'a' is empty"],
  [
    'a reference in a condition',
    (w) => void w.loop({ while: `${w.input.url} > 1`, name: 'a' }, (w) => w.noop()),
    "the script of 'a' has a reference; pass it as input",
  ],
  [
    'a reference in a script that decides',
    (w) => w.switchBy({ script: `${w.input.url}` }, { a: (w) => w.noop() }),
    "the script of 'switch-1' has a reference; pass it as input",
  ],
  [
    'a wait of half a second',
    (w) => w.wait('a', { seconds: 0.5 }),
    "'a' waits for 0.5 seconds; use a whole number from 0 on",
  ],
  [
    'a field that a script needs itself',
    (w) => w.inline('a', '1', { expression: 'x' }),
    "the input of 'a' cannot have the field 'expression'",
  ],
  [
    'a field of a length',
    (w) => ({ a: (w.lengthOf(w.input as never) as unknown as { b: string }).b }),
    'is a number and has no fields',
  ],
  [
    'a length of no reference',
    (w) => ({ a: w.lengthOf([1] as never) }),
    'it must be a reference to a list',
  ],
];

test.each(MISTAKES)('%s', (_, steps, error) => {
  expect(build(steps)).toThrow(error);
});

test('steps cannot be added asynchronously', () => {
  const options = { version: 1 };

  expect(() => defineWorkflow('slow', options, async (w) => void w.noop())).toThrow(
    "workflow 'slow': the workflow is built by an async function; build it without await",
  );
});

test('the name, the version and the timeout are checked', () => {
  const noop = (w: WorkflowBuilder): void => w.noop();

  expect(() => defineWorkflow('two words', { version: 1 }, noop)).toThrow(
    "'two words' is not a valid name of a workflow",
  );
  expect(() => defineWorkflow('a', { version: 0 }, noop)).toThrow(
    "workflow 'a': version must be a whole number from 1 on, and is 0",
  );
  expect(() => defineWorkflow('a', { version: 1, timeoutSeconds: 0.5 }, noop)).toThrow(
    "workflow 'a': timeoutSeconds must be a whole number from 1 on, and is 0.5",
  );
});

test('variables and defaults have no references', () => {
  const later = (w: WorkflowBuilder): void => {
    defineWorkflow('inner', { version: 1, variables: { id: w.runId } }, (inner) => inner.noop());
  };

  expect(() => defineWorkflow('a', { version: 1 }, later)).toThrow(
    "workflow 'inner': variables: it has a reference, which is not known at the start of a run",
  );
});

test('what a branch returns can be used after the fork', () => {
  const { definition } = defineWorkflow('order', { version: 1 }, (w) => {
    let leaked: Step<{ url: string }> | undefined;
    const { a } = w.fork({
      a: (w) => {
        leaked = w.step<{ url: string }>('first', 'any', {});
        return { inner: leaked };
      },
    });
    return { returned: a.inner.output.url, leaked: leaked?.output.url };
  });

  expect(definition.outputParameters).toEqual({
    returned: '${first.output.url}',
    leaked: '${first.output.url}',
  });
});
