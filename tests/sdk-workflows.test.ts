/** Whatever the builder builds, the core takes. */
import { compileDefinition } from '@sluice/core';
import { defineWorkflow, inputOf, type Reference, type WorkflowBuilder } from '@sluice/sdk';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const UTF8 = {
  encode: (text: string): Uint8Array => encoder.encode(text),
  decode: (bytes: Uint8Array): string => decoder.decode(bytes),
};

const SINGLE = ['set', 'noop', 'terminate', 'wait', 'human', 'inline'] as const;
const NESTED = ['fork', 'switch', 'switchBy', 'loop', 'loopOver'] as const;

/** A step to build, and the lists of steps inside it. */
type Plan =
  | { readonly kind: 'step'; readonly fields: readonly string[]; readonly text: string }
  | { readonly kind: (typeof SINGLE)[number] }
  | { readonly kind: (typeof NESTED)[number]; readonly lists: readonly (readonly Plan[])[] };

/** Every object of the language has these, and a reference has its own. */
const NO_FIELDS = ['toString', 'toJSON', 'then'];

const field = fc.string().filter((name) => !NO_FIELDS.includes(name));

const { plans } = fc.letrec<{ plan: Plan; plans: readonly Plan[] }>((tie) => ({
  plan: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('step' as const),
      fields: fc.array(field, { maxLength: 3 }),
      text: fc.string({ unit: fc.constantFrom('$', '{', '}', 'a', "'", '\\', ' ', 'é') }),
    }),
    fc.record({ kind: fc.constantFrom(...SINGLE) }),
    fc.record({
      kind: fc.constantFrom(...NESTED),
      lists: fc.array(tie('plans'), { minLength: 1, maxLength: 3 }),
    }),
  ),
  plans: fc.array(tie('plan'), { minLength: 1, maxLength: 4 }),
}));

type Builder = WorkflowBuilder<Record<string, string>, Record<string, string>>;

/** Builds a list of steps. Steps use any value that is visible to them. */
function build(w: Builder, list: readonly Plan[], visible: Reference<unknown>[]): undefined {
  list.forEach((plan, place) => {
    switch (plan.kind) {
      case 'step':
        buildStep(w, plan, visible);
        break;
      case 'fork':
      case 'switch':
      case 'switchBy':
      case 'loop':
      case 'loopOver':
        buildNested(w, plan, visible);
        break;
      case 'wait':
        w.wait(freeName(), place % 2 === 0 ? { seconds: place } : {});
        break;
      case 'human':
        visible.push(w.human(freeName(), { all: [...visible] }).output as never);
        break;
      case 'inline':
        visible.push(w.inline(freeName(), '`${$.a}` + 1', { a: visible.at(-1) }).output as never);
        break;
      case 'set':
        w.set({ last: `${visible.at(-1) ?? 'none'}` });
        break;
      case 'terminate':
        // Nothing may follow it.
        if (place === list.length - 1) w.terminate({ reason: `${w.runId}` });
        else w.noop();
        break;
      default:
        w.noop();
    }
  });
}

function freeName(): string {
  steps += 1;
  return `s-${steps}`;
}

function buildNested(
  w: Builder,
  { kind, lists }: Extract<Plan, { lists: unknown }>,
  visible: readonly Reference<unknown>[],
): void {
  const [body] = lists;
  const input = { given: visible.at(-1) };
  if (kind === 'fork') w.fork(inner(lists, visible));
  else if (kind === 'switch') w.switch(w.input.speed, inner(lists, visible));
  else if (kind === 'switchBy') w.switchBy({ script: '$.given', input }, inner(lists, visible));
  else if (kind === 'loop') {
    w.loop({ while: '$.given < 3', input, keepLastN: 2 }, (w, { count }) => {
      build(w, body, [...visible, count]);
    });
  } else {
    w.loopOver(w.input.list as never, (w, { item, index }) => {
      build(w, body, [...visible, item, index]);
    });
  }
}

function buildStep(
  w: Builder,
  { fields, text }: Extract<Plan, { kind: 'step' }>,
  visible: Reference<unknown>[],
): void {
  let deep = visible.at(-1) as unknown as Record<string, Record<string, unknown>>;
  for (const field of fields) deep = deep[field] as typeof deep;
  const step = w.step(freeName(), 'any', {
    deep,
    all: [...visible],
    text,
    mixed: `${text}: ${deep}`,
  });
  visible.push(step.output as never);
}

function inner(lists: readonly (readonly Plan[])[], visible: readonly Reference<unknown>[]) {
  const builds = lists.map((list, index) => {
    return [`p${index}`, (w: Builder) => build(w, list, [...visible])];
  });
  return Object.fromEntries(builds) as Record<string, (w: Builder) => undefined>;
}

let steps = 0;

test('every workflow is a definition that the core takes, and plain JSON', () => {
  fc.assert(
    fc.property(plans, (list) => {
      steps = 0;
      const options = {
        version: 1,
        input: inputOf<Record<string, string>>(),
        variables: {} as Record<string, string>,
      };

      const { definition } = defineWorkflow('any', options, (w) => build(w, list, [w.input]));

      expect(compileDefinition(definition, UTF8).problems ?? []).toEqual([]);
      expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
    }),
    { numRuns: 300 },
  );
});
