export { CronCalendar } from './cron-calendar.ts';
export { CronError, parseCron } from './cron-pattern.ts';
export { isTimeZone } from './time-zone.ts';
