import { readFileSync } from 'node:fs';
import type { Command } from './base/command.ts';
import { ExitCode } from './base/exit-code.ts';

/**
 * The flags are the settings of the server, and loading the server takes longer than most commands.
 * So the help is generated in advance; a test checks that it is current.
 */
const HELP_FILE = new URL('./server-help.txt', import.meta.url);

export const server: Command = {
  summary: 'Run a server, configured by a file, environment variables and flags',
  get help() {
    return readFileSync(HELP_FILE, 'utf8').trimEnd();
  },
  get flags() {
    return Array.from(this.help.matchAll(/^ {2}--([a-z-]+)/gm), ([, name]) => name);
  },
  async run(args, io) {
    if (args.includes('--help') || args.includes('-h')) {
      io.stdout(this.help);
      return ExitCode.done;
    }
    const { runServer } = await import('./run-server.ts');
    return runServer(args, io);
  },
};
