import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { RefusedError } from '../api/api-errors.ts';
import { type Received, receiveBackup, syncPath } from '../backup/receive-backup.ts';
import { defineCommand } from '../base/command.ts';
import { type CommandIo, ExitCode } from '../base/exit-code.ts';
import { connect, print, SERVER_FLAGS } from '../commands/shared.ts';
import { ProgressLine, sizeText } from '../screen/progress-line.ts';

export const backup = defineCommand({
  name: 'backup',
  summary: 'Copy a running server into a new folder',
  details:
    'The copy has everything that was acknowledged before the command began: tasks, history,\n' +
    'keys, audit records, task logs, blobs and figures. The server may be on another machine.\n' +
    "You need an admin key of the namespace 'default'. Until the copy is complete, the folder\n" +
    'is named DIR.unfinished. It contains payloads and hashes of keys: protect it like the data.',
  args: ['DIR'],
  flags: SERVER_FLAGS,
  examples: [
    'sluice backup backups/monday',
    'SLUICE_API_KEY=slk_… sluice backup /backups/monday --url https://sluice.example.com',
  ],
  run: async ({ args: [folder], flags }, io) => {
    const target = resolve(folder);
    const unfinished = `${target}.unfinished`;
    const problem = await claim(target, unfinished);
    if (problem !== undefined) {
      io.stderr(`sluice: ${problem}`);
      return ExitCode.refused;
    }
    try {
      const received = await receive(flags, unfinished, io);
      await rename(unfinished, target);
      await syncPath(dirname(target));
      const { files, bytes, startedAt } = received;
      print(io, flags, { folder: target, ...received }, () => {
        return `${target}: ${files} files, ${sizeText(bytes)}, as of ${startedAt} or later`;
      });
      return ExitCode.done;
    } catch (cause) {
      await rm(unfinished, { recursive: true, force: true });
      throw explained(cause as NodeJS.ErrnoException);
    }
  },
});

/** Returns why the folder cannot be used, or undefined. */
async function claim(target: string, unfinished: string): Promise<string | undefined> {
  if ((await stat(target).catch(() => undefined)) !== undefined) {
    return `${target} exists; a backup needs a new folder`;
  }
  try {
    await mkdir(unfinished, { mode: 0o700 });
    return undefined;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return `there is no folder ${dirname(target)}; create it first`;
    if (code !== 'EEXIST') return `cannot create ${unfinished}: ${message}`;
    return `${unfinished} exists: another backup is running, or one was killed; if so, remove the folder`;
  }
}

async function receive(
  flags: { readonly url?: string },
  folder: string,
  io: CommandIo,
): Promise<Received> {
  const progress = new ProgressLine(io.terminal);
  let received = 0;
  try {
    return await connect(flags, io).download('/v1/backup', (pieces) =>
      receiveBackup(pieces, folder, (bytes, path) => {
        received += bytes;
        progress.show(`${sizeText(received)}  ${path}`);
      }),
    );
  } finally {
    progress.clear();
  }
}

/** Explains an error of the disk; any other error stays as it is. */
function explained(cause: NodeJS.ErrnoException): Error {
  if (cause.code === undefined) return cause;
  return new RefusedError(`cannot write the backup: ${cause.message}`, { cause });
}
