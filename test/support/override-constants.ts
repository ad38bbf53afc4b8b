/** Loaded before the program of a test: its constants are given in the environment, see `overrides.ts`. */
import process from 'node:process';
import { splitOverrides } from './overrides.ts';

Object.assign(process, { overrides: splitOverrides(process.env).overrides });
