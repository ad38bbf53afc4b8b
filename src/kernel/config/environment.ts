import process from 'node:process';
import type { Environment } from './read-config.ts';

/** The environment of this process: the only place that reads it. */
export function processEnvironment(): Environment {
  return process.env;
}
