/** Bytes that are held for clients, bounded for each of them and for all together. */
export class ByteBudget {
  /** One client may hold a quarter of what all may. */
  static readonly CLIENT_SHARE = 1 / 4;

  readonly #max: number;
  readonly #ofClients = new Map<string, number>();
  #used = 0;

  /** @param max bytes for all together; what would be alone is let in however large it is */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Takes room for bytes of a client.
   * @param share the part of all that this client may hold
   * @param taken what was taken before for the same thing: it does not keep itself out
   * @returns whose bound kept it from that, if any
   */
  take(client: string, bytes: number, share = ByteBudget.CLIENT_SHARE, taken = 0): 'client' | 'all' | undefined {
    const ofClient = this.#ofClients.get(client) ?? 0;
    if (ofClient > taken && ofClient + bytes > this.#max * share) return 'client';
    if (this.#used > taken && this.#used + bytes > this.#max) return 'all';
    this.#used += bytes;
    this.#ofClients.set(client, ofClient + bytes);
    return undefined;
  }

  give(client: string, bytes: number): void {
    this.#used -= bytes;
    const left = (this.#ofClients.get(client) ?? 0) - bytes;
    if (left > 0) this.#ofClients.set(client, left);
    else this.#ofClients.delete(client);
  }
}
