/** A real browser for tests of the console. */

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { buildConsole } from '../../scripts/build-console.ts';

const EXPECT_MS_MAX = 60_000;

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** A page, and everything that went wrong in it. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors of scripts, violations of the policy, and requests that left the server's origin. */
  readonly troubles: string[];
}

export class ConsoleBrowser {
  private readonly browser: Browser;

  private constructor(browser: Browser) {
    this.browser = browser;
  }

  /** Builds the console if its sources changed, and starts a browser. */
  static async start(): Promise<ConsoleBrowser> {
    await buildConsole();
    const executablePath = '/usr/bin/chromium';
    return new ConsoleBrowser(await chromium.launch({ executablePath, args: ARGS }));
  }

  /** A window without cookies of others. */
  async open(
    url: string,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<ConsolePage> {
    const context: BrowserContext = await this.browser.newContext({ locale: 'en-GB', ...options });
    context.setDefaultTimeout(EXPECT_MS_MAX);
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on('pageerror', (error) => troubles.push(`script: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !isExpected(message.text())) troubles.push(message.text());
    });
    page.on('request', (request) => {
      const address = request.url();
      if (!address.startsWith(url) && !/^(?:data|blob):/.test(address)) {
        troubles.push(`left the origin: ${address}`);
      }
    });
    await page.goto(url);
    return { page, troubles };
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** Browsers report each refused or broken request as an error of the console. */
function isExpected(text: string): boolean {
  return /Failed to load resource|net::ERR_|EventSource/.test(text);
}
