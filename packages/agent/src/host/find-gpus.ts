import { execFile } from 'node:child_process';
import { gpuIndexes } from '../logic/gpu-shares.ts';

const ANSWER_MS_MAX = 10_000;

/** Indexes of the GPUs of this host; none where there is no driver. */
export function findGpus(): Promise<string[]> {
  const args = ['--query-gpu=index', '--format=csv,noheader'];
  return new Promise((resolve) => {
    execFile('nvidia-smi', args, { timeout: ANSWER_MS_MAX }, (error, stdout) => {
      resolve(error === null ? gpuIndexes(stdout) : []);
    });
  });
}
