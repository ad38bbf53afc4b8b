/** Where the time comes from: a parameter, so that a test can be at any moment. */
export type Clock = { now(): Date };

/** The time of the machine. */
export const systemClock: Clock = { now: () => new Date() };
