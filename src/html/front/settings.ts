export const settings = {};

/** Wherever anything is served. */
export const isServed = (): boolean => true;

/** It leads to what the others serve. */
export const isAfterAll = true;
