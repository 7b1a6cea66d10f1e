/**
 * Runs in a browser: submits tasks to where the page came from, one of them with an input and
 * output that are too big for a request, and shows what comes of them.
 */
import { Sluice } from '@sluice/sdk';

/** As much as is used here of what only browsers have. */
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
