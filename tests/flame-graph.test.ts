import { expect, test } from 'vitest';
import { flameGraphOf } from '../bench/profile/flame-graph.ts';

const node = (id: number, functionName: string, children: number[] = []) => ({
  id,
  callFrame: { functionName, url: '', lineNumber: 0 },
  children,
});

test('a function is as wide as the time of all that it called, without idle time', () => {
  const graph = flameGraphOf(
    {
      nodes: [
        node(1, '(root)', [2, 5]),
        node(2, 'serve', [3, 4]),
        node(3, 'parse<T>'),
        node(4, 'answer'),
        node(5, '(idle)'),
      ],
      samples: [3, 4, 2, 5, 3],
      timeDeltas: [100, 200, 100, 9000, 200],
    },
    'server',
  );
  expect(graph).toContain('server: 1 ms');
  expect(graph).toMatch(/serve, 100\.0 %<\/title><rect x="0\.0" y="\d+" width="1200\.0"/);
  expect(graph).toMatch(/parse&lt;T&gt;, 50\.0 %<\/title><rect x="0\.0" y="\d+" width="600\.0"/);
  expect(graph).toMatch(/answer, 33\.3 %<\/title><rect x="600\.0" y="\d+" width="400\.0"/);
  expect(graph).not.toContain('idle');
});
