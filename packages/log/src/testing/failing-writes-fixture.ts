import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SHIM = fileURLToPath(new URL('./failing-writes.c', import.meta.url));

/** A library that makes writes to segments fail in the process that it is preloaded into. */
export class FailingWrites {
  private readonly library: string;
  private readonly reportPath: string;

  private constructor(folder: string) {
    this.library = join(folder, 'failing-writes.so');
    this.reportPath = join(folder, 'report');
  }

  static async compile(folder: string): Promise<FailingWrites> {
    const shim = new FailingWrites(folder);
    const args = ['-shared', '-fPIC', '-O1', '-Wall', '-Werror', '-o', shim.library, SHIM, '-ldl'];
    try {
      await promisify(execFile)('cc', args);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
      throw new Error("this test needs a C compiler: install gcc, so that 'cc' is found", {
        cause,
      });
    }
    return shim;
  }

  /** The environment of a process whose nth write to a segment fails. */
  environment(nth: number): Record<string, string> {
    return {
      // libuv would bypass the shim through io_uring.
      UV_USE_IO_URING: '0',
      LD_PRELOAD: this.library,
      FAILING_WRITES_NTH: String(nth),
      FAILING_WRITES_REPORT: this.reportPath,
    };
  }

  /** What happened to the failed write and to later ones, line by line. */
  report(): Promise<string> {
    return readFile(this.reportPath, 'utf8');
  }
}
