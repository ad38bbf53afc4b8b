#!/usr/bin/env node
import process from 'node:process';
import { runProgram } from './cli/program.ts';

await runProgram(process.argv.slice(2), process);
