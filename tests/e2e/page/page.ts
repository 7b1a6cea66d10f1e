/**
 * Runs in a browser. It submits tasks to the origin of the page, follows them and shows results.
 * One task has an input and output that are too big for a request. One task is a step of a run.
 */
import { defineWorkflow, inputOf, Sluice } from '@sluice/sdk';

/** The parts of the browser API that are used here. */
interface Page {
  readonly document: {
    readonly body: { readonly innerText: string };
    querySelector(selector: string): { textContent: string };
  };
}

const { document } = globalThis as unknown as Page;
const names = ['Ädä', 'ä'.repeat(200_000)].map((name) => ({ name }));
const sluice = new Sluice();
const events = sluice.events({ type: 'greet' });
await events.opened;
const [small, large] = await sluice.submitMany<string>('greet', names);
const { length } = await large.result();
const ended = new Set<string>();
for await (const event of events) {
  if (event.kind === 'change' && event.to === 'succeeded') ended.add(event.task);
  if (ended.size === 2) break;
}
const welcome = defineWorkflow('welcome', { version: 1, input: inputOf<{ name: string }>() }, (w) =>
  w.step<string>('greet', 'greet', { name: `${w.input.name}!` }),
);
const run = await sluice.start(welcome, { name: 'Eve' });
const { items } = await sluice.tasks.getMany([small, large]);
const shown = `${await small.result()} ${length} ${items.length} ${ended.has(small.id)} ${await run.result()}`;
document.querySelector('output').textContent = shown;
await fetch('/shown', { method: 'POST', body: document.body.innerText });
