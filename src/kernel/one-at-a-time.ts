/** Runs pieces of work one at a time; those of several clients take turns, so that one with many does not keep the others waiting. */
export interface OneAtATime {
  run<T>(client: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
}

export function createOneAtATime(): OneAtATime {
  /** What waits of each client, the client whose turn is next first. */
  const waiting = new Map<string, (() => void)[]>();
  const onIdle: (() => void)[] = [];
  let isRunning = false;

  function wait(client: string): Promise<void> {
    return new Promise((resolve) => {
      const own = waiting.get(client);
      if (own === undefined) waiting.set(client, [resolve]);
      else own.push(resolve);
    });
  }

  function startNext(): void {
    const first = waiting.entries().next().value;
    if (first === undefined) {
      isRunning = false;
      for (const resolve of onIdle.splice(0)) resolve();
      return;
    }
    const [client, own] = first;
    const start = own.shift();
    waiting.delete(client);
    if (own.length > 0) waiting.set(client, own);
    start?.();
  }

  return {
    async run(client, work) {
      if (isRunning) await wait(client);
      isRunning = true;
      try {
        return await work();
      } finally {
        startNext();
      }
    },
    idle: () => (isRunning ? new Promise((resolve) => onIdle.push(resolve)) : Promise.resolve()),
  };
}
