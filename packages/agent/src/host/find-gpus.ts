import { execFile } from 'node:child_process';
import { type FoundGpus, readGpus } from '../logic/gpu-shares.ts';

const ANSWER_MS_MAX = 10_000;

/** The GPUs of this host; none where there is no driver. */
export function findGpus(): Promise<FoundGpus> {
  const args = ['--query-gpu=index,name', '--format=csv,noheader'];
  return new Promise((resolve) => {
    execFile('nvidia-smi', args, { timeout: ANSWER_MS_MAX }, (error, stdout) => {
      resolve(readGpus(error === null ? stdout : ''));
    });
  });
}
