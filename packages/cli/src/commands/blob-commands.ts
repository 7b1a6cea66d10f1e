import { isUtf8 } from 'node:buffer';
import { writeFile } from 'node:fs/promises';
import { defineCommand, defineGroup } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { bytesOf, connect, print, SERVER_FLAGS } from './shared.ts';

const put = defineCommand({
  name: 'blob put',
  summary: 'Upload the JSON of a large input or output',
  details:
    'Prints its SHA-256 for the fields inputBlob and outputBlob. A blob that no task names is\n' +
    "removed after a day. 'task submit' uploads large inputs automatically.",
  args: ['FILE'],
  flags: SERVER_FLAGS,
  examples: ['sluice blob put video.json', 'generate | sluice blob put -'],
  run: async ({ args: [file], flags }, io) => {
    const blob = await connect(flags, io).putBlob(await bytesOf(file, 'FILE', io));
    print(io, flags, blob, ({ sha256 }) => sha256);
    return ExitCode.done;
  },
});

const get = defineCommand({
  name: 'blob get',
  summary: 'Download a large input or output',
  args: ['SHA256'],
  flags: {
    output: { value: 'FILE', short: 'o', help: 'write to this file instead of stdout' },
    url: SERVER_FLAGS.url,
  },
  examples: [
    'sluice blob get $(sluice task get t_01k7f6b1oj0000000001 --json | jq -r .outputBlob)',
  ],
  run: async ({ args: [sha256], flags }, io) => {
    const bytes = await connect(flags, io).getBlob(sha256);
    if (flags.output === undefined) {
      if (!isUtf8(bytes)) throw new UsageError('the blob is not UTF-8; use --output FILE');
      io.stdout(bytes.toString());
      return ExitCode.done;
    }
    try {
      await writeFile(flags.output, bytes);
    } catch (cause) {
      throw new UsageError(`cannot write --output: ${(cause as Error).message}`);
    }
    return ExitCode.done;
  },
});

export const blobCommands = defineGroup('blob', 'Upload and download large inputs and outputs', {
  put,
  get,
});
