const maxWaiting = 32;

interface Line {
  tail: Promise<unknown>;
  waiting: number;
}

/** Lets one task at a time through per address, so that a slow responder is never called twice at once. */
export class AddressQueue {
  readonly #lines = new Map<string, Line>();

  /** @throws Error when too many are waiting for this address already */
  run<T>(address: string, task: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(address) ?? { tail: Promise.resolve(), waiting: 0 };
    if (line.waiting >= maxWaiting) return Promise.reject(new Error(`too many are waiting for ${address}`));
    this.#lines.set(address, line);
    line.waiting += 1;
    const result = line.tail.then(task);
    line.tail = result.then(
      () => this.#leave(address, line),
      () => this.#leave(address, line),
    );
    return result;
  }

  #leave(address: string, line: Line): void {
    line.waiting -= 1;
    if (line.waiting === 0) this.#lines.delete(address);
  }
}
