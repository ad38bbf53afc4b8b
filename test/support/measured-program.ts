/** Programs whose memory and event loop are measured by their process. */
import { existsSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ProgramOptions, type Running, startProgram } from './program.ts';

export interface MeasuredProgram extends Running {
  /**
   * Resets the measurements.
   * @returns megabytes in use at this moment
   */
  begin(): number;
  /** Peak megabytes since `begin`. */
  peakMb(): number;
  /** CPU milliseconds of its longest turn of the event loop, since `begin`. */
  longestMs(): number;
}

const WATCH = pathToFileURL(join(import.meta.dirname, 'watch-stalls.ts')).href;

export function startMeasured(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  options: ProgramOptions = {},
): MeasuredProgram {
  const directory = mkdtempSync(join(tmpdir(), 'measured-'));
  const file = join(directory, 'stalls');
  writeFileSync(file, '');
  const running = startProgram(args, { ...env, STALLS_FILE: file, NODE_OPTIONS: `--import=${WATCH}` }, options);
  const { pid } = running.child;
  let [begunAt, peak, longest] = [0, 0, 0];
  const look = (): void => {
    peak = Math.max(peak, megabytes(pid, 'VmHWM'));
    const turns = readFileSync(file, 'utf8').trim().split('\n');
    for (const [at = 0, ms = 0] of turns.map((turn) => turn.split(' ').map(Number)))
      if (at >= begunAt) longest = Math.max(longest, ms);
  };
  const watch = setInterval(look, 20);
  const ended = running.ended.then((result) => {
    clearInterval(watch);
    look();
    rmSync(directory, { recursive: true });
    return result;
  });
  return {
    ...running,
    ended,
    begin() {
      // Resets the peak to the current use (proc_pid_clear_refs(5)).
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      [begunAt, peak, longest] = [Date.now(), 0, 0];
      return megabytes(pid, 'VmRSS');
    },
    peakMb: () => peak,
    longestMs: () => longest,
  };
}

function megabytes(pid: number | undefined, name: 'VmHWM' | 'VmRSS'): number {
  try {
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    // It has exited.
    return 0;
  }
}

/** A limit on processes' total memory, like a container's; undefined if this user may not create such a group. */
export interface MemoryGroup {
  /** From now on the process is killed if it exceeds its group's memory. */
  add(pid: number | undefined): void;
  remove(): void;
}

export function createMemoryGroup(mb: number): MemoryGroup | undefined {
  const [parent, limit] = existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes')
    ? ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes']
    : ['/sys/fs/cgroup', 'memory.max'];
  try {
    const path = mkdtempSync(join(parent, 'koppelvlak-test-'));
    try {
      writeFileSync(join(path, limit), String(mb * 1024 * 1024));
    } catch (error) {
      rmdirSync(path);
      throw error;
    }
    return {
      add: (pid) => writeFileSync(join(path, 'cgroup.procs'), String(pid)),
      remove: () => rmdirSync(path),
    };
  } catch {
    return undefined;
  }
}
