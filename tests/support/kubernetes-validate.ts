/** Checks Kubernetes manifests against the schemas of Kubernetes, without a cluster. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const PACKAGE = 'kubernetes-validate==1.37.0';
const KUBERNETES = '1.32';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache');
const FOLDER = join(CACHE, PACKAGE);

/** Installs the program beside the other packages, once. */
export async function installKubernetesValidate(): Promise<void> {
  if (existsSync(FOLDER)) return;
  const unfinished = `${FOLDER}-${process.pid}`;
  await mkdir(CACHE, { recursive: true });
  await rm(unfinished, { recursive: true, force: true });
  await execute('python3', ['-m', 'pip', 'install', '--quiet', '--target', unfinished, PACKAGE]);
  await rename(unfinished, FOLDER);
}

/** Returns a line for each resource; rejects with the problems of those that are wrong. */
export async function validateManifest(file: string): Promise<string> {
  const program = join(FOLDER, 'bin/kubernetes-validate');
  const args = [program, '--kubernetes-version', KUBERNETES, '--strict', file];
  const env = { ...process.env, PYTHONPATH: FOLDER };
  const { stdout, stderr } = await execute('python3', args, { env });
  return stdout + stderr;
}
