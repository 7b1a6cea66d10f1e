/** Runs in a browser: submits a task to where the page came from, and shows what comes of it. */
import { Sluice } from '@sluice/sdk';

/** As much as is used here of what only browsers have. */
interface Page {
  readonly document: {
    readonly body: { readonly innerText: string };
    querySelector(selector: string): { textContent: string };
  };
}

const { document } = globalThis as unknown as Page;
const task = await new Sluice().submit('greet', { name: 'Ädä' });
document.querySelector('output').textContent = String(await task.result());
await fetch('/shown', { method: 'POST', body: document.body.innerText });
