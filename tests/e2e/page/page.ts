/**
 * Runs in a browser. It submits tasks to the origin of the page and shows the results. One task has
 * an input and output that are too big for a request.
 */
import { Sluice } from '@sluice/sdk';

/** The parts of the browser API that are used here. */
interface Page {
  readonly document: {
    readonly body: { readonly innerText: string };
    querySelector(selector: string): { textContent: string };
  };
}

const { document } = globalThis as unknown as Page;
const names = ['Ädä', 'ä'.repeat(200_000)].map((name) => ({ name }));
const [small, large] = await new Sluice().submitMany<string>('greet', names);
const { length } = await large.result();
document.querySelector('output').textContent = `${await small.result()} ${length}`;
await fetch('/shown', { method: 'POST', body: document.body.innerText });
