#!/usr/bin/env node
import process from 'node:process';

const OLDEST_NODE = 24;
/** The status of a program that SIGPIPE ends, as a shell reports it: `koppelvlak … | head` is no fault. */
const CLOSED_PIPE = 141;

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    // A command that works ends its work first, and says why.
    if (stream.listenerCount('error') === 1) process.exit(CLOSED_PIPE);
  });
}

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(`koppelvlak needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const { runProgram } = await import('./cli/program.ts');
  await runProgram(process.argv.slice(2), process);
}
