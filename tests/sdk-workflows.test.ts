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

/** A step to build, and the lists of steps inside it. */
type Plan =
  | { readonly kind: 'step'; readonly fields: readonly string[]; readonly text: string }
  | { readonly kind: 'set' | 'noop' | 'terminate' }
  | { readonly kind: 'fork' | 'switch'; readonly lists: readonly (readonly Plan[])[] };

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
    fc.record({ kind: fc.constantFrom('set' as const, 'noop' as const, 'terminate' as const) }),
    fc.record({
      kind: fc.constantFrom('fork' as const, 'switch' as const),
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
        w.fork(inner(plan.lists, visible));
        break;
      case 'switch':
        w.switch(w.input.speed, inner(plan.lists, visible));
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

function buildStep(
  w: Builder,
  { fields, text }: Extract<Plan, { kind: 'step' }>,
  visible: Reference<unknown>[],
): void {
  let deep = visible.at(-1) as unknown as Record<string, Record<string, unknown>>;
  for (const field of fields) deep = deep[field] as typeof deep;
  const name = `s-${steps}`;
  steps += 1;
  const step = w.step(name, 'any', { deep, all: [...visible], text, mixed: `${text}: ${deep}` });
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
