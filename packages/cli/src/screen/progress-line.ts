import type { CommandIo } from '../base/exit-code.ts';
import { visible } from './visible.ts';

const EVERY_MS = 100;

/** Shows progress in one line of a terminal; without a terminal it shows nothing. */
export class ProgressLine {
  private readonly terminal: CommandIo['terminal'];
  private shownAt = Number.NEGATIVE_INFINITY;

  constructor(terminal: CommandIo['terminal']) {
    this.terminal = terminal;
  }

  show(text: string): void {
    const now = performance.now();
    if (!this.terminal.isStderr || now - this.shownAt < EVERY_MS) return;
    this.shownAt = now;
    this.terminal.drawOnStderr(`\r\u001b[K${visible(text).slice(0, this.terminal.columns - 1)}`);
  }

  clear(): void {
    if (this.shownAt > 0) this.terminal.drawOnStderr('\r\u001b[K');
  }
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function sizeText(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** step;
  return `${step === 0 ? size : size.toFixed(1)} ${UNITS[step]}`;
}
