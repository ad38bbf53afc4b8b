import type { Child } from './children.ts';
import type { Measured, Side } from './compare.ts';
import type { Load, Loader } from './load.ts';

/** A side that is asked at a rate; with its process, what an answer cost it: that says the same on a machine that is busy otherwise. */
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
