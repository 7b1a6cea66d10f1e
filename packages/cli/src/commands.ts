import { auditCommands } from './admin/audit-commands.ts';
import { backup } from './admin/backup.command.ts';
import { clusterCommands } from './admin/cluster-commands.ts';
import { keyCommands } from './admin/key-commands.ts';
import { logCommands } from './admin/log-commands.ts';
import { exportData, importData } from './admin/move-commands.ts';
import { projectionCommands } from './admin/projection-commands.ts';
import { restore } from './admin/restore.command.ts';
import { agent } from './agent/agent.command.ts';
import { exec } from './agent/exec.command.ts';
import { type Command, listOf } from './base/command.ts';
import { VERSION } from './base/version.ts';
import { blobCommands } from './commands/blob-commands.ts';
import { callbackCommands } from './commands/callback-commands.ts';
import { completionOf } from './commands/completion.command.ts';
import { deadLetterCommands } from './commands/dead-letter-commands.ts';
import { queueCommands } from './commands/queue-commands.ts';
import { taskCommands } from './commands/task-commands.ts';
import { top } from './commands/top.command.ts';
import { workerCommands } from './commands/worker-commands.ts';
import { dev } from './dev.command.ts';
import { scheduleCommands } from './schedules/schedule-commands.ts';
import { server } from './server.command.ts';
import { runCommands } from './workflows/run-commands.ts';
import { workflowCommands } from './workflows/workflow-commands.ts';

export const COMMANDS: Readonly<Record<string, Command>> = {
  dev,
  server,
  agent,
  exec,
  task: taskCommands,
  workflow: workflowCommands,
  run: runCommands,
  schedule: scheduleCommands,
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
  cluster: clusterCommands,
  import: importData,
  export: exportData,
  completion: completionOf(() => COMMANDS),
};

export const HELP = `Sluice ${VERSION}: a task scheduler that never loses an acknowledged task.

Usage: sluice COMMAND [flags]

${listOf(COMMANDS)}

  --help       show this help, or that of a command: sluice dev --help
  --version    print the version; -v does the same

SLUICE_URL is the address of the server (default http://127.0.0.1:7420), SLUICE_API_KEY the key.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no server.`;
