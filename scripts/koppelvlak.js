#!/usr/bin/env node
// The program of a checkout (docs/installing.md). Plain JavaScript, because a Node that is too old could not run the
// TypeScript that says so.
import process from 'node:process';

const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(`koppelvlak needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else await import('../src/main.ts');
