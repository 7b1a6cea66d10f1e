import type { Backfill } from '../api/answers.ts';
import { defineCommand } from '../base/command.ts';
import { ExitCode } from '../base/exit-code.ts';
import { UsageError } from '../base/usage-error.ts';
import { connect, print, SERVER_FLAGS, stated } from '../commands/shared.ts';
import { visible } from '../screen/visible.ts';
import { aboutSchedule, pathOf } from './one-schedule.ts';
import { namingFlags } from './schedule-flags.ts';
import { utcText } from './schedule-text.ts';

export const backfillSchedule = defineCommand({
  name: 'schedule backfill',
  summary: 'Fire a schedule at all times of a past range',
  details:
    'It goes on in the background, with at most --rate fires per second, and ends by itself.\n' +
    "'sluice schedule get ID' shows how far it is. The next times stay as they are.",
  args: ['ID'],
  flags: {
    from: { value: 'TIME', help: 'first time of the range (ISO 8601)' },
    to: { value: 'TIME', help: 'last time of the range' },
    rate: { value: 'N', help: 'maximum fires per second, from 0.001 to 1000 (default 10)' },
    'dry-run': { help: 'only count the times' },
    stop: { help: 'stop the backfill that is running' },
    ...SERVER_FLAGS,
  },
  examples: [
    'sluice schedule backfill nightly-report --from 2030-01-01T00:00:00Z --to 2030-01-08T00:00:00Z',
    'sluice schedule backfill nightly-report --stop',
  ],
  run: async ({ args: [id], flags }, io) => {
    const { from, to, rate, stop } = flags;
    const dryRun = flags['dry-run'];
    const api = connect(flags, io);
    const path = `${pathOf(id)}/backfill`;
    if (stop === true) {
      const others = { from, to, rate, 'dry-run': dryRun };
      const [other] = Object.keys(stated(others));
      if (other !== undefined) throw new UsageError(`--stop and --${other} exclude each other`);
      await aboutSchedule(api, id, api.delete(path));
      io.stderr(`no backfill of ${visible(id)} is running any more`);
      return ExitCode.done;
    }
    if (from === undefined || to === undefined) {
      const name = from === undefined ? '--from' : '--to';
      throw new UsageError(`${name} is missing: a backfill has --from and --to, or --stop`);
    }
    const body = stated({ from, to, ratePerSec: rateOf(rate), dryRun });
    const call = api.postOnce<Backfill>(path, ['count', 'dryRun'], body);
    const answer = await aboutSchedule(api, id, namingFlags(call));
    print(io, flags, answer, (each) => backfillText(each, id));
    return ExitCode.done;
  },
});

function rateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw new UsageError(`--rate must be a number from 0.001 to 1000, not '${text}'`);
}

function backfillText({ count, isComplete, first, last, dryRun }: Backfill, id: string): string {
  if (first === null || last === null) return `${id} has no time in this range`;
  const times = `${count}${isComplete ? '' : ' or more'} ${count === 1 ? 'time' : 'times'}`;
  const range = isComplete
    ? `from ${utcText(first)} to ${utcText(last)}`
    : `from ${utcText(first)} on`;
  if (dryRun) return `would fire ${id} at ${times}, ${range}`;
  return `firing ${id} at ${times}, ${range}; 'sluice schedule get ${id}' shows how far it is`;
}
