import { type Command, listOf } from './command.ts';
import { auditCommands } from './commands/audit-commands.ts';
import { backup } from './commands/backup.command.ts';
import { blobCommands } from './commands/blob-commands.ts';
import { callbackCommands } from './commands/callback-commands.ts';
import { completionOf } from './commands/completion.command.ts';
import { deadLetterCommands } from './commands/dead-letter-commands.ts';
import { keyCommands } from './commands/key-commands.ts';
import { logCommands } from './commands/log-commands.ts';
import { projectionCommands } from './commands/projection-commands.ts';
import { queueCommands } from './commands/queue-commands.ts';
import { restore } from './commands/restore.command.ts';
import { taskCommands } from './commands/task-commands.ts';
import { top } from './commands/top.command.ts';
import { workerCommands } from './commands/worker-commands.ts';
import { dev } from './dev.command.ts';
import { server } from './server.command.ts';
import { VERSION } from './version.ts';

export const COMMANDS: Readonly<Record<string, Command>> = {
  dev,
  server,
  task: taskCommands,
  queue: queueCommands,
  worker: workerCommands,
  'dead-letter': deadLetterCommands,
  blob: blobCommands,
  callback: callbackCommands,
  key: keyCommands,
  audit: auditCommands,
  top,
  backup,
  restore,
  log: logCommands,
  projection: projectionCommands,
  completion: completionOf(() => COMMANDS),
};

export const HELP = `Sluice ${VERSION}: runs tasks on workers that have room, and loses none.

Usage: sluice COMMAND [flags]

${listOf(COMMANDS)}

  --help       this text, or that of a command: sluice dev --help
  --version    the version

SLUICE_URL says where the server is (default http://127.0.0.1:7420), SLUICE_API_KEY who asks.
Exit codes: 0 done, 1 refused or failed, 2 usage, 3 no server.`;
