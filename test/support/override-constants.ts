/** Loaded before a test's program: overrides constants from the environment, see `overrides.ts`. */
import process from 'node:process';
import { splitOverrides } from './overrides.ts';

Object.assign(process, { overrides: splitOverrides(process.env).overrides });
