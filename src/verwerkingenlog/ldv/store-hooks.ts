import type { StoreHooks } from '../../database/store-hooks.ts';
import { lineKeyOf } from './store/line-keys.ts';
import { readLine } from './stored-line.ts';

/** @see StoreHooks */
export const forwardPolicy: StoreHooks['forwardPolicy'] = ({ ldvOut: { forwardUrl, forwardConfidential } }) =>
  forwardUrl === undefined ? undefined : forwardConfidential ? 'alles' : 'normaal';

/** @see StoreHooks */
export const keyOfLine: StoreHooks['keyOfLine'] = (line, hash) => lineKeyOf(readLine(line), hash);
