#!/usr/bin/env node
import { startProgram } from '../src/lib/start-program.ts';

await startProgram('koppelvlak-conformance', async () => (await import('./program.ts')).runConformance);
