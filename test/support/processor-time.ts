import process from 'node:process';

/** Milliseconds of processor that work takes in this process. What it takes by the clock is a matter of how busy the machine is. */
export function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  if (work() instanceof Promise) throw new TypeError('only synchronous work is measured');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
