import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { ROLE_PATH, type ServerRole } from '@sluice/protocol';

/** An owner that takes longer may be alive. */
const PROBE_MS = 400;

/**
 * Whether the process is known to be gone: nothing listens at its address, another process does,
 * or it says that it does not own the partition. Silence is no answer.
 */
export async function isGone(url: string, runId: string): Promise<boolean> {
  if (!URL.canParse(url)) return false;
  try {
    const said = await askRole(url);
    return said !== undefined && (said.runId !== runId || said.role !== 'owner');
  } catch (cause) {
    // Only a machine without that process refuses; a name that is not found may be a mistake.
    return (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  }
}

/** Undefined when something else answers. */
export function askRole(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ServerRole | undefined> {
  const target = new URL(ROLE_PATH, url);
  const ask = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const asking = ask(target, { agent: false, timeout: PROBE_MS, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve(parsed(Buffer.concat(chunks).toString())));
    });
    asking.on('timeout', () => asking.destroy(new Error('no answer')));
    asking.on('error', reject);
    asking.end();
  });
}

function parsed(text: string): ServerRole | undefined {
  try {
    const said = JSON.parse(text) as Partial<ServerRole>;
    return typeof said.runId === 'string' ? (said as ServerRole) : undefined;
  } catch {
    return undefined;
  }
}
