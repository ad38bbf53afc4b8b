import { fileURLToPath } from 'node:url';

/** Where the migrations that come with the program are. */
export const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url));
