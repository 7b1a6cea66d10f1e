/** Types of references to values of all kinds. */
import { expect, expectTypeOf, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { defineWorkflow } from './define-workflow.ts';
import type { Given, Reference, Resolved } from './reference.ts';
import { inputOf } from './workflow.ts';

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}

interface Odd {
  readonly tree: Tree;
  // biome-ignore lint/suspicious/noExplicitAny: what people have
  readonly anything: any;
  readonly byName: Readonly<Record<string, { readonly n: number }>>;
  readonly either: { readonly a: 1; readonly b: string } | { readonly a: 2 };
  readonly pair: readonly [string, number];
  readonly deep?: { readonly inner: { readonly n: number } };
}

const walk = defineTask({ type: 'walk', run: (input: { tree: Tree; pair: Odd['pair'] }) => input });

test('references follow the type of their value', () => {
  const { definition } = defineWorkflow('odd', { version: 1, input: inputOf<Odd>() }, (w) => {
    const { tree, anything, byName, either, deep } = w.input;

    expectTypeOf(tree.children[0].children[1].name).toEqualTypeOf<Reference<string>>();
    expectTypeOf(byName.some.n).toEqualTypeOf<Reference<number>>();
    expectTypeOf(either.a).toEqualTypeOf<Reference<1 | 2>>();
    expectTypeOf(deep.inner.n).toEqualTypeOf<Reference<number | null>>();
    expectTypeOf(w.eachOf(tree.children, 'name')).toEqualTypeOf<Reference<readonly string[]>>();
    w.step('walk', walk, {
      tree: { name: anything.what.ever, children: [tree, { name: 'leaf', children: [] }] },
      pair: [byName['a b'].n as never, byName.c.n],
    });
    return { tree, any: anything.x, n: deep.inner.n };
  });

  expect(definition.tasks[0].inputParameters).toEqual({
    tree: {
      name: '${workflow.input.anything.what.ever}',
      children: ['${workflow.input.tree}', { name: 'leaf', children: [] }],
    },
    pair: ["${workflow.input.byName['a b'].n}", '${workflow.input.byName.c.n}'],
  });
});

test('a narrower reference fits a wider place, and not the other way round', () => {
  expectTypeOf<Reference<'a'>>().toExtend<Given<string>>();
  expectTypeOf<Reference<string>>().not.toExtend<Given<'a'>>();
  expectTypeOf<Reference<string | null>>().not.toExtend<Given<string>>();
  expectTypeOf<Reference<unknown>>().not.toExtend<Given<string>>();
  expectTypeOf<Reference<string>>().toExtend<Given<unknown>>();
  expectTypeOf<Resolved<{ a: Reference<number>; b: ['x', Reference<null>] }>>().toEqualTypeOf<{
    readonly a: number;
    readonly b: readonly ['x', null];
  }>();
});
