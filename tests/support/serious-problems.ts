/** Problems of accessibility that keep people from using a page, as axe finds them. */
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** The page has to be opened with `bypassCSP`: its policy lets no other script in. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
}
