import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all garbage now, which a busy machine does late, so that what remains is actually held. */
export const collectGarbage: () => void = runInNewContext('gc');
