import type { Child } from './children.ts';
import type { Measured, Side } from './compare.ts';
import type { Load, Loader } from './load.ts';

/**
 * A side that is requested at a rate, and the CPU time per answer of its process, which is reliable on a busy machine
 * too.
 */
export function asked(name: string, child: Child | undefined, loader: Loader, url: string, load: Load): Side {
  const cpu = async (): Promise<number | undefined> => child && Object(await child.ask({})).cpuMs;
  return {
    name,
    async once(): Promise<Measured> {
      const before = await cpu();
      const startedAt = performance.now();
      const rate = await loader.rate(url, load);
      const answers = (rate * (performance.now() - startedAt)) / 1000;
      const after = await cpu();
      return before === undefined || after === undefined
        ? { rate }
        : { rate, cpuUs: ((after - before) * 1000) / answers };
    },
  };
}
