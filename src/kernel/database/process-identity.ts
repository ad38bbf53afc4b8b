import { readFileSync } from 'node:fs';

/** A process, told apart from a later one with the same number by the moment it started. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly started: string;
}

/** The identity of a running process; undefined when there is none with this number. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const stat = readProc(pid, 'stat');
  if (stat === undefined) return undefined;
  // The second field is the name in brackets and may hold anything; field 3 (state) comes after the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  const started = fields[19];
  if (started === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, started };
}

/** Whether this very process still runs. */
export function isRunning(process: ProcessIdentity): boolean {
  return processIdentity(process.pid)?.started === process.started;
}

/** The arguments a process was started with; empty when it is gone. */
export function commandLine(pid: number): string[] {
  return readProc(pid, 'cmdline')?.split('\0') ?? [];
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) {
      return undefined;
    }
    throw error;
  }
}
