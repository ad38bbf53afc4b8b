import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects all garbage now, which a busy machine does late: what is measured after it is held. */
export const collectGarbage: () => void = runInNewContext('gc');
