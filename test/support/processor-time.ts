import process from 'node:process';

/** CPU milliseconds that work takes in this process. Its wall-clock time would depend on other load. */
export function processorMs(work: () => unknown): number {
  const before = process.cpuUsage();
  if (work() instanceof Promise) throw new TypeError('only synchronous work is measured');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
