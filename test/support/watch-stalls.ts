/**
 * Loaded before a program (`--import`): writes each turn of its event loop in which its thread worked for long to the file named by
 * `STALLS_FILE`, as lines with the time and the CPU milliseconds. Other load on the machine does not count.
 */
import { appendFileSync } from 'node:fs';
import process from 'node:process';

/** Shorter turns are not written. */
const LEAST_MS = 40;
const file = process.env.STALLS_FILE ?? '';
let last = process.threadCpuUsage();

setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  const ms = (user + system) / 1000;
  if (ms >= LEAST_MS) appendFileSync(file, `${Date.now()} ${ms}\n`);
}, 1).unref();
