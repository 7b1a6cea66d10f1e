import { CronCalendar } from '@sluice/calendar';
import { UTF8 } from '../base/utf8.ts';

/** For the times of schedules that answers show. */
export const TIME_PORTS = { calendar: new CronCalendar(), utf8: UTF8 };
