import type { StoreHooks } from '../../kernel/store-hooks.ts';

/** @see StoreHooks */
export const forwardPolicy: StoreHooks['forwardPolicy'] = ({ ldvOut: { forwardUrl, forwardConfidential } }) =>
  forwardUrl === undefined ? undefined : forwardConfidential ? 'alles' : 'normaal';
