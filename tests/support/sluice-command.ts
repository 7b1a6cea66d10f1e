/** Runs `sluice` to its end. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

export const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');

export interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export function runSluice(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env } };
    const child = execFile(LAUNCHER, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
    // What is piped into it would be its input.
    child.stdin?.end();
  });
}
