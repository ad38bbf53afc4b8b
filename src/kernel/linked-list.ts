/**
 * What waits in the order in which it came, and can leave at any time. A Map or a Set keeps such an order too, but makes what has left
 * live on: a table that it has outgrown holds on to all that stood in it and to the next table, and once the engine has put one
 * of them with its old objects, all of that stays until the engine looks through those.
 */
export class Line<T> {
  readonly #ends: Ends<T> = { first: undefined, last: undefined };

  get first(): Place<T> | undefined {
    return this.#ends.first;
  }

  /** Stands at the end, until it leaves. */
  join(item: T): Place<T> {
    return new Place(item, this.#ends);
  }
}

interface Ends<T> {
  first: Place<T> | undefined;
  last: Place<T> | undefined;
}

/** Something in a line. Made by joining it. */
class Place<T> {
  readonly item: T;
  #ends: Ends<T> | undefined;
  #before: Place<T> | undefined;
  #after: Place<T> | undefined;

  constructor(item: T, ends: Ends<T>) {
    this.item = item;
    this.#ends = ends;
    this.#before = ends.last;
    if (ends.last === undefined) ends.first = this;
    else ends.last.#after = this;
    ends.last = this;
  }

  /** Again is harmless. */
  leave(): void {
    const ends = this.#ends;
    if (ends === undefined) return;
    if (this.#before === undefined) ends.first = this.#after;
    else this.#before.#after = this.#after;
    if (this.#after === undefined) ends.last = this.#before;
    else this.#after.#before = this.#before;
    // Nothing that has left leads to anything that has not.
    this.#ends = undefined;
    this.#before = undefined;
    this.#after = undefined;
  }
}
