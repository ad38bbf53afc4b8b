/**
 * One question that many ask at the same time. At most one is under way; whoever comes meanwhile shares the next one, for what is under
 * way may have begun before something that the caller knows of.
 * @param ask asks once; never called while it is under way
 * @returns joins the next question; rejects with what `ask` rejects with, for those who shared that question
 */
export function createSharedQuestion<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const answer = ask();
    // Who asked hears of a failure; the next question begins all the same.
    last = answer.catch(() => undefined);
    return answer;
  };
  return () => {
    next ??= last.then(begin);
    return next;
  };
}
