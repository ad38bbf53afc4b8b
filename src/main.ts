#!/usr/bin/env node
import { startProgram } from './lib/start-program.ts';

await startProgram('koppelvlak', async () => (await import('./cli/program.ts')).runProgram);
