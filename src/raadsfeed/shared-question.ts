/**
 * One question that many ask at the same time. At most one is under way; whoever comes meanwhile shares the next one, for what is under
 * way may have begun before something that the caller knows of.
 *
 * Callers who ask again as soon as they have an answer would soon all be in one group, and then nothing else is done while its question is
 * under way. So a question begins as soon as half of those have come who shared the last two, and before the answers to the one before it
 * are given: two halves take turns, and one is answered while the other waits.
 * @param ask asks once; never called while it is under way
 * @returns joins the next question; rejects with what `ask` rejects with, for those who shared that question
 */
export function createSharedQuestion<T>(ask: () => Promise<T>): () => Promise<T> {
  let next: PromiseWithResolvers<T> | undefined;
  let waiting = 0;
  let isUnderWay = false;
  /** How many shared the last question, and the one before it. */
  let last = 0;
  let beforeLast = 0;
  let beginsThisTurn = false;

  const begin = (): void => {
    if (next === undefined || isUnderWay) return;
    const { resolve, reject } = next;
    [next, beforeLast, last, waiting] = [undefined, last, waiting, 0];
    isUnderWay = true;
    const settle = (give: () => void): void => {
      isUnderWay = false;
      begin();
      give();
    };
    ask().then(
      (answer) => settle(() => resolve(answer)),
      (error: unknown) => settle(() => reject(error)),
    );
  };
  const beginAtEndOfTurn = (): void => {
    beginsThisTurn = false;
    begin();
  };

  return () => {
    next ??= Promise.withResolvers();
    const { promise } = next;
    waiting += 1;
    if (waiting * 2 >= last + beforeLast) begin();
    else if (!isUnderWay && !beginsThisTurn) {
      beginsThisTurn = true;
      setImmediate(beginAtEndOfTurn);
    }
    return promise;
  };
}
