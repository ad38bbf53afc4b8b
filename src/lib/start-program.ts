import process from 'node:process';
import type { Terminal } from './terminal.ts';

const OLDEST_NODE = 24;
/** The status of a program that SIGPIPE ends, as a shell reports it: `program … | head` is no fault. */
const CLOSED_PIPE = 141;

type RunProgram = (words: readonly string[], terminal: Terminal) => Promise<void>;

/** Runs the program of this process. @param load imports it, which too old a Node may be unable to */
export async function startProgram(name: string, load: () => Promise<RunProgram>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      // A running command stops first, and reports why.
      if (stream.listenerCount('error') === 1) process.exit(CLOSED_PIPE);
    });
  }
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    process.stderr.write(`${name} needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}.\n`);
    process.exitCode = 1;
    return;
  }
  const run = await load();
  await run(process.argv.slice(2), process);
}
